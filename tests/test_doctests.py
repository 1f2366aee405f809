"""Every example in a docstring prints what it says it prints; test_pages.py has the pages."""

import doctest
import importlib
import pkgutil

import pytest

import unitless

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(unitless.__path__, prefix="unitless.")
)


@pytest.mark.parametrize("name", MODULES)
def test_module(name):
    failed, _ = doctest.testmod(
        importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert failed == 0
