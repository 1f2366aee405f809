"""What a person before a terminal is told while a command works, and at its end."""

import warnings

import pytest

from unitless.cli.screen import console_of, warnings_as_notes


@pytest.mark.parametrize(("quiet", "text"), [(False, "note: look here\n" * 2), (True, "")])
def test_warnings_of_the_library_are_notes_and_those_of_others_are_not_shown(capsys, quiet, text):
    with warnings_as_notes(quiet):
        for _ in range(2):
            warnings.warn("look here", UserWarning, stacklevel=1)
            warnings.warn("of no concern", DeprecationWarning, stacklevel=1)
    assert capsys.readouterr() == ("", text)


@pytest.mark.parametrize(("no_color", "text"), [(True, "loss\n"), (False, "\x1b[1mloss\x1b[0m\n")])
def test_without_colour_text_is_plain(monkeypatch, capsys, no_color, text):
    """On a terminal, too: not even bold."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    console_of(no_color).print("loss", style="bold")
    assert capsys.readouterr().out == text
