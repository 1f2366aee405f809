"""The pages about distributed training hold the tables that their results file makes."""

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
    assert {name for names in bench.PAGES.values() for name in names} == {*tables}
    for path, names in bench.PAGES.items():
        page = path.read_text()
        for name in names:
            assert f"<!-- {name} -->\n{tables[name]}\n<!-- end of {name} -->" in page
