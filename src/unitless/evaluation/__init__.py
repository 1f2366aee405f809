"""Progressive evaluation: predict each row, learn it, score the prediction, write the results.

`progressive` is the loop that `Evaluation`, training in several processes and the demo run;
`results` has the records of a results file. It may import models, their files and certificates, and
neither reports nor the command line.
"""

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
