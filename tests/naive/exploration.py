"""Inverse gap weighting as the docstring of `unitless.decisions.exploration` writes it."""


def probabilities(estimates, counts, rewards, low, high):
    """The probability of each action of one decision."""
    K = len(estimates)
    if not high > low:
        return [1 / K] * K
    u = [n / (n + 10) * (high - f) / (high - low) for f, n in zip(estimates, counts, strict=True)]
    b = u.index(min(u))
    L = max(u[b], 1 / (rewards + 1))
    p = []
    for a in range(K):
        p.append(0.0 if a == b else L / (K * L + rewards * (u[a] - u[b])))
    p[b] = 1 - sum(p)
    return p
