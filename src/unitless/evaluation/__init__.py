"""Progressive evaluation: predict each row, learn it, score the prediction, write the results."""

from unitless.evaluation.evaluation import Evaluation, Step, resumed
from unitless.evaluation.metrics import LABELS, RunningMetrics
from unitless.evaluation.results import read_results, results_of, write_results

__all__ = [
    "LABELS",
    "Evaluation",
    "RunningMetrics",
    "Step",
    "read_results",
    "results_of",
    "resumed",
    "write_results",
]
