"""Interactions of columns: the products of their features.

number x number is their product, category x number the number under each level, category x
category a category of pairs; where a number is missing, the product is missing, and where a
category is missing, it is absent.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from unitless.encoders.encoded_column import EncodedColumn, by_appearance, ranges
from unitless.encoders.namespaces import Key

Pair = tuple[str | None, str | None]
"""Two columns; None stands for every other one."""


def parsed(spec: str | Sequence[str | None]) -> Pair:
    """A pair of columns from "a:b", "a::" (a with every other) or "::" (all pairs).

    >>> parsed("colour:age"), parsed("age::"), parsed("::"), parsed(("10:00", "age"))
    (('colour', 'age'), ('age', None), (None, None), ('10:00', 'age'))
    """
    if not isinstance(spec, str):
        first, second = spec
        return first, second
    if spec == "::":
        return None, None
    names = [spec[:-2]] if spec.endswith("::") else spec.split(":")
    if len(names) > 2 or ":" in names[0] or not all(names) or ":" not in spec:
        raise ValueError(
            f"{spec!r} is not an interaction: write 'a:b', 'a::' (a with every other column) or "
            "'::' (all pairs), and ('a:1', 'b') for names with a colon"
        )
    return names[0], names[1] if len(names) == 2 else None


def pairs_of(specs: Iterable[Pair], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The requested pairs of columns, each once.

    The order within a pair does not depend on the frame, so that a feature keeps its name.
    """
    done = set()
    for first, second in specs:
        if first is None:
            wanted = list(combinations(sorted(names), 2))
        elif second is None:
            wanted = [(first, name) for name in names if name != first]
        else:
            wanted = [(first, second)]
        for pair in wanted:
            if {*pair} <= {*names} and frozenset(pair) not in done:
                done.add(frozenset(pair))
                yield pair


def product(a: EncodedColumn, b: EncodedColumn) -> EncodedColumn:
    """Each feature of a row in `a` times each of the same row in `b`."""
    low = np.searchsorted(b.rows, a.rows, "left")
    count = np.searchsorted(b.rows, a.rows, "right") - low
    left = np.repeat(np.arange(len(a.rows)), count)
    right = ranges(low, count)
    width = len(b.keys)
    codes, found = by_appearance(a.codes[left] * width + b.codes[right])
    pairs = (divmod(code, width) for code in found.tolist())
    keys: list[Key] = [(a.keys[i], b.keys[j]) for i, j in pairs]
    rows = a.rows[left]
    with np.errstate(over="ignore", invalid="ignore"):  # the model refuses infinite products
        values = a.values[left] * b.values[right]
    namespace = (a.namespace, b.namespace)
    return EncodedColumn(namespace, keys, rows, codes, values)
