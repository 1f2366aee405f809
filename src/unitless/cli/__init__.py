"""The command `unitless`. Each command is one file and imports what it needs when it runs."""

import sys


def main() -> None:
    """Run a command; an expected error becomes one sentence and an exit code."""
    from unitless.cli.app import app

    try:
        app(prog_name="unitless")
    except ValueError as error:
        _end(error, 2)
    except OSError as error:
        named = error.filename is not None and error.strerror
        _end(f"{error.filename}: {error.strerror}" if named else error, 3)
    except Exception as error:
        if not hasattr(error, "code"):
            raise
        _end(error, error.code)


def _end(error: Exception | str, code: int) -> None:
    print(f"unitless: {error}", file=sys.stderr)
    sys.exit(code)
