"""What a person before a terminal is told while a command works, and at its end."""

import io

import numba
import pytest

from unitless.cli.screen import COMPILING, console_of, show_certificate, warnings_as_notes


class Terminal(io.StringIO):
    """An error stream that says it is one."""

    def isatty(self):
        """Somebody watches."""
        return True


@pytest.mark.parametrize(("stream", "times"), [(Terminal, 1), (io.StringIO, 0)])
def test_compiling_is_told_once_and_to_people_only(monkeypatch, stream, times):
    err = stream()
    monkeypatch.setattr("sys.stderr", err)
    with warnings_as_notes(quiet=False):
        for _ in range(2):
            numba.njit(lambda x: x + 1)(1)
    assert err.getvalue() == f"note: {COMPILING}\n" * times


def test_of_several_theorems_the_best_certificate_is_shown(capsys):
    claim = {"against": "u = 0", "promised": 9.0, "rows": 7}
    claims = [
        claim | {"theorem": "Theorem 1", "certified": -2.0, "sharp": 8.0},
        claim | {"theorem": "Theorem 2", "certified": -5.0, "sharp": 4.0},
        claim | {"against": "the best constant", "theorem": None, "certified": 3.0, "sharp": None}
        | {"promised": None},
    ]  # fmt: skip
    show_certificate(console_of(), {"members": {}, "claims": claims, "rows": 7})
    assert capsys.readouterr().out.splitlines()[2:] == [
        "  at least 5 less than a model whose weights are all 0 (bound of Theorem 2: 4 more)",
        "  at most 3 more than the best constant",
    ]


@pytest.mark.parametrize(("no_color", "text"), [(True, "loss\n"), (False, "\x1b[1mloss\x1b[0m\n")])
def test_without_colour_text_is_plain(monkeypatch, capsys, no_color, text):
    """On a terminal, too: not even bold."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    console_of(no_color).print("loss", style="bold")
    assert capsys.readouterr().out == text
