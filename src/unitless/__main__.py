"""`python -m unitless` is the command `unitless`."""

from unitless.cli import main

if __name__ == "__main__":
    main()
