"""theory.md names only functions and tests that exist, and its numbers are measured."""

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from unitless import regret

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "theory.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the docs are not installed")


def test_every_test_named_exists():
    named = re.findall(r"`(?:(test_\w+\.py)::)?(test_\w+)(\*)?(?:\[\w+\])?`", PAGE.read_text())
    assert len(named) > 20
    file = ""
    for path, name, star in named:
        file = path or file  # a name without a file is in the file before it
        places = [ROOT / "tests" / room / file for room in ("regret", "learners")]
        code = next(path for path in places if path.exists()).read_text()
        assert re.search(rf"def {name}{'' if star else chr(92) + 'b'}", code), f"{file}::{name}"


def test_every_function_named_exists():
    named = re.findall(
        r"`(adversaries|bounds|lower_bounds|normalised_bounds|penalties)\.(\w+)`", PAGE.read_text()
    )
    assert len(named) > 15
    for module, name in named:
        assert hasattr(getattr(regret, module), name), f"{module}.{name}"


def test_every_module_named_exists():
    named = re.findall(r"`(unitless(?:\.\w+)+)`", PAGE.read_text())
    assert len(named) > 5
    for module in named:
        import_module(module)


def test_every_file_named_exists():
    for path in re.findall(r"`(tests/[\w/.]+)`", PAGE.read_text()):
        assert (ROOT / path).exists(), path


def test_table_of_bounds_is_made_from_the_results_file():
    command = [sys.executable, ROOT / "benchmarks" / "bounds.py", "--markdown"]
    made = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert made in PAGE.read_text()


def test_example():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert (failed, tried > 5) == (0, True)
