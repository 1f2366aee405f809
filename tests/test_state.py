"""Declarations of state: complete, documented, and enforced when a file is loaded."""

import pickle
from copy import deepcopy

import numpy as np
import pytest

from laws.streams import NAMES, each_pair, first_loss, make, same_bits, snapshot, tame
from laws.test_resume import growing
from unitless.core.array import Array
from unitless.state import Component, Damaged, Field, remembered, restore

DERIVED = {"records"}
"""Attributes that hold the declared fields themselves."""
FIXED = {
    "Arow": {"a"},
    "Blend": {"max_memory"},
    "LinearBlend": {"max_memory"},
    "Posterior": {"strength"},
    "Zero": {"alpha", "wealth"},
}
"""Numbers that follow from the parameters of a learner, by class."""


def trained(name, rows=20):
    learner = make(name, first_loss(name))
    for block in growing(name, first_loss(name), n=rows):
        learner.learn(block.rows())
    return learner


def restored(learner):
    """A fresh learner with the same declared state, as from a file."""
    other = type(learner)(**learner._arguments())
    restore(other, *remembered(learner))
    other.names = deepcopy(learner.names)
    return other


def with_parts(thing):
    """An object with a state, and all its parts."""
    yield thing
    for entry in thing.saved:
        if isinstance(entry, Component):
            value = getattr(thing, entry.name)
            for part in value if isinstance(value, list) else [value]:
                if part is not None:
                    yield from with_parts(part)


def public_numbers(thing):
    """The attributes of compiled classes that hold a number or an array."""
    for kind in type(thing).__mro__:
        for name, entry in vars(kind).items():
            is_attribute = type(entry).__name__ == "getset_descriptor" and name[0] != "_"
            if is_attribute and isinstance(getattr(thing, name), float | Array):
                yield name


@pytest.mark.parametrize("name", NAMES)
def test_every_public_number_is_declared(name):
    """A number that is kept is public and declared; what is only room for a row is private."""
    for part in with_parts(trained(name)):
        declared = {entry.name for entry in part.saved}
        declared |= {parameter.name for parameter in getattr(part, "parameters", ())}
        declared |= DERIVED | FIXED.get(type(part).__name__, set())
        undeclared = set(public_numbers(part)) - declared
        assert not undeclared, type(part).__name__


@each_pair
def test_nothing_is_forgotten(name, loss):
    """After 300 rows, copies by every way go on for 100 more with the same bits."""
    stream = tame(name, loss, n=400, d=6, weighted=True)
    learner = make(name, loss)
    learner.learn(stream[:300].rows())
    others = [restored(learner), deepcopy(learner), pickle.loads(pickle.dumps(learner))]
    for other in others:
        assert snapshot(other) == snapshot(learner)
    scores = learner.learn(stream[300:].rows())
    for other in others:
        same_bits(other.learn(stream[300:].rows()), scores)
        assert snapshot(other) == snapshot(learner)


@pytest.mark.parametrize("name", NAMES)
def test_an_array_of_another_shape_is_refused(name):
    learner = trained(name)
    arrays, facts = remembered(learner)
    shaped = [field for field in learner.saved if isinstance(field, Field) and field.shape]
    alone = sum(field.shape == ("coordinates",) for field in shaped) == 1
    for field in shaped:
        if field.name not in arrays or (alone and field.shape == ("coordinates",)):
            continue  # records; or one number per coordinate: one coordinate more
        array = arrays[field.name]
        longer = np.concatenate([array, np.ones((1, *array.shape[1:]), dtype=array.dtype)])
        if field.name == "units":
            longer = np.ones(learner.columns + 2)
        with pytest.raises(Damaged):
            restore(make(name, first_loss(name)), arrays | {field.name: longer}, facts)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_missing_or_too_much_is_refused(name):
    arrays, facts = remembered(trained(name))
    for path in arrays:
        fewer = {other: array for other, array in arrays.items() if other != path}
        with pytest.raises(Damaged):
            restore(make(name, first_loss(name)), fewer, facts)
    for path in facts:
        fewer = {other: fact for other, fact in facts.items() if other != path}
        with pytest.raises(Damaged):
            restore(make(name, first_loss(name)), arrays, fewer)
    with pytest.raises(Damaged, match="is not part of this learner"):
        restore(make(name, first_loss(name)), arrays | {"more": np.zeros(1)}, facts)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -1e308])
def test_counts_are_counts(name, value):
    """No file may set a number of rows to what is none."""
    arrays, facts = remembered(trained(name))
    with pytest.raises(Damaged, match="t "):
        restore(make(name, first_loss(name)), arrays | {"t": np.array(value)}, facts)
