"""Every example in a docstring prints what it says it prints; test_pages.py has the pages."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import unitless

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(unitless.__path__, prefix="unitless.")
)
SOURCE = Path(__file__).resolve().parents[1] / "src"
COMPILED = sorted(SOURCE.rglob("*.pyx"))


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    failed, _ = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0


@pytest.mark.parametrize("path", COMPILED, ids=lambda path: path.stem)
def test_examples_of_compiled_modules_are_found(path):
    """As many as the source has: a docstring that compiling loses would not be tested."""
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    assert name in MODULES
    found = doctest.DocTestFinder().find(importlib.import_module(name))
    lines = {example.source for test in found for example in test.examples}
    wanted = re.findall(r"^ *>>> (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert all(any(line.startswith(first) for line in lines) for first in wanted)
