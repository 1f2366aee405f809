"""What the tests of commands share."""

import pytest

from cli.material import command, table, written


@pytest.fixture
def unitless(monkeypatch, capsys):
    """Runs a command in this process."""
    return command(monkeypatch, capsys)


@pytest.fixture(scope="session")
def frame():
    """The rows of `data`."""
    return table()


@pytest.fixture
def data(tmp_path, frame):
    """A CSV file."""
    return written(tmp_path / "data.csv", frame)
