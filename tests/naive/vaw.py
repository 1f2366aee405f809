"""VAW for squared loss in exact fractions."""

from fractions import Fraction

from naive.digits import instance


def vaw(rows, targets, loss="squared", *, intercept=True, weights=None):
    """The score of each row, made before its target is used."""
    weights = [1.0] * len(rows) if weights is None else weights
    S, b, seen, scores = {}, {}, [], []
    for row, y, weight in zip(rows, targets, weights, strict=True):
        x = {i: Fraction(float(value)) for i, value in instance(row, intercept).items()}
        v, y = Fraction(float(weight)) or Fraction(1), Fraction(float(y))
        now = dict(S)
        for i, x_i in x.items():
            for j, x_j in x.items():
                now[i, j] = now.get((i, j), 0) + v * x_i * x_j
        if not seen:
            scores.append(Fraction(0))
        else:
            z = _solve(now, x)
            p = seen[0] + sum(z[i] * b_i for i, b_i in b.items() if i in z)
            scores.append(min(max(p, min(seen)), max(seen)))
        if weight > 0:
            S = now
            seen.append(y)
            for i, x_i in x.items():
                b[i] = b.get(i, 0) + v * (y - seen[0]) * x_i
    return scores


def _solve(S, x):
    """A solution of S z = x, which there is: x lies in the range of S. Free coordinates are 0."""
    keys = sorted({i for i, _ in S}, key=str)
    rows = [[S.get((i, j), Fraction(0)) for j in keys] + [x.get(i, Fraction(0))] for i in keys]
    pivots, k = {}, 0
    for column in range(len(keys)):
        found = next((n for n in range(k, len(rows)) if rows[n][column] != 0), None)
        if found is None:
            continue
        rows[k], rows[found] = rows[found], rows[k]
        for n in range(len(rows)):
            if n != k and rows[n][column] != 0:
                factor = rows[n][column] / rows[k][column]
                rows[n] = [a - factor * c for a, c in zip(rows[n], rows[k], strict=True)]
        pivots[keys[column]] = k, column
        k += 1
    return {i: rows[k][-1] / rows[k][column] for i, (k, column) in pivots.items()}
