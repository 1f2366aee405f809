"""Declarations of state: complete, documented, and enforced when a file is loaded."""

import numpy as np
import pytest

from laws.streams import NAMES, first_loss, make
from laws.test_resume import growing
from unitless.persistence.states import remembered, restore
from unitless.state import Damaged, Field

SPARE = {"_spare", "_records", "_one_target", "_one_score"}
"""Room for more coordinates with what is in use of it, and for the numbers of a single row."""


def trained(name):
    learner = make(name, first_loss(name))
    for block in growing(name, first_loss(name), n=20):
        learner.learn(block.rows())
    return learner


@pytest.mark.parametrize("name", NAMES)
def test_every_array_is_declared(name):
    learner = trained(name)
    declared = {entry.name.partition(".")[0] for entry in learner.saved}
    arrays = {key for key, value in vars(learner).items() if isinstance(value, np.ndarray)}
    assert arrays - declared <= SPARE


@pytest.mark.parametrize("name", NAMES)
def test_the_docstring_lists_the_state(name):
    kind = type(make(name, first_loss(name)))
    listed = [field for field in kind._documented() if field.name != "_units"]
    assert all(field.meaning for field in listed)
    missing = [field.name for field in listed if field.name not in (kind.__doc__ or "")]
    assert not missing


@pytest.mark.parametrize("name", NAMES)
def test_an_array_of_another_shape_is_refused(name):
    learner = trained(name)
    arrays, facts = remembered(learner)
    for field in learner.saved:
        if isinstance(field, Field) and field.shape:
            array = arrays[field.name]
            longer = np.concatenate([array, np.ones((1, *array.shape[1:]), dtype=array.dtype)])
            if field.name == "_units":
                longer = np.ones(learner._columns + 2)
            if field.name == "_records" and len(learner.fields) == learner.classes == 1:
                continue  # one number per coordinate: one coordinate more
            with pytest.raises(Damaged):
                restore(make(name, first_loss(name)), arrays | {field.name: longer}, facts)
