"""A triangular factor of S = sum x x', which Algorithm 2 and VAW share.

A coordinate (0 is the constant 1, column j is j + 1) gets a position when it is first nonzero. S is
U'DU with D diagonal and U upper trapezoidal with ones on its diagonal: rank rows, and one column
per position, pivots first. h = U'Dz is a sum over the same rows.

A row is taken in by `load` and `add`, which rotates it into U (`givens`). What is left of it then
is either rounding, or it opens a new direction: the rank grows by one. `move` changes h.
"""

from math import isqrt

import numpy as np

cimport cython
from libc.math cimport fabs, sqrt
from libc.string cimport memcpy, memmove, memset

from unitless.core.arithmetic cimport Room, Values, fused
from unitless.core.array cimport Array, numbers, records
from unitless.core.learner cimport GradientLearner
from unitless.core.pointers cimport numbers_in
from unitless.core.row cimport Row
from unitless.core.stateful cimport Stateful
from unitless.learners.givens cimport Rest, rotate

from unitless.core.learner import COLUMNS
from unitless.learners import linear_map
from unitless.state import Component, Field, count, need

cdef double NOISE = 128 * 2.0**-53  # what rounding leaves of a column, relative to those it depends on
cdef double STEADY_ROWS = 64        # up to here, the errors of U stay within a small part of NOISE
cdef double MIN_D = 2.0**-1000      # the end of float64, not a tolerance: see `linear_map.rescale`


cdef inline void exchange(double* a, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef double kept = a[i]
    a[i] = a[j]
    a[j] = kept


cdef inline Py_ssize_t coordinate_of(const Row* row, Py_ssize_t slot) noexcept nogil:
    return slot if slot == 0 or row.ids == NULL else 1 + row.ids[slot - 1]


cdef inline void add_squares(Room c2, Values squares, Values w, Py_ssize_t n) noexcept nogil:
    """c2 = squares + w^2"""
    cdef Py_ssize_t j
    for j in range(n):
        c2[j] = fused(w[j], w[j], squares[j])


@cython.final
cdef class Factor(Stateful):
    """S = U'DU and h = U'Dz; see the module's docstring."""

    saved = (
        Field(
            "U",
            "x_j/x_k",
            "triangular factor, S = U'DU: row k, position j; 1 on the diagonal",
            ("n n",),
        ),
        Field("D", "x^2", "squares of R's diagonal, R = D^(1/2) U", ("n",)),
        Field("z", "1/x", "sum of gradients in the basis of U's rows, h = U'Dz", ("n",)),
        Field("squares", "x^2", "sum of squares, sum x^2, for the rank rule", ("n",)),
        Field("noise", "|x|", "what rounding is known to leave, for the rank rule", ("n",)),
        Field("lost", "|x|", "at most this part of h was dropped as noise", ("n",)),
        Field("places", "1", "the position of each coordinate, or -1", ("coordinates",), low=-1.0),
        Field("coordinates", "1", "the coordinate at each position", ("n",), low=0.0),
        count("rank", "rows of U", "n"),
    )

    def __cinit__(self, *args, **given):
        self.U = numbers(0)
        self.D = numbers(0)
        self.z = numbers(0)
        self.squares = numbers(0)
        self.noise = numbers(0)
        self.lost = numbers(0)
        self.places = records("q", 0)
        self.coordinates = records("q", 0)
        self.w = numbers(0)
        self.row = numbers(0)
        self.c2 = numbers(0)
        self.a = numbers(0)
        self.theta = numbers(0)
        self.sizes = numbers(0)
        self.rotated_U = numbers(0)
        self.rotated_D = numbers(0)
        self.rotated_z = numbers(0)
        self.rotated_w = numbers(0)
        self.rotated_a = numbers(0)

    def __init__(self, Py_ssize_t columns=0):
        self.reserve(columns)

    def _sizes(self):
        return {"n": len(self.D), "coordinates": len(self.places)}

    def read(self, str name):
        if name == "U":
            U = np.array(self.U).reshape(self.stride, self.stride)
            return U[: self.n, : self.n].ravel()
        return super().read(name)

    def write(self, str name, value):
        super().write(name, value)
        if name == "U":
            self.stride = isqrt(len(value))

    def _loaded(self):
        n = len(self.D)
        U = np.array(self.U).reshape(n, n)
        D = np.array(self.D)
        places = np.array(self.places)
        taken = np.array(self.coordinates)
        rank = self.rank
        need((U == np.triu(U)).all(), "U is not triangular")
        need((U.diagonal()[:rank] == 1).all() and not U[rank:].any(), "U has other rows than rank")
        need((D[:rank] > 0).all() and not D[rank:].any(), "D has other entries than rank")
        need((taken < len(places)).all(), "coordinates point beyond the end")
        is_inverse = (places[taken] == np.arange(n)).all()
        need(is_inverse and (places != -1).sum() == n, "places and coordinates disagree")
        self.n = n
        self._make_room()

    @property
    def R(self):
        """The factor itself, S = R'R."""
        return self.read("U").reshape(self.n, self.n) * np.sqrt(self.D)[:, None]

    @property
    def q(self):
        """h = R'q; |q| is the norm of h."""
        return np.sqrt(self.D) * self.z

    def by_coordinate(self, values):
        """The values of the first positions in the order of coordinates, with zeros for others."""
        ordered = np.zeros(len(self.places))
        ordered[np.array(self.coordinates)[: len(values)]] = values
        return ordered

    def solution(self):
        """S^+ h by coordinate, zero where a feature adds no direction."""
        U = self.read("U").reshape(self.n, self.n)
        w = np.array(self.z)[: self.rank]
        for k in range(self.rank - 1, 0, -1):
            w[:k] -= U[:k, k] * w[k]
        return self.by_coordinate(w)

    # Positions

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        """Have places for that many columns at least."""
        cdef Py_ssize_t i
        cdef Py_ssize_t known = self.places.size
        self.places.resize(1 + columns)
        for i in range(known, self.places.size):
            (<long long*>self.places.at)[i] = -1
        return 0

    cdef int _activate(self, const Row* row) except -1 nogil:
        """Give positions to coordinates that are nonzero for the first time."""
        cdef long long* places = <long long*>self.places.at
        cdef Py_ssize_t first = self.n
        cdef Py_ssize_t new = 0
        cdef Py_ssize_t k, i
        for k in range(row.n + 1):
            new += row.x[k] != 0 and places[coordinate_of(row, k)] < 0
        if new == 0:
            return 0
        self._widen(first + new)
        for k in range(row.n + 1):
            i = coordinate_of(row, k)
            if row.x[k] != 0 and places[i] < 0:
                places[i] = first
                (<long long*>self.coordinates.at)[first] = i
                first += 1
        return 0

    def take(self, coordinates):
        """Give positions to these coordinates, which have none."""
        cdef Py_ssize_t first = self.n
        self._widen(first + len(coordinates))
        np.asarray(self.coordinates)[first:] = coordinates
        np.asarray(self.places)[coordinates] = np.arange(first, self.n)

    cdef int _widen(self, Py_ssize_t n) except -1 nogil:
        """Have n positions; the new columns of U are zero."""
        cdef Py_ssize_t old = self.stride
        cdef Py_ssize_t stride = (max(n, old + old // 5) + 7) // 8 * 8
        cdef Py_ssize_t k
        cdef double* U
        if n > old:
            self.U.resize(stride * stride)
            U = self.U.at
            for k in range(old - 1, -1, -1):  # rows move apart, the last one first
                memmove(U + k * stride, U + k * old, old * sizeof(double))
                memset(U + k * stride + old, 0, (stride - old) * sizeof(double))
            self.stride = stride
        self.D.resize(n)
        self.z.resize(n)
        self.squares.resize(n)
        self.noise.resize(n)
        self.lost.resize(n)
        self.coordinates.resize(n)
        self.n = n
        return self._make_room()

    cdef int _make_room(self) except -1 nogil:
        """Room for a row of n positions."""
        self.w.resize(self.n)
        self.row.resize(self.n)
        self.c2.resize(self.n)
        self.a.resize(self.n)
        self.theta.resize(self.n)
        self.sizes.resize(self.n)
        return 0

    cdef int _make_room_for_copy(self) except -1 nogil:
        """Make room for the copy that `_rotated` fills in."""
        self.rotated_U.resize(self.rank * self.stride)
        self.rotated_D.resize(self.n)
        self.rotated_z.resize(self.n)
        self.rotated_w.resize(self.n)
        self.rotated_a.resize(self.n)
        return 0

    # Rows

    cdef bint load(self, const Row* row, double v, bint keep) except -1 nogil:
        """Put a row, times v, into w by position; whether all its coordinates have positions.

        With `keep`, those that have none are given one.
        """
        cdef const long long* places = <const long long*>self.places.at
        cdef bint complete = True
        cdef Py_ssize_t k, i
        if keep:
            self._activate(row)
        else:
            self._make_room_for_copy()
        memset(self.w.at, 0, self.n * sizeof(double))
        for k in range(row.n + 1):
            if row.x[k] == 0:
                continue
            i = coordinate_of(row, k)
            if i < self.places.size and places[i] >= 0:
                self.w.at[places[i]] = row.x[k] * v
            else:
                complete = False
        return complete

    cdef Rest add(self, bint keep, double t) noexcept nogil:
        """S += w w' after t rows; returns the rest of the row, 0 if it opened a new direction.

        If not `keep`, the state stays as it is.
        """
        cdef Rest rest
        memcpy(self.row.at, self.w.at, self.n * sizeof(double))
        add_squares(self.c2.at, self.squares.at, self.w.at, self.n)
        rest = self._rotate_in(0.0, keep, t)
        if keep:
            memcpy(self.squares.at, self.c2.at, self.n * sizeof(double))
        return rest

    def add_rows(self, W, q, double t):
        """Add the rows W of a factor, with h += W'q; `squares` has the squares of its columns.

        The columns of W are in the order of the positions as they are before the call.
        """
        order = np.array(self.coordinates)
        for row, entry in zip(W, q, strict=True):
            np.asarray(self.w)[np.array(self.places)[order]] = row
            np.asarray(self.c2)[:] = self.squares
            np.asarray(self.row)[:] = np.sqrt(self.squares)
            self._rotate_in(entry, True, t)

    cdef void move(self, double g) noexcept nogil:
        """h -= g x, for the row that was added last."""
        cdef double* z = self.z.at
        cdef const double* a = self.a.at
        cdef Py_ssize_t k
        for k in range(self.rank):
            z[k] -= g * a[k]

    cdef Rest _rotate_in(self, double wz, bint keep, double t) noexcept nogil:
        """Rotate w, with the entry wz of the column q, into the factor."""
        cdef Rest rest = rotate(
            self.U.at, self.stride, self.D.at, self.z.at, self.rank,
            self.w.at, self.n, wz, self.a.at, keep,
        )
        cdef double root = sqrt(rest.delta)
        cdef double size = root * (fabs(rest.wz) + fabs(rest.we)) if keep else 0.0
        cdef Py_ssize_t pivot = self._largest_rest(root, size)
        if pivot >= 0:
            pivot = self._find_pivot(self.U.at if keep else self._rotated(wz), root, size, t)
        if pivot >= 0:
            if keep:
                self._open_row(pivot, rest)
            rest.delta = 0.0
        return rest

    cdef const double* _rotated(self, double wz) noexcept nogil:
        """A copy of the first rows of U with the row at hand rotated into it."""
        memcpy(self.rotated_U.at, self.U.at, self.rank * self.stride * sizeof(double))
        memcpy(self.rotated_D.at, self.D.at, self.rank * sizeof(double))
        memcpy(self.rotated_z.at, self.z.at, self.rank * sizeof(double))
        memcpy(self.rotated_w.at, self.row.at, self.n * sizeof(double))
        rotate(
            self.rotated_U.at, self.stride, self.rotated_D.at, self.rotated_z.at, self.rank,
            self.rotated_w.at, self.n, wz, self.rotated_a.at, True,
        )
        return self.rotated_U.at

    # The rank rule

    cdef Py_ssize_t _largest_rest(self, double root, double size) noexcept nogil:
        """The position with the largest |w_j| / c_j, or -1; entries that are surely noise become 0.

        `size` is that of the row's part of h beside w; what is dropped of h is entered in `lost`.
        The first nonzero value of a feature is never noise: its column of U was exactly zero, so
        nothing was cancelled. Ties go against the constant: it never grows, and as a pivot would be
        lost in rounding when a column that is equal to it now becomes huge.
        """
        cdef double* w = self.w.at
        cdef Py_ssize_t constant = (<long long*>self.places.at)[0]
        cdef Py_ssize_t pivot = -1
        cdef Py_ssize_t j
        cdef double best = 0.0
        cdef double rest, norm
        for j in range(self.rank, self.n):
            if w[j] == 0:
                continue
            rest = fabs(w[j]) * root
            norm = sqrt(self.c2.at[j])
            if rest <= NOISE * max(norm, self.noise.at[j]) and self.squares.at[j] > 0:
                w[j] = 0.0
                self._drop(j, rest * size)
            elif rest / norm > best or (rest / norm == best and pivot == constant):
                best = rest / norm
                pivot = j
        return pivot

    cdef Py_ssize_t _find_pivot(
        self, const double* U, double root, double size, double t
    ) noexcept nogil:
        """The position in which w, the rest of a row, opens a new direction, or -1 if it is noise.

        c2 has the sums of squares of all columns, this row included. The errors of U grow like the
        root of the number of rows, which a heavy row brings to light: hence sqrt(t) |row|. U is the
        factor with this row in it. A bound that turns out to be too small for later rows is
        computed again.
        """
        cdef double growth = sqrt(t / STEADY_ROWS)
        cdef double rest
        cdef Py_ssize_t pivot
        while True:  # each time one entry of w less is not 0
            pivot = self._largest_rest(root, size)
            if pivot < 0 or self.squares.at[pivot] == 0:
                return pivot
            rest = fabs(self.w.at[pivot]) * root
            if rest > NOISE * self._noise_size(U, pivot, growth):
                return pivot
            self.w.at[pivot] = 0.0
            self._drop(pivot, rest * size)
            if size > 0:
                self.noise.at[pivot] = max(self.noise.at[pivot], self._noise_size(U, pivot, 0.0))

    cdef double _noise_size(self, const double* U, Py_ssize_t j, double growth) noexcept nogil:
        """size_j + sum_p |theta_p| size_p, where theta is column j as a combination of the pivots.

        The sizes are those of the columns and `growth` times the row. The factor is that of
        slightly different columns, each off by a small part of its size. What remains of a column
        that depends on the pivots is therefore this sum times that part.
        """
        cdef double* theta = self.theta.at
        cdef double* sizes = self.sizes.at
        cdef Py_ssize_t k, p
        cdef double size, rest
        for k in range(self.n):
            sizes[k] = sqrt(self.c2.at[k]) + growth * fabs(self.row.at[k])
        size = sizes[j]
        for k in range(self.rank - 1, -1, -1):  # solve U_P theta = U_j
            rest = U[k * self.stride + j]
            for p in range(k + 1, self.rank):
                rest -= U[k * self.stride + p] * theta[p]
            theta[k] = rest
            size += fabs(rest) * sizes[k]
        return size

    cdef void _drop(self, Py_ssize_t j, double part) noexcept nogil:
        """Enter a part of h that was dropped as noise."""
        if part > 0:
            self.lost.at[j] = self.lost.at[j] + part

    cdef void _open_row(self, Py_ssize_t pivot, Rest rest) noexcept nogil:
        """Make w, of weight delta, the next row of U, its pivot moved to the diagonal."""
        cdef long long* places = <long long*>self.places.at
        cdef long long* coordinates = <long long*>self.coordinates.at
        cdef double* w = self.w.at
        cdef Py_ssize_t rank = self.rank
        cdef Py_ssize_t k, j
        cdef long long kept
        for k in range(rank):
            exchange(self.U.at + k * self.stride, rank, pivot)
        exchange(w, rank, pivot)
        exchange(self.c2.at, rank, pivot)
        exchange(self.row.at, rank, pivot)
        exchange(self.squares.at, rank, pivot)
        exchange(self.noise.at, rank, pivot)
        exchange(self.lost.at, rank, pivot)
        kept = coordinates[rank]
        coordinates[rank] = coordinates[pivot]
        coordinates[pivot] = kept
        places[coordinates[rank]] = rank
        places[coordinates[pivot]] = pivot
        self.D.at[rank] = max(rest.delta * w[rank] * w[rank], MIN_D)
        for j in range(rank, self.n):
            self.U.at[rank * self.stride + j] = w[j] / w[rank] + 0.0  # no -0
        self.z.at[rank] = rest.wz / w[rank]
        self.a.at[rank] = rest.we / w[rank]
        self.rank += 1


cdef class FactorLearner(GradientLearner):
    """Base of learners that keep S = sum x x' and a vector h by a factor: Algorithm 2 and VAW."""

    invariance = "linear"
    scales_instance = True
    saved = (*GradientLearner.saved, COLUMNS, Component("factor"))

    def __cinit__(self, *args, **given):
        self.factor = Factor()

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        if columns > self.columns:
            self.factor.reserve(columns)
            self.columns = columns
        return 0

    def _loaded(self):
        super()._loaded()
        need(len(self.factor.places) == 1 + self.columns, "places do not fit the columns")

    def _seen(self):
        return np.array(self.factor.places) >= 0

    def _rescale(self, columns, factors):
        linear_map.rescale(self.factor, columns, factors)

    def rescale(self, factors):
        """Follow a change of units (`Learner.rescale`), or an invertible matrix M: x arrives as M x."""
        if hasattr(factors, "items") or np.ndim(factors) != 2:
            return super().rescale(factors)
        matrix = linear_map.checked_matrix(factors, self.columns)
        units = np.array(self.units)
        factor, units = linear_map.mapped(self.factor, units, matrix, self.t)
        self.factor = factor
        self.units.replace(units)
        return self

    def _root_mean_squares(self):
        squares = np.array(self.factor.squares)
        return self.factor.by_coordinate(np.sqrt(squares / max(self.trials, 1)))
