"""Count the tokens of a JSON text, to check that polars read all of them."""

from typing import NamedTuple

import numpy as np

from unitless.kernels.decorators import kernel


class Tokens(NamedTuple):
    """Number of tokens of each kind outside of strings, and the deepest nesting."""

    keys: int
    strings: int
    """Keys included."""
    nulls: int
    booleans: int
    objects: int
    lists: int
    depth: int


@kernel
def count_tokens(text):
    """Count the tokens of a text that is JSON; of other texts the counts mean nothing."""
    counts = np.zeros(256, dtype=np.int64)
    depth = 0
    deepest = 0
    at = 0
    while at < len(text):
        char = text[at]
        counts[char] += 1
        if char == 34:
            at += 1
            while at < len(text) and text[at] != 34:
                at += 2 if text[at] == 92 else 1
        elif char == 123 or char == 91:
            depth += 1
            deepest = max(deepest, depth)
        elif char == 125 or char == 93:
            depth -= 1
        elif char == 10:
            depth = 0
        at += 1
    # Outside of strings an n begins a null, a t or f a boolean.
    booleans = counts[116] + counts[102]
    return counts[58], counts[34], counts[110], booleans, counts[123], counts[91], deepest
