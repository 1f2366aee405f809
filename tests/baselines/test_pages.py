"""The docstring of every baseline names its paper, its formula, its state and what was checked."""

import inspect
import math
import re
import sys
from pathlib import Path

import pytest

from unitless.learners import REGISTRY, get
from unitless.state import Field

SOURCE = Path(__file__).resolve().parents[2] / "src" / "unitless"
BASELINES = [name for name, path in REGISTRY.items() if ".baselines." in path]
each_baseline = pytest.mark.parametrize("name", BASELINES)


@each_baseline
def test_the_page_is_complete(name):
    kind = get(name)
    page = (sys.modules[kind.__module__].__doc__ or "") + kind.__doc__
    assert re.search(r"\((19|20)\d\d\)", page)  # the paper
    assert "::\n\n    " in page  # the formula
    declared = [entry for entry in kind.saved if isinstance(entry, Field)]
    assert all(field.meaning and field.unit for field in declared)
    assert re.search(r"\b(Checked|Derived)\b", page)
    assert f"\n{name} 0." in page  # an example


@each_baseline
def test_needs_are_parameters(name):
    kind = get(name)
    needs, known = getattr(kind, "needs", ()), inspect.signature(kind).parameters
    assert set(needs) <= set(known)
    if "bound" in known or "horizon" in known:
        assert needs
    for parameter in kind.parameters:
        assert parameter.meaning
        assert known[parameter.name].default == parameter.default


@each_baseline
def test_wrong_parameters(name):
    kind = get(name)
    for parameter in (declared.name for declared in kind.parameters):
        for value in (0.0 if parameter not in ("beta", "l1", "l2") else -1.0, -1, math.nan):
            with pytest.raises(ValueError, match=f"{parameter} = {value}: it is a "):
                kind(**{parameter: value})
    with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
        kind(speed=1)


def test_the_reconstruction_says_so():
    page = get("nda").__doc__
    assert page.startswith("Normalised dual averaging, after Orabona, Crammer and Cesa-Bianchi")
    assert "reconstruction" in page.splitlines()[0]


def test_no_matrix_is_inverted():
    """Second-order methods keep factors."""
    pages = list((SOURCE / "baselines").glob("*.pyx"))
    assert pages
    for page in pages:
        assert not re.search(r"linalg\.(inv|pinv)\b", page.read_text(encoding="utf-8"))
