"""The command `unitless`. Each command is one file and imports what it needs when it runs.

`options` declares all options, `run` the run of `evaluate` and `fit`, `screen` and
`summary` what is printed. It may import everything, and nothing imports it; only it prints.
"""

import errno
import os
import re
import sys
from typing import Any

REWORDED = {
    r"Invalid value for (?:'-\w' / )?'([^' ]+).*?': ": r"\1: ",
    r": .*valid integer.*": ": must be a whole number",
    r": .*valid (number|float).*": ": must be a number",
    r": Value error, ": ": ",
    r"No such option: (\S+)": r"there is no option \1",
    r" \(Possible options: (.*)\)": r"; did you mean \1?",
    r"\. Did you mean": "; did you mean",
    r"\.\.\.'": "'",
}
"""Messages of the option parser in our words."""
OPTIONS = {
    "pass header=False": "add --no-header",
    "which column is the target?": "which column is the target? Name it with --target.",
    "weights: name no column": "weights: leave out --target and --weight",
}
"""Parameters in messages of the library, as options."""


def main() -> None:
    """Run a command; an expected error becomes one sentence and an exit code."""
    from unitless.cli.app import app

    code = None
    try:
        code = app(prog_name="unitless", standalone_mode=False)
    except ValueError as error:
        _end(error, 2)
    except OSError as error:
        if error.errno == errno.EPIPE:
            # Prevent a second error when Python flushes the closed pipe at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        has_name = error.filename is not None and error.strerror
        _end(f"{error.filename}: {error.strerror}" if has_name else error, 3)
    except KeyboardInterrupt:
        _end("interrupted", 130)
    except Exception as error:
        if hasattr(error, "format_message"):
            if not error.format_message():  # there were no arguments, and the help is shown
                sys.exit(2)
            _end(_usage(error), 2)
        if not hasattr(error, "code"):
            raise
        _end(error, error.code)
    if isinstance(code, int) and code:
        sys.exit(code)


def _end(error: Exception | str, code: int) -> None:
    from unitless.escaping import escaped

    text = str(error)
    for parameter, option in OPTIONS.items():
        text = text.replace(parameter, option)
    text = escaped(text, keep="\n")
    print(f"unitless: {text}", file=sys.stderr)
    sys.exit(code)


def _usage(error: Any) -> str:
    """Return an error of the option parser in our words, with the command that explains more."""
    message = error.format_message().rstrip(".")
    for theirs, ours in REWORDED.items():
        message = re.sub(theirs, ours, message)
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "unitless"
    return f"{message[0].lower()}{message[1:]} (see {command} --help)"
