"""One pass over a stream: predict, learn, score; what came of it goes into a results file."""

from unitless.evaluation.metrics import LABELS, Tally
from unitless.evaluation.progressive import Evaluation, Step, resumed
from unitless.evaluation.results import read_results, results_of, write_results

__all__ = [
    "LABELS",
    "Evaluation",
    "Step",
    "Tally",
    "read_results",
    "results_of",
    "resumed",
    "write_results",
]
