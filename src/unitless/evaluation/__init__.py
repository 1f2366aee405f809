"""One pass over a stream: predict, learn, score; what came of it goes into a results file."""

from unitless.evaluation.results import read_results, results_of, write_results
from unitless.evaluation.running import Evaluation, Step, resumed
from unitless.evaluation.tally import LABELS, Tally

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
