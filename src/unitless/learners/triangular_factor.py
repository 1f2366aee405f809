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
from unitless.learners.givens import rotate
from unitless.learners.slopes import no_slopes
from unitless.rows import row_span

Float = NDArray[np.float64]

T, A, E, RANK, ACTIVE, OLD_RULE = range(6)
"""The fields of `FactorState.totals`."""

NOISE = 128 * 2.0**-53
"""What rounding leaves of a dependent column, relative to the columns that it depends on."""

STEADY_ROWS = 64
"""Up to about this many rows, the errors of U stay within a small part of `NOISE`."""

MIN_D = 2.0**-1000
"""The end of float64, not a tolerance: D is never smaller, see `rescale`."""


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

    def with_room(self, positions: int) -> "FactorState":
        """The same state with room for at least that many positions."""
        size = len(self.D)
        if positions <= size:
            return self
        new = empty_state(max(positions, size + size // 5), 0)
        new.U[:size, :size] = self.U
        for name in ("D", "z", "squares", "coordinates", "noise", "lost"):
            getattr(new, name)[:size] = getattr(self, name)
        return new._replace(places=self.places, totals=self.totals, slopes=self.slopes)

    def rescale(self, columns: NDArray[np.int64], factors: Float) -> None:
        """Let the state follow columns that are multiplied by nonzero factors.

        D stays at MIN_D at least, as if the past of the column had been larger: that is still far
        below the last digit of the value for which a unit changes that much.
        """
        U, D, z, squares, places, _, totals, noise, lost, _ = self
        rank = int(totals[RANK])
        positions = places[columns + 1]
        seen = positions >= 0
        factor = np.ones(len(D))
        factor[positions[seen]] = factors[seen]
        squares[:] = squares * factor * factor
        noise[:] *= np.abs(factor)
        lost[:] *= np.abs(factor)
        _, exponents = np.frexp(D)
        least = np.where(D > 0, np.ldexp(math.sqrt(MIN_D), -(exponents // 2)), 0.0)
        pivots = np.copysign(np.maximum(np.abs(factor), least), factor)
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
        totals=np.zeros(6),
        noise=np.zeros(positions),
        lost=np.zeros(positions),
        slopes=no_slopes(),
    )


@kernel
def activate(i, state):
    """The position of coordinate i, a new one if it has none; -1 if there is no room."""
    _, D, _, _, places, coordinates, totals, _, _, _ = state
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
    values, indices, _, _ = block
    places = state[4]
    start, stop = row_span(block, r)
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
def largest_rest(w, root, state, c2, size):
    """The position with the largest |w_n| / c_n, or -1; entries that are surely noise become 0.

    `size` is that of the row's part of h beside w; what is dropped of h is entered in `lost`.

    The first nonzero value of a feature is never noise: its column of U was exactly zero, so
    nothing was cancelled. Ties go against the constant: it never grows, and as a pivot would be
    lost in rounding when a column that is equal to it now becomes huge.
    """
    _, _, _, squares, places, _, totals, noise, lost, _ = state
    best = 0.0
    pivot = -1
    for n in range(int(totals[RANK]), w.size):
        if w[n] != 0:
            rest = abs(w[n]) * root
            norm = math.sqrt(c2[n])
            if rest <= NOISE * max(norm, noise[n]) and squares[n] > 0:
                w[n] = 0.0
                lost[n] += rest * size
            elif rest / norm > best or (rest / norm == best and pivot == places[0]):
                best = rest / norm
                pivot = n
    return pivot


@kernel
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


@kernel
def find_pivot(w, root, state, U, c2, row, size):
    """The position in which w, the rest of a row, opens a new direction, or -1 if it is noise.

    c2 has the sums of squares of all columns, this row included. The errors of U grow like the root
    of the number of rows, which a heavy row brings to light: hence sqrt(t) |row|. U is the factor
    with this row in it. A bound that turns out to be too small for later rows is computed again.
    """
    _, _, _, squares, _, _, totals, noise, lost, _ = state
    growth = math.sqrt(totals[T] / STEADY_ROWS)
    pivot = largest_rest(w, root, state, c2, size)
    while pivot >= 0 and squares[pivot] > 0 and not totals[OLD_RULE]:
        norms = np.sqrt(c2)
        rank = int(totals[RANK])
        rest = abs(w[pivot]) * root
        if rest > NOISE * noise_size(U, rank, pivot, norms + growth * np.abs(row)):
            break
        w[pivot] = 0.0
        lost[pivot] += rest * size
        if size > 0:
            noise[pivot] = max(noise[pivot], noise_size(U, rank, pivot, norms))
        pivot = largest_rest(w, root, state, c2, size)
    return pivot


@inlined
def exchange(array, i, j):
    """Swap two entries."""
    array[i], array[j] = array[j], array[i]


@inlined
def open_row(state, pivot, w, delta, c2, row):
    """Make w, of weight delta, the next row of U, its pivot moved to the diagonal."""
    U, D, _, squares, places, coordinates, totals, noise, lost, _ = state
    rank = int(totals[RANK])
    for k in range(rank):
        exchange(U[k], rank, pivot)
    for array in (w, c2, row, squares, noise, lost):
        exchange(array, rank, pivot)
    exchange(coordinates, rank, pivot)
    places[coordinates[rank]] = rank
    places[coordinates[pivot]] = pivot
    D[rank] = max(delta * w[rank] * w[rank], MIN_D)
    for n in range(rank, w.size):
        U[rank, n] = w[n] / w[rank] + 0.0  # no -0
    totals[RANK] += 1


@kernel
def rotated(U, D, z, row, wz):
    """A copy of U with a row rotated into it."""
    rank = D.size
    U = U[:rank].copy()
    rotate(U, D.copy(), z.copy(), row.copy(), (1.0, wz), rank, np.zeros(rank), True)
    return U


@inlined
def add_row(state, x, wz, scratch, keep):
    """S += x x', with the entry wz of the column q; returns (delta, wz, we, pivot).

    The rest of the row is delta^(1/2) (wz, we), 0 if it opened a new direction at `pivot`, and `a`
    is as in `rotate`. If not `keep`, the state stays as it is. `scratch` is a, the sums of squares
    c2, and `row`: the sizes of the row's entries, to which their errors are proportional.
    """
    U, D, z, _, _, _, totals, _, _, _ = state
    a, c2, row = scratch
    rank = int(totals[RANK])
    delta, rest, we = rotate(U, D, z, x, (1.0, wz), rank, a, keep)
    root = math.sqrt(delta)
    size = root * (abs(rest) + abs(we)) if keep else 0.0
    pivot = largest_rest(x, root, state, c2, size)
    if pivot >= 0:
        factor = U if keep else rotated(U, D[:rank], z, row, wz)
        pivot = find_pivot(x, root, state, factor, c2, row, size)
    if pivot >= 0 and keep:
        open_row(state, pivot, x, delta, c2, row)
        z[rank] = rest / x[rank]
        a[rank] = we / x[rank]
    return 0.0 if pivot >= 0 else delta, rest, we, pivot


@kernel
def add_rows(W, q, sizes, state):
    """Add the rows W of a factor, with h += W'q; `sizes` are the norms of its columns.

    state.squares are those of all rows already.
    """
    totals = state[6]
    scratch = np.zeros(sizes.size), state[3][: sizes.size].copy(), sizes.copy()
    for r in range(len(W)):
        rank = int(totals[RANK])
        _, _, _, pivot = add_row(state, W[r].copy(), q[r], scratch, True)
        if pivot >= 0:
            for later in range(r + 1, len(W)):
                exchange(W[later], rank, pivot)
