"""Random bits from row numbers: the same row gets the same bits in any block and any process."""

import numpy as np
from numpy.typing import NDArray

INCREMENT = np.uint64(0x9E3779B97F4A7C15)
ROUNDS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def mixed(numbers: NDArray[np.int64], stream: int = 0) -> NDArray[np.uint64]:
    """Return 64 random bits for each number (splitmix64); other streams give other bits.

    >>> [hex(each) for each in mixed(np.arange(2)).tolist()]
    ['0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4']
    """
    start = np.uint64(stream * 0xD1342543DE82EF95 % 2**64)
    bits = (numbers.astype(np.uint64) + np.uint64(1)) * INCREMENT + start
    for shift, factor in ROUNDS:
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    return bits ^ (bits >> np.uint64(31))
