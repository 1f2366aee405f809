"""Help: an example for every command, a page that is the program's, and nothing heavy loaded."""

import pytest
from typer.main import get_command

from test_imports import loaded_by
from test_pages import site
from unitless.cli.app import app

COMMANDS = get_command(app).commands


@pytest.fixture(scope="module")
def page():
    """The page of commands, as the site has it."""
    return site().commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name, page):
    command = COMMANDS[name]
    section = page.partition(f"## `unitless {name}`\n")[2].partition("\n## ")[0]
    for line in command.help.splitlines():
        assert line in section
    assert f"    unitless {name}" in command.help  # an example
    for parameter in command.params:
        assert parameter.help, parameter.name
        assert parameter.help.partition("\n")[0] in section
        assert all(option in section for option in parameter.opts if option.startswith("-"))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_at_80_columns(name, monkeypatch, unitless):
    """Every example is on a line of its own, and no line is longer."""
    monkeypatch.setenv("COLUMNS", "80")
    shown = unitless(name, "--help").out.splitlines()
    assert max(map(len, shown)) <= 80
    lines = {line.strip() for line in shown}
    examples = [line.strip() for line in COMMANDS[name].help.splitlines() if line[:4] == " " * 4]
    assert examples
    assert set(examples) <= lines
    assert not any("..}..." in line or "list[str]" in line for line in shown[:4])


def test_help_loads_neither_numpy_nor_numba():
    code = "import sys; sys.argv = ['unitless', 'evaluate', '--help']"
    modules, out = loaded_by(f"{code}; from unitless.cli import main; main()")
    assert "--checkpoint" in out
    assert not modules & {"numpy", "numba", "scipy", "polars", "sklearn", "narwhals", "safetensors"}
