"""The command `unitless`. Each command is a file; each imports what it needs when it runs."""

import sys


def main() -> None:
    """Entry point: run a command; an expected error is one sentence and exit code 2."""
    from unitless.cli.app import app

    try:
        app()
    except (ValueError, OSError) as error:
        print(f"unitless: {error}", file=sys.stderr)
        sys.exit(2)
