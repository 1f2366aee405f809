"""The drift detector with all starts kept, from its formulas."""

from math import log


def evidence(before, since):
    """The logarithm of the wealth that the mean changed between these losses."""
    n, m = len(before), len(since)
    a, b = sum(before) / n, sum(since) / m
    variance = sum(x * x for x in before) / n - a * a
    if n < 32 or variance <= 0:
        return 0.0, 0.0
    k = n * m / (n + m)
    spread = k * (2 * variance + sum((x - a) ** 2 for x in since) / m) / 3
    rho = 16 * variance
    moved = k * (b - a)
    return moved**2 / (2 * (spread + rho)) - log(spread / rho + 1) / 2, moved


def first_alarm(losses, false_alarms):
    """(the row of the first alarm, its start), looking at every eighth row; None without one."""
    limit = -log(8 * false_alarms)
    begin = 0
    for row in range(8, len(losses) + 1, 8):
        tests = {
            start: evidence(losses[begin:start], losses[start:row])
            for start in range(begin + 8, row, 8)
        }
        above = {start: found for start, found in tests.items() if found[0] > limit}
        up = {start: found[0] for start, found in above.items() if found[1] > 0}
        down = {start: found[0] for start, found in above.items() if found[1] <= 0}
        if up:
            return row, max(up, key=up.get) + 1
        if down:
            begin = max(down, key=down.get)
    return None
