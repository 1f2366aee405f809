"""Every example in a docstring, and the README's, prints what it says it prints."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import unitless

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(unitless.__path__, prefix="unitless.")
)
README = Path(__file__).parent.parent / "README.md"


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    failed, _ = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0


def test_readme():
    failed, tried = doctest.testfile(str(README), module_relative=False)
    assert (failed, tried > 5) == (0, True)
