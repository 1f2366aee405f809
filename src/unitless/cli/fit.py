"""`unitless fit`: learn a file and save the model."""

import inspect
from typing import Any

from unitless.cli import options as o
from unitless.cli.evaluate import evaluate

LEFT_OUT = ("audit", "delay")
SCALED = {
    "shards": (o.Shards, None), "by_key": (o.ByKey, None), "address": (o.Address, None),
    "retries": (o.Retries, 3),
}  # fmt: skip
"""Options of a fit in many processes."""


def fit(**options: Any) -> None:
    """Learn a file and save the model; what `evaluate` does, without the table.

    With --shards or --by-key in many processes: docs/distributed.md says what is exact.

    [dim]Examples:[/dim]

    unitless fit houses.csv --target price --save houses.unitless

    unitless fit ads.svm --passes 3 --holdout 10 --save ads.unitless

    unitless fit 'flights/*.parquet' -t delay -l vaw --shards 16 --save delays.unitless

    unitless fit flights -t late --by-key carrier --save carriers.unitless
    """
    scaled = {name: options.pop(name) for name in SCALED}
    if not options["save"]:
        raise ValueError("fit makes a model: say where it goes with --save MODEL")
    if scaled["shards"] is None and scaled["by_key"] is None:
        if scaled["address"] is not None:
            raise ValueError("--address goes with --shards or --by-key")
        from unitless.cli.run import Plan, run

        run(Plan(**options, table=False))
        return
    from unitless.cli.scaled import fit_scaled

    fit_scaled(options, **scaled)


_all = inspect.signature(evaluate).parameters.values()
_own = [parameter for parameter in _all if parameter.name not in LEFT_OUT]
_own += [
    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
    for name, (kind, default) in SCALED.items()
]
fit.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in _own]
)
fit.__annotations__ = {parameter.name: parameter.annotation for parameter in _own}
