"""docs/commands.md, made from the program: python -m unitless.cli.manual > docs/commands.md."""

import inspect
import re
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

from typer.models import ArgumentInfo

HEAD = """\
# Commands

Made from the program by `python -m unitless.cli.manual > docs/commands.md`; a test compares them.

    unitless COMMAND --help

"""


def manual() -> str:
    """Every command with its arguments, options and examples, as Markdown.

    >>> print(manual()[:10])
    # Commands
    """
    from unitless.cli.app import app

    commands = [_command(command.callback) for command in app.registered_commands]
    return HEAD + f"{app.info.epilog}\n\n" + "\n".join(commands)


def _command(function: Any) -> str:
    text = inspect.cleandoc(function.__doc__ or "")
    told, _, examples = re.sub(r"\[/?dim\]", "", text).partition("Example")
    lines = [f"## {function.__name__}\n", f"{told.strip()}\n"]
    shown = [each.strip() for each in examples.split("\n") if "unitless" in each]
    lines += [f"    {re.sub('^Example.*?: |^s?: ', '', each)}" for each in shown]
    rows = [_row(name, *given) for name, *given in parameters(function)]
    if rows:
        lines += ["", "| argument or option | meaning | default |", "|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def parameters(function: Any) -> Iterator[tuple[str, Any, Any, Any]]:
    """(name, type, what typer is told, default) of each parameter of a command."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        kind, told = get_args(hints[name])[:2]
        yield name, kind, told, parameter.default


def _row(name: str, kind: Any, told: Any, default: Any) -> str:
    every = (told.default, *(told.param_decls or ()))  # typer keeps the first one as a default
    names = [each for each in every if isinstance(each, str) and each.startswith("-")]
    words = ", ".join(names) or f"--{name.replace('_', '-')}"
    if isinstance(told, ArgumentInfo):
        words = told.metavar or name.upper()
    elif kind is not bool:
        words += f" {told.metavar or _shown(kind)}"
    usual = "" if default in (None, False, "", inspect.Parameter.empty) else f"{default}"
    meaning = (told.help or "").replace("|", "\\|")
    return f"| `{words}` | {meaning} | {usual} |"


def _shown(kind: Any) -> str:
    """A type as a word: TEXT, NUMBER, or the choices."""
    for each in (kind, *get_args(kind)):
        if get_origin(each) is Literal:
            return "/".join(map(str, get_args(each)))
    return "NUMBER" if {int, float} & {kind, *get_args(kind)} else "TEXT"


if __name__ == "__main__":
    print(manual(), end="")
