"""docs/theory.md names only functions and tests that exist."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from unitless import regret

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "theory.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the docs are not installed")


def test_every_test_named_exists():
    named = re.findall(r"`(?:(test_\w+\.py)::)?(test_\w+)(\*)?(?:\[\w+\])?`", PAGE.read_text())
    assert len(named) > 20
    file = ""
    for path, name, star in named:
        file = path or file  # a name without a file is in the file before it
        here, above = (ROOT / "tests" / room / file for room in ("regret", ""))
        code = (here if here.exists() else above).read_text()
        assert re.search(rf"def {name}{'' if star else chr(92) + 'b'}", code), f"{file}::{name}"


def test_every_function_named_exists():
    named = re.findall(r"`(adversaries|bounds|lower_bounds|penalties)\.(\w+)`", PAGE.read_text())
    assert len(named) > 15
    for module, name in named:
        assert hasattr(getattr(regret, module), name), f"{module}.{name}"


def test_every_learner_s_module_named_exists():
    for module in re.findall(r"`(unitless\.learners\.\w+)`", PAGE.read_text()):
        import_module(module)
