"""A triangular factor of S = sum x x', which Algorithm 2 and VAW share.

A coordinate (0 is the constant 1, column j is j + 1) gets a position when it is first nonzero. S is
U'DU with D diagonal and U upper trapezoidal with ones on its diagonal: rank rows, and one column
per position, pivots first. h = U'Dz is a sum over the same rows.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined, kernel

Float = NDArray[np.float64]

T, A, E, RANK, ACTIVE = range(5)
"""The fields of `FactorState.totals`."""

NOISE = 128 * 2.0**-53
"""What rounding leaves of a dependent direction, relative to the norm of its column."""

MIN_D = 2.0**-1000
"""The end of float64, not a tolerance: D is never smaller, see `rescale`."""


class FactorState(NamedTuple):
    """The state of Algorithm 2 and of VAW. Row k has the unit of its pivot, x_k.

    ============ ================ ====================================================== =========
    paper        field            meaning                                                unit
    ============ ================ ====================================================== =========
    S = U'DU     U[k, n]          row k, position n >= k; 1 on the diagonal              [x_n/x_k]
    --           D[k]             the squares of R's diagonal, R = D^(1/2) U             [x_k]^2
    h = U'Dz     z[k]             -sum g x in the basis of U's rows                      1/[x_k]
    h'S^+h-Gamma totals[E]        the exponent, without 1/(2 alpha)                      1
    --           squares[n]       sum x_n^2, for the rank rule                           [x_n]^2
    --           places[i]        position of coordinate i, or -1                        1
    --           coordinates[n]   coordinate at position n                               1
    t, r         totals[T, RANK]  trials and rank of S so far                            1
    --           totals[A]        sum v g p, for the certificate                         1
    --           totals[ACTIVE]   number of positions in use                             1
    ============ ================ ====================================================== =========
    """

    U: Float
    D: Float
    z: Float
    squares: Float
    places: NDArray[np.int64]
    coordinates: NDArray[np.int64]
    totals: Float

    @property
    def R(self) -> Float:
        """The factor itself, S = R'R."""
        return self.U * np.sqrt(self.D)[:, None]

    @property
    def q(self) -> Float:
        """h = R'q; |q| is the norm of h."""
        return np.sqrt(self.D) * self.z

    def with_room(self, positions: int) -> "FactorState":
        """The same state with room for at least that many positions."""
        size = len(self.D)
        if positions <= size:
            return self
        new = empty_state(max(positions, size + size // 5), 0)
        new.U[:size, :size] = self.U
        for name in ("D", "z", "squares", "coordinates"):
            getattr(new, name)[:size] = getattr(self, name)
        return new._replace(places=self.places, totals=self.totals)

    def rescale(self, columns: NDArray[np.int64], factors: Float) -> None:
        """Let U, D, z and squares follow columns that are multiplied by nonzero factors.

        D stays at MIN_D at least, as if the past of the column had been larger: that is still far
        below the last digit of the value for which a unit changes that much.
        """
        U, D, z, squares, places, _, totals = self
        rank = int(totals[RANK])
        positions = places[columns + 1]
        seen = positions >= 0
        factor = np.ones(len(D))
        factor[positions[seen]] = factors[seen]
        squares[:] = squares * factor * factor
        _, exponents = np.frexp(D[:rank])
        least = np.ldexp(math.sqrt(MIN_D), -(exponents // 2))
        pivots = factor.copy()
        pivots[:rank] = np.maximum(np.abs(factor[:rank]), least)
        pivots = np.copysign(pivots, factor)
        D[:] = D * pivots * pivots
        z[:] /= pivots
        U[:] *= factor / pivots[:, None]
        np.fill_diagonal(U[:rank], 1.0)

    def solution(self) -> Float:
        """S^+ h by coordinate, zero where a feature adds no direction."""
        rank = int(self.totals[RANK])
        w = self.z[:rank].copy()
        for k in range(rank - 1, 0, -1):
            w[:k] -= self.U[:k, k] * w[k]
        by_coordinate = np.zeros(len(self.places))
        by_coordinate[self.coordinates[:rank]] = w
        return by_coordinate


def empty_state(positions: int, columns: int) -> FactorState:
    """The state before the first row, with room for that many positions and columns."""
    return FactorState(
        U=np.zeros((positions, positions)),
        D=np.zeros(positions),
        z=np.zeros(positions),
        squares=np.zeros(positions),
        places=np.full(1 + columns, -1),
        coordinates=np.full(positions, -1),
        totals=np.zeros(5),
    )


@kernel
def activate(i, state):
    """The position of coordinate i, a new one if it has none; -1 if there is no room."""
    _, D, _, _, places, coordinates, totals = state
    if places[i] < 0 and totals[ACTIVE] < D.size:
        places[i] = int(totals[ACTIVE])
        coordinates[places[i]] = i
        totals[ACTIVE] += 1
    return places[i]


@inlined
def load(block, r, v, intercept, learns, state, x):
    """Put row r, times v, into x by position; whether all its coordinates have positions.

    With `learns`, coordinates that are nonzero for the first time get one while there is room.
    """
    values, indices, starts, columns = block
    places = state[4]
    start = starts[r] if starts.size else r * columns
    stop = starts[r + 1] if starts.size else start + columns
    for n in range(x.size):
        x[n] = 0.0
    complete = True
    if intercept:
        place = activate(0, state) if learns else places[0]
        complete = place >= 0
        x[max(place, 0)] = v
    for k in range(start, stop):
        if values[k] == values[k] and values[k] != 0:  # neither missing nor absent
            i = (np.int64(indices[k]) if indices.size else k - start) + 1
            place = places[i] if i < places.size else -1
            if place < 0 and learns:
                place = activate(i, state)
            if place >= 0:
                x[place] = values[k] * v
            else:
                complete = False
    return complete


@inlined
def find_pivot(w, delta, squares, c2, rank, constant):
    """The position in which w, the rest of a row, opens a new direction, or -1 if it is noise.

    squares and c2 are the sums of squares before this row and with it. Noise is set to 0. The first
    nonzero value of a feature always opens a direction: its column of U is exactly zero, so nothing
    was cancelled. Ties go against the constant: it never grows, and as a pivot would be lost in
    rounding when a column that is equal to it now becomes huge.
    """
    best = 0.0
    pivot = -1
    root = math.sqrt(delta)
    for n in range(rank, w.size):
        if w[n] != 0:
            ratio = abs(w[n]) * root / math.sqrt(c2[n])
            if ratio <= NOISE and squares[n] > 0:
                w[n] = 0.0
            elif ratio > best or (ratio == best and pivot == constant):
                best = ratio
                pivot = n
    return pivot


@inlined
def exchange(array, i, j):
    """Swap two entries."""
    array[i], array[j] = array[j], array[i]


@inlined
def open_row(state, pivot, w, delta):
    """Make w, of weight delta, the next row of U, its pivot moved to the diagonal."""
    U, D, _, squares, places, coordinates, totals = state
    rank = int(totals[RANK])
    for k in range(rank):
        exchange(U[k], rank, pivot)
    exchange(w, rank, pivot)
    exchange(squares, rank, pivot)
    exchange(coordinates, rank, pivot)
    places[coordinates[rank]] = rank
    places[coordinates[pivot]] = pivot
    D[rank] = max(delta * w[rank] * w[rank], MIN_D)
    for n in range(rank, w.size):
        U[rank, n] = w[n] / w[rank] + 0.0  # no -0
    totals[RANK] += 1
