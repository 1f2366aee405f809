"""The command `unitless`. Each command is one file and imports what it needs when it runs."""

import errno
import os
import sys
from typing import Any

EXPECTED = {
    "valid integer": "must be a whole number",
    "valid number": "must be a number",
}
"""What an invalid value must be, by words of the parser's message."""


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
            _close_output()
            sys.exit(1)
        has_name = error.filename is not None and error.strerror
        _end(f"{error.filename}: {error.strerror}" if has_name else error, 3)
    except KeyboardInterrupt:
        _end("interrupted", 130)
    except Exception as error:
        if hasattr(error, "format_message"):
            _end(_usage(error), 2)
        if not hasattr(error, "code"):
            raise
        _end(error, error.code)
    if isinstance(code, int) and code:
        sys.exit(code)


def _end(error: Exception | str, code: int) -> None:
    print(f"unitless: {error}", file=sys.stderr)
    sys.exit(code)


def _close_output() -> None:
    """Prevent a second error when Python flushes the closed pipe at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: Any) -> str:
    """Return an error of the option parser in our words, with the command that explains more."""
    message = error.format_message().rstrip(".")
    parameter = getattr(error, "param", None)
    context = getattr(error, "ctx", None)
    if parameter is not None and message.startswith("Invalid value"):
        name = parameter.opts[-1] if parameter.opts[-1].startswith("-") else parameter.metavar
        reason = message.partition(": ")[2].replace("Value error, ", "")
        known = [text for part, text in EXPECTED.items() if part in reason]
        message = f"{name}: {known[0] if known else reason}"
    elif message.startswith("No such option: "):
        option, _, others = message.removeprefix("No such option: ").partition(
            " (Possible options: "
        )
        others = others.rstrip(")").replace(", ", " or ")
        hint = f"; did you mean {others}?" if others else ""
        message = f"there is no option {option}{hint}"
    else:
        message = f"{message[0].lower()}{message[1:]}".replace(". Did you mean", "; did you mean")
    command = context.command_path if context is not None else "unitless"
    return f"{message} (see {command} --help)"
