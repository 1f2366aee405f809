"""`unitless fit`: learn a file and save the model."""

import inspect
from typing import Any

from unitless.cli.evaluate import evaluate

LEFT_OUT = ("audit", "delay")


def fit(**options: Any) -> None:
    """Learn a file and save the model; what `evaluate` does, without the table.

    [dim]Examples:[/dim]

    unitless fit houses.csv --target price --save houses.unitless

    unitless fit ads.svm --passes 3 --holdout 10 --save ads.unitless
    """
    from unitless.cli.run import Plan, run

    if not options["save"]:
        raise ValueError("fit makes a model: say where it goes with --save MODEL")
    run(Plan(**options, table=False))


_all = inspect.signature(evaluate).parameters.values()
_own = [parameter for parameter in _all if parameter.name not in LEFT_OUT]
fit.__signature__ = inspect.Signature(_own)  # type: ignore[attr-defined]
fit.__annotations__ = {parameter.name: parameter.annotation for parameter in _own}
