"""Base of everything that keeps a state: copying, pickling and saving follow from `saved`."""

import numpy as np

from unitless.core.array cimport Array
from unitless.state import MOST_ROWS, need, remembered, restore


cdef class Stateful:
    """Base class; `saved` declares the state (see `unitless.state`)."""

    saved = ()

    def _sizes(self):
        """The sizes that shapes and bounds in `saved` name; they may follow from the arrays."""
        return {}

    def _expand(self):
        """All facts were replaced: make the parts that follow from them."""

    def _loaded(self):
        """All arrays were replaced: refuse them if compiled code would leave their bounds."""

    def read(self, str name):
        """A copy of an array, or of a number, of the state."""
        value = getattr(self, name)
        return np.array(value) if isinstance(value, (Array, np.ndarray)) else np.array(value, float)

    def write(self, str name, value):
        """Replace an array, a number or a fact of the state."""
        cdef object own = getattr(self, name)
        if isinstance(own, Array):
            own.replace(value)
        elif isinstance(value, np.ndarray) and value.ndim == 0:
            number = value.item()
            if isinstance(own, int):  # a count: float64 in files
                need(abs(number) <= MOST_ROWS and number == int(number), f"{name} is not a count")
                number = int(number)
            setattr(self, name, number)
        else:
            setattr(self, name, value)

    def _arguments(self):
        """The arguments that make an object like this one."""
        return {}

    def _more(self):
        """Attributes beside the state that a copy has, too."""
        return dict(vars(self)) if hasattr(self, "__dict__") else {}

    def __reduce__(self):
        return _made_again, (type(self), self._arguments(), remembered(self), self._more())


def _made_again(kind, arguments, state, more):
    """An object like another one."""
    made = kind(**arguments)
    restore(made, *state)
    for name, value in more.items():
        setattr(made, name, value)
    return made
