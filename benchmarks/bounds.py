"""Measure how tight the regret certificate and the theorems are on real data.

    python benchmarks/bounds.py              run, write results/bounds.json, print a table
    python benchmarks/bounds.py --markdown   print the table of theory.md from that file
    python benchmarks/bounds.py --two-level  replay the Blend's forecasts with a two-level mixture

Algorithms 1 and 2, Algorithm 2 per coordinate and the Blend learn each binary data set of
../shared/data (and always scikit-learn's breast cancer data) once, in shuffled order and in raw
units, with the logistic loss. The benchmark compares the true regret with the certificate that the
learner computes from its own sums and with the bound of its theorem.
"""

import argparse
import json
import time
from pathlib import Path

import data
import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from unitless.learners import get
from unitless.losses import get as get_loss
from unitless.regret import best_comparator, certificate
from unitless.regret.design import design, predictions
from unitless.rows import as_rows

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "bounds.json"
NEARLY = 0.01  # nats per row
ALGORITHMS = {"coordinate": "1", "coordinate2": "2 per coordinate", "full": "2", "blend": "Blend"}
WIDEST_FOR_FULL = 1000  # Algorithm 2 needs O(d^2) memory, and O(d^2) time per row


def sets(limit):
    """Yield (name, X, y) of every binary data set that is available, at most `limit` rows each."""
    for name, X, y in data.sets("binary"):
        yield name, X[:limit], y[:limit]


def measured(name, X, y):
    """Yield one record per learner: the regret and its bounds, as losses summed over the rows."""
    rows = as_rows(X, y)
    started = time.perf_counter()
    best = best_comparator("logistic", rows)
    u = best.weights if best.attained else nearly_best(X, y, best.infimum)
    print(f"{name}: {X.shape}, {best}, {time.perf_counter() - started:.1f} s", flush=True)
    for learner_name in ALGORITHMS:
        if learner_name == "full" and X.shape[1] > WIDEST_FOR_FULL:
            continue
        learner = get(learner_name)()
        paid = float(np.sum(learner.loss.value(y, learner.learn(rows))))
        yield {
            "set": name, "learner": learner_name, "rows": len(y), "columns": X.shape[1],
            "loss": paid, "infimum": best.infimum, "gap": best.gap, "attained": best.attained,
            "separated": best.separated, "regret_to_infimum": paid - best.infimum,
            "shown": claim(learner, rows, paid, u),
        }  # fmt: skip


def claim(learner, rows, paid, u):
    """Return the regret against u and its three bounds."""
    theirs = float(np.sum(learner.loss.value(rows.targets, predictions(rows, u))))
    made = certificate(learner, u)
    if learner.name == "blend":  # its members' bounds, of which the smallest counts
        given = [member.bounds[1] for member in made.by_member]
    else:
        given = [made.given]
    numbers = {
        name: min(getattr(one, name) for one in given)
        for name in ("certificate", "sharp", "theorem")
    }
    return {"comparator_loss": theirs, "regret": paid - theirs, **numbers}


def nearly_best(X, y, infimum):
    """Return small weights with a loss within NEARLY per row of the infimum.

    On separable data the best weights are infinite, and so is every bound against them. These
    weights minimise the loss plus mu |u|_S^2 / 2, for the largest power of 4 as mu that gets
    within this distance.
    """
    made, logistic = design(X, intercept=True), get_loss("logistic")
    w, mu = np.zeros(made.Z.shape[1]), 1.0
    while np.sum(logistic.value(y, made.Z @ w)) > infimum + NEARLY * len(y):
        mu /= 4

        def value(w, mu=mu):
            p = made.Z @ w
            slope = made.Z.T @ logistic.derivative(y, p) + mu * w
            return np.sum(logistic.value(y, p)) + mu * (w @ w) / 2, slope

        w = minimize(value, w, jac=True, method="L-BFGS-B", options={"maxiter": 2000}).x
    return made.weights(w)


def line(record):
    """Format (set, T, d, algorithm, loss of u, regret, certified, sharp, theorem) as text."""
    name, shown = record["set"] + ("" if record["attained"] else "*"), record["shown"]
    algorithm = ALGORITHMS[record["learner"]]
    numbers = [
        shown[key] for key in ("comparator_loss", "regret", "certificate", "sharp", "theorem")
    ]
    size = (str(record["rows"]), str(record["columns"]))
    return [name, *size, algorithm, *(f"{number:,.0f}" for number in numbers)]


HEADINGS = [
    "set", "T", "d", "algorithm", "loss of u", "true regret", "certified", "sharp form", "theorem",
]  # fmt: skip
NOTE = (
    "The loss is the logistic loss, summed over T rows in raw units, and u is the best weight "
    "vector in hindsight. An asterisk marks data sets with separable rows, which have no best "
    "finite weights; there u is a small weight vector whose loss is within 0.01 per row of the "
    "infimum. The Blend is the default, with trees, which can have a smaller loss than any u: then "
    "its regret is negative."
)


def tightness(records):
    """Return the median ratio of each bound to the true regret, per algorithm, as a sentence."""
    parts = []
    for learner, algorithm in ALGORITHMS.items():
        shown = [record["shown"] for record in records if record["learner"] == learner]
        certified, sharp, theorem = (
            f"{np.median([ratio(one, key) for one in shown]):.2f}"
            for key in ("certificate", "sharp", "theorem")
        )
        parts.append(f"{algorithm}: certified {certified}, sharp form {sharp}, theorem {theorem}")
    return (
        "Median ratio of each bound to the true regret, where a ratio to a negative regret counts "
        f"as infinite: {'; '.join(parts)}."
    )


def ratio(shown, key):
    """Return a bound divided by the regret, infinite where the regret is not positive."""
    return shown[key] / shown["regret"] if shown["regret"] > 0 else np.inf


def table(records):
    lines = [HEADINGS, *(line(record) for record in records)]
    widths = [max(len(cells[k]) for cells in lines) for k in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        for cells in lines
    )


def markdown(records):
    rows = [HEADINGS, ["---", *["---:"] * (len(HEADINGS) - 1)], *map(line, records)]
    return (
        "\n".join("| " + " | ".join(row) + " |" for row in rows)
        + f"\n\n{NOTE} {tightness(records)}"
    )


def two_level(X, y):
    """Return (overhead, two-level overhead, change of the loss) of a two-level mixture, in nats.

    The losses of the experts come from the Blend as it learns row by row. They are then mixed with
    shared weights, as the Blend does, without sharing, and by Bayes' rule from both mixtures.
    """
    rows, learner = as_rows(X, y), get("blend")()
    lost = [np.zeros(len(learner.mixture.state.W0))]
    for t in range(len(y)):
        learner.learn(rows[t : t + 1])
        lost.append(learner.mixture.state.lost.copy())
    W0 = learner.mixture.state.W0
    chances = np.exp(-np.diff(lost, axis=0))[:, W0 > 0]
    W0 = W0[W0 > 0]
    W, shared = W0, []
    for t, chance in enumerate(chances, 1):
        shared.append(W @ chance)
        W = (W * chance / shared[-1] * t + W0) / (t + 1)
    gains = np.cumsum(np.log(chances), axis=0)
    unshared = logsumexp(gains[-1] + np.log(W0))
    loss = -np.sum(np.log(shared))
    both = np.log(2) - np.logaddexp(-loss, unshared)
    prior = W0.min()
    sharing = -np.sum(np.log1p(-(1 - prior) / np.arange(2, len(y) + 1)))
    return sharing - np.log(prior), np.log(2) - np.log(prior), both - loss


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2000, help="maximum rows per data set")
    parser.add_argument("--markdown", action="store_true", help="print the table of the last run")
    parser.add_argument("--two-level", action="store_true", help="replay a two-level mixture")
    options = parser.parse_args()
    if options.two_level:
        for name, X, y in sets(options.rows):
            print(name, len(y), *(f"{number:.2f}" for number in two_level(X, y)), flush=True)
        return
    if options.markdown:
        print(markdown(json.loads(RESULTS.read_text())))
        return
    records = [record for data in sets(options.rows) for record in measured(*data)]
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(records, indent=1) + "\n")
    print(f"\n{table(records)}\n{NOTE}\n{tightness(records)}")


if __name__ == "__main__":
    main()
