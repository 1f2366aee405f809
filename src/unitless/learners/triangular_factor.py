"""A triangular factor of S = sum x x', which Algorithm 2 and VAW share.

A coordinate (0 is the constant 1, column j is j + 1) gets a position when it is first nonzero. S is
U'DU with D diagonal and U upper trapezoidal with ones on its diagonal: rank rows, and one column
per position, pivots first. h = U'Dz is a sum over the same rows.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined, kernel, subroutine
from unitless.learners.givens import rotate
from unitless.learners.slopes import no_slopes
from unitless.rows import row_span
from unitless.state import Float

T, A, E, RANK, ACTIVE, OLD_RULE = range(6)  # of `totals`
BY_POSITION = ("D", "z", "squares", "coordinates", "noise", "lost")
NOISE = 128 * 2.0**-53  # what rounding leaves of a column, relative to those it depends on
STEADY_ROWS = 64  # up to about this many rows, the errors of U stay within a small part of NOISE
MIN_D = 2.0**-1000  # the end of float64, not a tolerance: see `linear_map.rescale`


class FactorState(NamedTuple):
    """The state of Algorithm 2 and of VAW; the docstring of `Full` has the table."""

    U: Float
    D: Float
    z: Float
    squares: Float
    places: NDArray[np.int64]
    coordinates: NDArray[np.int64]
    totals: Float
    noise: Float
    lost: Float
    slopes: Float

    @property
    def R(self) -> Float:
        """The factor itself, S = R'R."""
        return self.U * np.sqrt(self.D)[:, None]

    @property
    def q(self) -> Float:
        """h = R'q; |q| is the norm of h."""
        return np.sqrt(self.D) * self.z

    @classmethod
    def empty(cls, columns: int) -> "FactorState":
        """The state before the first row, without any position."""
        none = np.zeros(0)
        places = np.full(1 + columns, -1)
        coordinates = np.zeros(0, np.int64)
        state = np.zeros((0, 0)), none, none, none, places, coordinates, np.zeros(6), none, none
        return cls(*state, no_slopes())

    def with_coordinates(self, new: NDArray[np.int64]) -> "FactorState":
        """The same state with positions for these coordinates, too."""
        padded = {name: np.pad(getattr(self, name), (0, len(new))) for name in ("U", *BY_POSITION)}
        state = self._replace(**padded)
        positions = np.arange(len(self.D), len(state.D))
        state.coordinates[positions] = new
        state.places[new] = positions
        state.totals[ACTIVE] = len(state.D)
        return state

    def cut(self, positions: int) -> "FactorState":
        """The same state with the first positions only."""
        vectors = {name: getattr(self, name)[:positions] for name in BY_POSITION}
        return self._replace(U=self.U[:positions, :positions].copy(), **vectors)

    def by_coordinate(self, values: Float) -> Float:
        """The values of the first positions in the order of coordinates, with zeros for others."""
        ordered = np.zeros(len(self.places))
        ordered[self.coordinates[: len(values)]] = values
        return ordered

    def solution(self) -> Float:
        """S^+ h by coordinate, zero where a feature adds no direction."""
        rank = int(self.totals[RANK])
        w = self.z[:rank].copy()
        for k in range(rank - 1, 0, -1):
            w[:k] -= self.U[:k, k] * w[k]
        return self.by_coordinate(w)


@inlined
def load(block, r, v, intercept, places, x):
    """Put row r, times v, into x by position; whether all its coordinates have positions."""
    values, indices, _, _ = block
    start, stop = row_span(block, r)
    x[:] = 0.0
    complete = not intercept or places[0] >= 0
    if intercept and complete:
        x[places[0]] = v
    for k in range(start, stop):
        if values[k] != values[k] or values[k] == 0:  # missing or absent
            continue
        i = (np.int64(indices[k]) if indices.size else k - start) + 1
        if i < places.size and places[i] >= 0:
            x[places[i]] = values[k] * v
        else:
            complete = False
    return complete


@inlined
def _largest_rest(w, root, state, c2, size):
    """The position with the largest |w_n| / c_n, or -1; entries that are surely noise become 0.

    `size` is that of the row's part of h beside w; what is dropped of h is entered in `lost`.
    The first nonzero value of a feature is never noise: its column of U was exactly zero, so
    nothing was cancelled. Ties go against the constant: it never grows, and as a pivot would be
    lost in rounding when a column that is equal to it now becomes huge.
    """
    best = 0.0
    pivot = -1
    for n in range(int(state.totals[RANK]), w.size):
        if w[n] == 0:
            continue
        rest = abs(w[n]) * root
        norm = math.sqrt(c2[n])
        if rest <= NOISE * max(norm, state.noise[n]) and state.squares[n] > 0:
            w[n] = 0.0
            state.lost[n] += rest * size
        elif rest / norm > best or (rest / norm == best and pivot == state.places[0]):
            best = rest / norm
            pivot = n
    return pivot


@subroutine
def noise_size(U, rank, n, sizes):
    """size_n + sum_p |theta_p| size_p, where theta is column n as a combination of the pivots.

    The factor is that of slightly different columns, each off by a small part of its size. What
    remains of a column that depends on the pivots is therefore this sum times that part.
    """
    theta = np.zeros(rank)
    size = sizes[n]
    for k in range(rank - 1, -1, -1):  # solve U_P theta = U_n
        rest = U[k, n]
        for j in range(k + 1, rank):
            rest -= U[k, j] * theta[j]
        theta[k] = rest
        size += abs(rest) * sizes[k]
    return size


@subroutine
def find_pivot(w, root, state, U, c2, row, size):
    """The position in which w, the rest of a row, opens a new direction, or -1 if it is noise.

    c2 has the sums of squares of all columns, this row included. The errors of U grow like the root
    of the number of rows, which a heavy row brings to light: hence sqrt(t) |row|. U is the factor
    with this row in it. A bound that turns out to be too small for later rows is computed again.
    """
    growth = math.sqrt(state.totals[T] / STEADY_ROWS)
    rank = int(state.totals[RANK])
    while True:
        pivot = _largest_rest(w, root, state, c2, size)
        if pivot < 0 or state.squares[pivot] == 0 or state.totals[OLD_RULE]:
            return pivot
        norms = np.sqrt(c2)
        rest = abs(w[pivot]) * root
        if rest > NOISE * noise_size(U, rank, pivot, norms + growth * np.abs(row)):
            return pivot
        w[pivot] = 0.0
        state.lost[pivot] += rest * size
        if size > 0:
            state.noise[pivot] = max(state.noise[pivot], noise_size(U, rank, pivot, norms))


@inlined
def exchange(array, i, j):
    array[i], array[j] = array[j], array[i]


@subroutine
def _open_row(state, pivot, w, delta, c2, row):
    """Make w, of weight delta, the next row of U, its pivot moved to the diagonal."""
    rank = int(state.totals[RANK])
    for n in range(rank):
        exchange(state.U[n], rank, pivot)
    for array in (w, c2, row, state.squares, state.noise, state.lost):
        exchange(array, rank, pivot)
    exchange(state.coordinates, rank, pivot)
    for place in (rank, pivot):
        state.places[state.coordinates[place]] = place
    state.D[rank] = max(delta * w[rank] * w[rank], MIN_D)
    for n in range(rank, w.size):
        state.U[rank, n] = w[n] / w[rank] + 0.0  # no -0
    state.totals[RANK] += 1


@subroutine
def _rotated(U, D, z, row, wz, rank):
    """A copy of the first rows of U with a row rotated into it."""
    U = U[:rank].copy()
    rotate(U, D.copy(), z.copy(), row.copy(), (1.0, wz), rank, np.zeros(rank), True)
    return U


@inlined
def add_row(state, x, wz, scratch, keep):
    """S += x x', with the entry wz of the column q; returns (delta, wz, we, pivot).

    The rest of the row is delta^(1/2) (wz, we), 0 if it opened a new direction at `pivot`. If not
    `keep`, the state stays as it is. `scratch` is a, as in `rotate`, the sums of squares c2, and
    `row`: the sizes of the row's entries, to which their errors are proportional.
    """
    U, D, z = state.U, state.D, state.z
    a, c2, row = scratch
    rank = int(state.totals[RANK])
    delta, rest, we = rotate(U, D, z, x, (1.0, wz), rank, a, keep)
    root = math.sqrt(delta)
    size = root * (abs(rest) + abs(we)) if keep else 0.0
    pivot = _largest_rest(x, root, state, c2, size)
    if pivot >= 0:
        factor = U if keep else _rotated(U, D, z, row, wz, rank)
        pivot = find_pivot(x, root, state, factor, c2, row, size)
    if pivot >= 0 and keep:
        _open_row(state, pivot, x, delta, c2, row)
        z[rank] = rest / x[rank]
        a[rank] = we / x[rank]
    return 0.0 if pivot >= 0 else delta, rest, we, pivot


@kernel
def add_rows(W, q, sizes, state):
    """Add the rows W of a factor, with h += W'q; its columns, of norm `sizes`, are in `squares`."""
    state = FactorState(*state)
    scratch = np.zeros(sizes.size), state.squares.copy(), sizes.copy()
    for r in range(len(W)):
        rank = int(state.totals[RANK])
        _, _, _, pivot = add_row(state, W[r].copy(), q[r], scratch, True)
        if pivot >= 0:
            for later in range(r + 1, len(W)):
                exchange(W[later], rank, pivot)
