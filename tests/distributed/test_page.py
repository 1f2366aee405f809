"""docs/how-to/distributed.md holds the tables that its results file makes."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_tables_are_made_from_the_results_file(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    spec = importlib.util.spec_from_file_location("bench", ROOT / "benchmarks" / "distributed.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    tables = bench.tables(json.loads(bench.RESULTS.read_text()))
    assert {"sums", "noise"} <= {*tables}
    page = bench.PAGE.read_text()
    for name, table in tables.items():
        assert f"<!-- {name} -->\n{table}\n<!-- end of {name} -->" in page
