"""The result of encoding a block of a frame."""

from dataclasses import dataclass
from typing import Any

from unitless.encoders.column_assignment import Feature


@dataclass(frozen=True, slots=True)
class Encoded:
    """A block that `FrameEncoder.encode` made, for `as_rows(encoded.X, ...)` and `commit`.

    ======== ==========================================================================
    field    meaning
    ======== ==========================================================================
    X        float64: an array if most features are numbers, otherwise CSR; NaN is missing
    names    names of the features new in this block; their columns follow the known ones
    kinds    kinds of the frame's columns that are seen for the first time
    features namespace and key (or hash bucket) of each new feature
    size     size of the encoder when it encoded the block
    ======== ==========================================================================

    >>> import pandas
    >>> from unitless.encoders import FrameEncoder
    >>> encoded = FrameEncoder().encode(pandas.DataFrame({"age": [31, 17]}))
    >>> encoded.X.tolist(), encoded.names, encoded.kinds
    ([[31.0], [17.0]], ['age'], {'age': 'number'})
    """

    X: Any
    names: list[str]
    kinds: dict[str, str]
    features: list[Feature]
    size: tuple[int, int]
