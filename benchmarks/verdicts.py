"""False verdicts on null streams, power, and the delay of drift alarms.

    python benchmarks/verdicts.py             # writes results/verdicts.json

- 1000 null streams of 100,000 rows: two forecasters that err alike. The share with any verdict, at
  any row, is to be at most 5 %.
- Power: the share of streams with a difference that is found, beside a t-test that looks once, at
  the end.
- Alarms: the delay on drift streams made with River's generators, beside ADWIN. Our detector runs
  at the false-alarm rate that ADWIN was measured to have on the same streams without the drift, and
  at its default.
"""

import json
import sys
from pathlib import Path

import numpy as np
from scipy import stats

from unitless.learners import get
from unitless.rows import as_rows
from unitless.uncertainty import DriftDetector, LossDifference

RESULTS = Path(__file__).parent / "results" / "verdicts.json"
SEEDS = 5
BEFORE, ROWS = 4000, 8000
FALSE_ALARMS = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3)


def log_loss(rng, rows, excess=0.0):
    """The log loss of two forecasters with errors of the same law, one perhaps larger."""
    p = rng.random(rows)
    y = rng.random(rows) < p
    losses = []
    for scale in (0.1 + excess, 0.1):
        q = np.clip(p + scale * rng.normal(size=rows), 0.01, 0.99)
        losses.append(-np.log(np.where(y, q, 1 - q)))
    return losses[0] - losses[1]


def squared(rng, rows, excess=0.0):
    """The squared loss of two forecasts of a series with heavy tails, whose noise wanders."""
    scale = np.exp(np.cumsum(0.01 * rng.normal(size=rows)))
    y = scale * rng.standard_t(5, rows)
    errors = [scale * (0.3 + extra) * rng.normal(size=rows) for extra in (excess, 0.0)]
    return (y - errors[0]) ** 2 - (y - errors[1]) ** 2


def accuracy(rng, rows, excess=0.0):
    """The errors of two classifiers that are wrong in 5 % of the rows."""
    return 1.0 * (rng.random(rows) < 0.05 + excess) - (rng.random(rows) < 0.05)


NULLS = {"log loss": log_loss, "squared loss": squared, "accuracy": accuracy}
EXCESS = {"log loss": 0.05, "squared loss": 0.1, "accuracy": 0.01}


def verdicts(streams=1000, rows=100_000):
    found = {}
    for name, make in NULLS.items():
        decided = 0
        for seed in range(streams):
            test = LossDifference()
            test.add(make(np.random.default_rng(seed), rows))
            decided += test.verdict().row is not None
        power = {}
        for n in (1000, 3000, 10_000):
            ours = once = 0
            for seed in range(200):
                d = make(np.random.default_rng(10_000 + seed), n, EXCESS[name])
                test = LossDifference()
                test.add(d)
                made = test.verdict()
                ours += made.row is not None and made.mean > 0
                once += stats.ttest_1samp(d, 0).pvalue < 0.05 and d.mean() > 0
            power[n] = {"ours": ours / 200, "t-test once": once / 200}
        found[name] = {"false verdicts": decided / streams, "power": power}
        print(name, found[name], flush=True)
    return found


def of_generators(first, second, rows, before):
    """Rows of one of River's generators, then of another."""
    X, y = [], []
    for generator, count in ((first, before), (second, rows - before)):
        for x, target in generator.take(count):
            X.append([float(v) if not isinstance(v, str) else hash(v) % 7 for v in x.values()])
            y.append(target)
    return np.array(X), np.array(y, dtype=float)


def drift_streams():
    from river.datasets import synth

    return {
        "SEA": lambda s: (synth.SEA(0, seed=s, noise=0.1), synth.SEA(2, seed=s + 1, noise=0.1)),
        "STAGGER": lambda s: (synth.STAGGER(0, s), synth.STAGGER(1, s + 1)),
        "Sine": lambda s: (synth.Sine(0, s), synth.Sine(2, s + 1)),
        "Mixed": lambda s: (synth.Mixed(0, s), synth.Mixed(1, s + 1)),
        "Agrawal": lambda s: (synth.Agrawal(0, s), synth.Agrawal(3, s + 1)),
        "LED": lambda s: (
            synth.LED(s, noise_percentage=0.1),
            synth.LEDDrift(s + 1, noise_percentage=0.1, n_drift_features=4),
        ),
        "Friedman": lambda s: (
            synth.Friedman(s),
            synth.FriedmanDrift("gsg", (1, 2), transition_window=1, seed=s + 1),
        ),
    }


def errors_of(X, y):
    """Errors of a learner without recent labels: of classes 0 or 1, of numbers scaled squares."""
    values = np.unique(y)
    if len(values) == 2:
        codes = np.where(y == values[1], 1.0, -1.0)
        scores = get("coordinate")("logistic").learn(as_rows(X, codes))
        return ((scores >= 0) != (codes > 0)).astype(float)
    if len(values) < 20:
        from unitless.learners.one_vs_rest import with_classes

        learner = with_classes(get("coordinate"), len(values))
        scores = learner.learn(as_rows(X, np.searchsorted(values, y).astype(float)))
        return (scores.argmax(axis=1) != np.searchsorted(values, y)).astype(float)
    return np.abs(get("vaw")("squared").learn(as_rows(X, y)) - y)


def alarms_of_adwin(losses):
    from river.drift import ADWIN

    detector = ADWIN()
    found = []
    for t, loss in enumerate(losses.tolist(), start=1):
        mean = detector.estimation
        detector.update(loss)
        if detector.drift_detected and detector.estimation > mean:  # rises only, as ours
            found.append(t)
    return found


def alarms():
    runs = {}
    for name, make in drift_streams().items():
        drifting, calm = [], []
        for seed in range(SEEDS):
            first, second = make(2 * seed)
            drifting.append(errors_of(*of_generators(first, second, ROWS, BEFORE)))
            first, _ = make(2 * seed)
            calm.append(errors_of(*of_generators(first, first, ROWS, ROWS)))
        runs[name] = drifting, calm
    detectors = {"ADWIN": alarms_of_adwin}
    for rate in FALSE_ALARMS:
        detectors[f"ours, {rate:g}"] = lambda losses, rate=rate: [
            each.row for each in DriftDetector(rate).add(losses)
        ]
    found = {}
    for label, detect in detectors.items():
        false = sum(len(detect(losses)) for _, calm in runs.values() for losses in calm)
        delays = {}
        for name, (drifting, _) in runs.items():
            each = []
            for losses in drifting:
                late = [row - BEFORE for row in detect(losses) if row > BEFORE]
                each.append(late[0] if late else ROWS - BEFORE)
            delays[name] = float(np.mean(each))
        rows = ROWS * SEEDS * len(runs)
        found[label] = {"false alarms per 100,000 rows": 1e5 * false / rows, "delay": delays}
        print(label, found[label], flush=True)
    return found


def main():
    made = {"alarms": alarms(), "verdicts": verdicts()}
    RESULTS.write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
