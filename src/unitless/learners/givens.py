"""Rotations of rows into a triangular factor, without square roots, several rows at a time.

Square roots are left out (Gentleman 1973; Hammarling 1974): R = D^(1/2) U with D diagonal and 1s on
the diagonal of U, q = D^(1/2) z, and the row that is rotated is delta^(1/2) (w, wz, we), from
(x, 0, 1) and delta = 1 on. One turn, with row k of U and with z_k as its last column, is

    d = D_k + delta w_k^2;   c = D_k / d;   s = delta w_k / d
    w <- w - w_k U_k;     U_k <- U_k + s w (new);    delta <- c delta          where c >= 1/2
    w <- w / w_k - U_k;   U_k <- c U_k + s w (old);  delta <- D_k s w_k        where c < 1/2

and D_k <- d: two operations a number instead of four, and w_(k+1) waits for no division. The two
forms are the same rotation; with the one that c asks for neither delta nor w runs away.

What the rotations of a row did is noted in its `turns`, so that `follow` can take the column z and
the last unit vector through them later, when the labels of the rows before are known.
"""

import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from unitless.numerics import flat, fma, inner

C, S, M, N = range(4)  # the fields of a turn, see `turned_z`
FOUR = 4  # rows rotated together, rows they meet at a time, and numbers in a vector
NO_TILE = (0.0,) * 32  # N and S of its turns, row by row
# Where float64 would end, not a tolerance: a row whose delta falls below is scaled anew.
LIGHT = 2.0**-100


@inner
def mix(c, x, s, y):
    """c x + s y."""
    return fma(c, x, s * y)


@inner
def _angle(d, delta, w):
    """(D, s, delta) after a turn, delta if c >= 1/2; that is, if the new D is at most 2 d."""
    t = delta * w
    new = fma(t, w, d)
    s = t * (1 / new)
    return new, s, fma(-t, s, delta)  # c delta, and exactly delta where w = 0


@inner
def root_unit(d):
    """A power of two near sqrt(d), for d > 0."""
    _, exponent = math.frexp(d)
    return math.ldexp(1.0, exponent // 2)


# U comes flat with the length of its rows. Loops count from 0 and index with an unsigned sum:
# without the test for negative indices they vectorise.


@inner
def _padded(n):
    """n rounded up to whole vectors: U and the buffers end in zeros, so none is left over."""
    return (n + FOUR - 1) // FOUR * FOUR


@inner
def _plain(U, at, w, right, n, s, wk, keep):
    """Columns `right` to n of a plain turn."""
    for j in range(_padded(n - right)):
        u = U[np.uint64(at + j)]
        wj = fma(-wk, u, w[np.uint64(right + j)])
        w[np.uint64(right + j)] = wj
        if keep:
            U[np.uint64(at + j)] = fma(s, wj, u)


@inner
def _scaled(U, at, w, right, n, turn, keep):
    """Columns `right` to n of a turn that also scales w."""
    c, s, up, down = turn
    for j in range(_padded(n - right)):
        u, wj = U[np.uint64(at + j)], w[np.uint64(right + j)]
        w[np.uint64(right + j)] = mix(up, wj, -down, u)
        if keep:
            U[np.uint64(at + j)] = mix(c, u, s, wj)


@inner
def _rotate(U, D, width, k, w, n, delta, keep):
    """Rotate w against row k so that w[k] vanishes: (its turn, the new delta).

    With `keep`, U and D turn as well. Most turns are plain: c >= 1/2 and delta not too small.
    """
    wk, d, at, right = w[k], D[k], k * width + k + 1, k + 1
    if wk == 0:  # exactly nothing, which is what the formulas give
        return (1.0, 0.0, 1.0, 0.0), delta
    new, s, light = _angle(d, delta, wk)
    if keep:
        D[k] = new
    if new <= 2 * d and light >= LIGHT:
        _plain(U, at, w, right, n, s, wk, keep)
        return (1.0, s, 1.0, wk), light
    if new <= 2 * d:
        unit = root_unit(LIGHT)
        turn, delta = (light / delta, s, unit, wk * unit), light / unit / unit  # never C = 1
    else:  # w / w_k - U_k in a unit that brings delta near 1
        unit = root_unit(d)
        turn, delta = (d / new, s, unit / wk, unit), d / unit / unit * (s * wk)
    _scaled(U, at, w, right, n, turn, keep)
    return turn, delta


# A tile: four rows of data, one after the other, against rows k to k + 3 of U, that is `_rotate`
# sixteen times. The angles come from the corner, columns k to k + 3; then one sweep over the other
# columns loads and stores each number once. (It is the stores that take time: two by two, twice as
# many of them, is half as fast.)


@inner
def _meet(u, d, w, delta):
    """A row of data in a corner: U, D, its turns (N, S four times), its delta, if all are plain.

    u holds U right of its diagonal, row by row.
    """
    u01, u02, u03, u12, u13, u23 = u
    w0, w1, w2, w3 = w
    d0, s0, delta = _angle(d[0], delta, w0)
    w1, w2, w3 = fma(-w0, u01, w1), fma(-w0, u02, w2), fma(-w0, u03, w3)
    u01, u02, u03 = fma(s0, w1, u01), fma(s0, w2, u02), fma(s0, w3, u03)
    d1, s1, delta = _angle(d[1], delta, w1)
    w2, w3 = fma(-w1, u12, w2), fma(-w1, u13, w3)
    u12, u13 = fma(s1, w2, u12), fma(s1, w3, u13)
    d2, s2, delta = _angle(d[2], delta, w2)
    w3 = fma(-w2, u23, w3)
    u23 = fma(s2, w3, u23)
    d3, s3, delta = _angle(d[3], delta, w3)
    plain = (d0 <= 2 * d[0]) & (d1 <= 2 * d[1]) & (d2 <= 2 * d[2]) & (d3 <= 2 * d[3])
    return (
        (u01, u02, u03, u12, u13, u23), (d0, d1, d2, d3), (w0, s0, w1, s1, w2, s2, w3, s3), delta,
        plain & (delta >= LIGHT),
    )  # fmt: skip


@inner
def _four(array, k):
    return array[k], array[k + 1], array[k + 2], array[k + 3]


@inner
def _moves(W, k):
    """Whether the tile at k does anything: sparse rows have many that do not."""
    for row in range(4):
        for i in range(k, k + 4):
            if W[row, i] != 0:
                return True
    return False


@inner
def _corner(U, D, width, k, W, deltas):
    """The tile at k: whether its turns are all plain, whether it does anything, deltas and turns.

    If all are plain, its corner is turned.
    """
    at = k * width + k
    low, last = at + width, at + 2 * width
    u = U[at + 1], U[at + 2], U[at + 3], U[low + 2], U[low + 3], U[last + 3]
    d = D[k], D[k + 1], D[k + 2], D[k + 3]
    wa, wb, wc, wd = _four(W[0], k), _four(W[1], k), _four(W[2], k), _four(W[3], k)
    u, d, ta, da, a = _meet(u, d, wa, deltas[0])
    u, d, tb, db, b = _meet(u, d, wb, deltas[1])
    u, d, tc, dc, c = _meet(u, d, wc, deltas[2])
    u, d, td, dd, e = _meet(u, d, wd, deltas[3])
    plain = a & b & c & e
    if plain:
        U[at + 1], U[at + 2], U[at + 3], U[low + 2], U[low + 3], U[last + 3] = u
        D[k], D[k + 1], D[k + 2], D[k + 3] = d
    return plain, _moves(W, k), (da, db, dc, dd), ta + tb + tc + td


@intrinsic
def _turn_columns(typingctx, U, at, width, W, right, length, tile):
    """Four columns of a tile, from U[at] and W[right] on, as vectors.

    With w of each row of data and u of each row of U: w <- w - N u, u <- u + S w. (As a loop over
    columns it would not be vectorised: eight rows might overlap for all the compiler knows.)
    """

    def codegen(context, builder, signature, args):
        vector = ir.VectorType(ir.DoubleType(), 4)
        kind = ir.FunctionType(vector, [vector] * 3)
        fma4 = cgutils.get_or_insert_function(builder.module, kind, "llvm.fma.v4f64")

        def pointers(array, start, stride):
            data = context.make_array(signature.args[array])(context, builder, args[array]).data
            places = [builder.add(start, builder.mul(stride, stride.type(i))) for i in range(4)]
            return [builder.bitcast(builder.gep(data, [i]), vector.as_pointer()) for i in places]

        def broadcast(i):
            scalar = builder.extract_value(args[6], i)
            first = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, i32(0))
            return builder.shuffle_vector(first, first, ir.Constant(mask, [0] * 4))

        i32, mask = ir.IntType(32), ir.VectorType(ir.IntType(32), 4)
        u_at, w_at = pointers(0, args[1], args[2]), pointers(3, args[4], args[5])
        u = [builder.load(pointer, align=8) for pointer in u_at]
        for row, pointer in enumerate(w_at):
            w = builder.load(pointer, align=8)
            for k in range(4):
                n, s = broadcast(8 * row + 2 * k), broadcast(8 * row + 2 * k + 1)
                w = builder.call(fma4, [builder.fneg(n), u[k], w])
                u[k] = builder.call(fma4, [s, w, u[k]])
            builder.store(w, pointer, align=8)
        for value, pointer in zip(u, u_at, strict=True):
            builder.store(value, pointer, align=8)
        return context.get_dummy_value()

    index = types.int64
    return types.void(U, index, index, W, index, index, tile), codegen


@inner
def _note(turns, k, turn):
    """Remember a turn for `follow`."""
    turns[C, k], turns[S, k], turns[M, k], turns[N, k] = turn


@inner
def _note_tile(turns, k, tile):
    """The same for a tile of plain turns, for which C is 1 already."""
    for row in range(4):
        for i in range(4):
            turns[row, N, k + i] = tile[8 * row + 2 * i]
            turns[row, S, k + i] = tile[8 * row + 2 * i + 1]


@flat
def rotate_noted(U, D, width, k, W, n, deltas, turns, row):
    """`_rotate` for one of several rows, its turn and delta noted."""
    turn, deltas[row] = _rotate(U, D, width, k, W[row], n, deltas[row], bool(1))
    _note(turns[row], k, turn)


@flat
def turn_four(U, D, width, rank, W, n, turns, deltas):
    """Rotate four rows against all of U, tile by tile.

    The corner of the next tile comes before the sweep of this one: its divisions wait for each
    other, and the sweep is what the machine can do meanwhile. A tile that is not plain, or not
    whole, goes turn by turn.
    """
    flat, length = W.reshape(-1), W.shape[1]
    for row in range(FOUR):
        deltas[row] = 1.0
        for k in range(rank):
            turns[row, C, k] = 1.0
    plain, moves, new, tile = False, False, NO_TILE[:4], NO_TILE
    for k in range(-FOUR, rank, FOUR):
        end, at, this = 0, k * width, tile
        if plain:
            _note_tile(turns, k, this)
            deltas[0], deltas[1], deltas[2], deltas[3] = new
            end = n if moves else 0
        elif k >= 0:
            for row in range(FOUR):
                for i in range(k, min(k + FOUR, rank)):
                    rotate_noted(U, D, width, i, W, n, deltas, turns, row)
        if k + 4 < end:
            _turn_columns(U, at + k + 4, width, flat, k + 4, length, this)
        plain = False
        if k + 8 <= rank:
            plain, moves, new, tile = _corner(U, D, width, k + 4, W, deltas)
        for j in range(k + 8, end, FOUR):
            _turn_columns(U, at + j, width, flat, j, length, this)


@flat
def turn_one(U, D, width, rank, w, n, turns, keep):
    """Rotate one row against all of U: its delta."""
    delta = 1.0
    for k in range(rank):
        turn, delta = _rotate(U, D, width, k, w, n, delta, keep)
        _note(turns, k, turn)
    return delta


@inner
def turned_z(z, wz, c, s, m, n):
    """z_k and wz after a turn; C is 1, whatever c is, if the turn is plain (and M is left out)."""
    if c == 1:
        wz = fma(-n, z, wz)
        return fma(s, wz, z), wz
    return mix(c, z, s, wz), mix(m, wz, -n, z)


@inner
def follow(z, wz, rank, turns, a, keep):
    """[z; wz] and the last unit vector after a row's turns: (wz, we) and a; z too, with `keep`."""
    we = 1.0
    for k in range(rank):
        c, s, n, m = turns[C, k], turns[S, k], turns[N, k], turns[M, k]
        a[k] = s * we
        new, wz = turned_z(z[k], wz, c, s, m, n)
        if c != 1:
            we *= m
        if keep:
            z[k] = new
    return wz, we
