"""docs/explanation/reliability.md says what was measured."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_figures_are_those_of_the_results_file():
    spec = importlib.util.spec_from_file_location(
        "reliability", ROOT / "benchmarks" / "reliability.py"
    )
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    page = (ROOT / "docs" / "explanation" / "reliability.md").read_text()
    found = json.loads(benchmark.RESULTS.read_text())
    assert "\n".join(benchmark.lines(found)) in page
    bad = found["kills"]["wrong"], found["corruption"]["failures"], found["disk"]["damaged"]
    parts = [found[name]["non_finite"] for name in ("numbers", "search") if name in found]
    assert not any([*bad, *parts])
    assert found["kills"]["kills"] >= 200
    assert found["corruption"]["files"] >= 100_000
