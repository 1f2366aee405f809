"""Options are declared once, as typed fields; what the commands take follows from them."""

from typing import Literal, get_type_hints

import pytest
from typer.main import get_command

from unitless.cli.app import app
from unitless.cli.options import CONTRADICTIONS, FIELDS, CommandOptions, Option, OptionField, spelt

COMMANDS = get_command(app).commands
WITHOUT_OPTIONS = {"learners", "demo", "report"}
"""Commands whose few parameters are declared where they are used."""


def test_a_field_says_everything_about_an_option():
    assert FIELDS["holdout"] == OptionField(
        "Learning", int, 0, Option("Predict, but never learn, one of every N rows.", "N")
    )
    assert FIELDS["target"].option.flags == ("-t",)
    assert FIELDS["task"].type == Literal["auto", "binary", "multiclass", "regression"]


def test_every_field_is_a_typed_attribute():
    hints = get_type_hints(CommandOptions)
    options = CommandOptions(data=["-"])
    for name, field in FIELDS.items():
        assert hints[name] == field.type
        assert getattr(CommandOptions, name) == field.default
        assert name == "data" or getattr(options, name) == field.default


def test_every_parameter_of_a_command_is_a_field_and_every_field_is_a_parameter():
    taken = {
        parameter.name
        for name, command in COMMANDS.items()
        if name not in WITHOUT_OPTIONS
        for parameter in command.params
    }
    assert taken == {*FIELDS}


@pytest.mark.parametrize(
    ("one", "other"), [(one, other) for one, others in CONTRADICTIONS.items() for other in others]
)
def test_contradictions(one, other, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n1,0\n")
    given = {"save": "m", one: 2, other: str(path) if other == "test" else 2}
    if one == "test_share":
        given[one] = 0.5
    with pytest.raises(ValueError, match=f"{spelt(one)} cannot be combined with {spelt(other)}"):
        CommandOptions(data=[str(path)], **given)


def test_an_option_that_does_not_exist_is_an_error():
    with pytest.raises(TypeError, match="there is no option 'targets'"):
        CommandOptions(data=["-"], targets="y")
