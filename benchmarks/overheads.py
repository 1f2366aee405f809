"""Measure the overhead that the Blend states for the squared loss.

    python benchmarks/overheads.py           run, write results/overheads.json, print
    python benchmarks/overheads.py --write   write its table into docs/explanation/measurements.md

The Blend learns all rows of each regression data set once, in shuffled order. The overhead is
compared with the loss of the best member, with and without the stacker among the members.
"""

import argparse
import json
from datetime import date
from pathlib import Path
from typing import Any

import data
import numpy as np
from quality import in_markdown, write_between

from unitless.learners import Blend
from unitless.rows import as_rows

RESULTS = Path(__file__).parent / "results" / "overheads.json"


def run() -> dict[str, Any]:
    """Return one record per data set: losses, and the overheads as shares of them."""
    records = []
    for name, X, y in data.sets("regression"):
        learner = Blend("squared")
        learner.learn(as_rows(X, y))
        claims = sorted(learner.guarantees().values(), key=lambda claim: claim.member_loss)
        expert = next(claim for claim in claims if claim.member != "stacker")
        record: dict[str, Any] = {"set": name, "rows": len(y)}
        for kind, claim in (("member", claims[0]), ("expert", expert)):
            record[kind] = claim.member
            record[f"{kind} overhead"] = claim.overhead / claim.member_loss
        records.append(record)
        print(json.dumps(record), flush=True)
    return {"date": str(date.today()), "records": records}


def markdown(kept: dict[str, Any]) -> str:
    """Return the table and its medians."""
    kinds = ("member", "expert")
    rows = []
    for record in kept["records"]:
        cells = [f"{record[kind]}: {record[f'{kind} overhead']:.2%}" for kind in kinds]
        rows.append([record["set"], str(record["rows"]), *cells])
    medians = [
        f"{np.median([record[f'{kind} overhead'] for record in kept['records']]):.2%}"
        for kind in kinds
    ]
    head = ["set", "n", "best member", "best member but the stacker"]
    table = in_markdown(head, [*rows, ["median", "", *medians]])
    return f"{table}\n\nMeasured on {kept['date']}."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the stored table")
    if parser.parse_args().write:
        write_between("overheads", markdown(json.loads(RESULTS.read_text())))
    else:
        RESULTS.write_text(json.dumps(run(), indent=1) + "\n")


if __name__ == "__main__":
    main()
