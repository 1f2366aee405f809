"""The command `unitless`. Each command is a file; each imports what it needs when it runs."""

import sys


def main() -> None:
    """Entry point: run a command; an expected error is one sentence and its exit code."""
    from unitless.cli.app import app

    try:
        app()
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
