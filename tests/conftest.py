"""What holds for every test: hypothesis is never random, and short tests are marked."""

import gc
from pathlib import Path

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[1]


settings.register_profile("ci", derandomize=True, deadline=None, max_examples=60, database=None)
settings.register_profile("brief", settings.get_profile("ci"), phases=[Phase.generate])
settings.load_profile("ci")  # `--hypothesis-profile=brief` shows the first failure as it was found


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data sets beside the project; tests that need it are skipped without."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"real data sets are not at {folder}")
    return folder


QUICK = (
    "cli/test_app.py",
    "cli/test_errors.py",
    "cli/test_screen.py",
    "core/",
    "encoders/test_d",
    "encoders/test_frame_encoder.py",
    "encoders/test_kinds.py",
    "encoders/test_refusals.py",
    "evaluation/test_alarms.py",
    "evaluation/test_metrics.py",
    "readers/test_jsonl.py",
    "readers/test_parquet.py",
    "readers/test_source.py",
    "readers/test_svmlight.py",
    "readers/test_tables.py",
    "regret/test_bounds.py",
    "regret/test_errata.py",
    "test_labels.py",
    "test_losses.py",
    "test_rows.py",
    "test_source.py",
)
"""Files of short tests, of every part. With the laws of Algorithm 1 they are `-m quick`."""


def pytest_collection_modifyitems(items):
    """Mark the short tests."""
    for item in items:
        path = item.path.relative_to(Path(__file__).parent).as_posix()
        law_of_algorithm_1 = path.startswith("laws/") and "[coordinate]" in item.name
        if path.startswith(QUICK) or law_of_algorithm_1:
            item.add_marker("quick")


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let the garbage collector leave out what lives to the end: modules and twelve thousand items.

    A full collection takes half a second otherwise, and some tests ask for one.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
