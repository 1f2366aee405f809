"""Help: an example for every command, a page that is the program's, and nothing heavy loaded."""

from pathlib import Path

import pytest

from test_imports import loaded_by
from unitless.cli.app import app
from unitless.cli.manual import manual, parameters

PAGE = Path(__file__).resolve().parents[2] / "docs" / "commands.md"
COMMANDS = {command.callback.__name__: command.callback for command in app.registered_commands}


def test_the_page_is_the_program_s():
    assert PAGE.read_text() == manual(), "python -m unitless.cli.manual > docs/commands.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_an_example_and_every_option_a_help(name):
    assert f"unitless {name}" in COMMANDS[name].__doc__
    assert [each for each, _, told, _ in parameters(COMMANDS[name]) if not told.help] == []


def test_help_loads_neither_numpy_nor_numba():
    code = "import sys; sys.argv = ['unitless', 'evaluate', '--help']"
    modules, out = loaded_by(f"{code}; from unitless.cli import main; main()")
    assert "--checkpoint" in out
    assert not modules & {"numpy", "numba", "scipy", "polars", "sklearn", "narwhals", "safetensors"}
