"""Progressive evaluation: predict each row, learn it, score the prediction, write the results."""

from unitless.evaluation.evaluation import Evaluation, resumed
from unitless.evaluation.metrics import LABELS, RunningMetrics
from unitless.evaluation.progressive import Step
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


def __dir__() -> list[str]:
    return sorted(__all__)
