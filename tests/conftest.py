"""What holds for every test: compiled kernels never stale, hypothesis never random."""

import gc
import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[1]


def _source_digest():
    """Numba checks only the file a kernel stands in; a change in a callee's file must count.

    Files without compiled functions are left out, so that editing one of them does not make the
    next run compile everything again.
    """
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "unitless").rglob("*.py")):
        source = path.read_bytes()
        if b"unitless.kernels" in source:
            digest.update(f"{path.relative_to(ROOT)}\0{len(source)}\0".encode())
            digest.update(source)
    return digest.hexdigest()[:16]


# Numba reads the variable when it is imported, and conftest runs before any test module.
os.environ.setdefault(
    "NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"unitless-numba-{_source_digest()}")
)

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
    "encoders/test_d",
    "encoders/test_frame_encoder.py",
    "encoders/test_kinds.py",
    "encoders/test_refusals.py",
    "evaluation/test_alarms.py",
    "evaluation/test_metrics.py",
    "kernels/test_arithmetic.py",
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


FIRST = ("laws/test_atomicity.py::test_bad_blocks[", "laws/test_rescale.py::test_by_name[blend]")
"""Short tests in which kernels are compiled: of every learner, and the Blend's for one row."""

BLEND = 20
"""How much longer the kernels of the Blend take to compile than those of another learner."""


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config, items):
    """Mark the short tests; then give each worker other learners to begin with."""
    for item in items:
        path = item.path.relative_to(Path(__file__).parent).as_posix()
        law_of_algorithm_1 = path.startswith("laws/") and "[coordinate]" in item.name
        if path.startswith(QUICK) or law_of_algorithm_1:
            item.add_marker("quick")
    yield
    workers = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers > 1:
        items[:] = dealt(items, workers)


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


def dealt(items, workers):
    """The items in an order in which each worker compiles other learners first.

    Workers begin with equal parts of the items. Each would compile all learners on its own if none
    found them in the cache yet. The Blends share kernels with each other and with their members, so
    one worker begins with them, and the others with baselines.
    """
    first = [item for item in items if any(name in item.nodeid for name in FIRST)]
    rest = [item for item in items if not any(name in item.nodeid for name in FIRST)]
    blends = [item for item in first if "blend" in item.name]
    shares = [blends, *([] for _ in range(workers - 1))]
    costs = [BLEND] + [0] * (workers - 1)
    others = [item for item in first if item not in blends]
    for item in sorted(others, key=not_a_baseline):
        least = costs.index(min(costs))
        shares[least].append(item)
        costs[least] += 1
    order = []
    for k, share in enumerate(shares):
        size = (len(items) - len(order)) // (workers - k)
        cut = max(size - len(share), 0)
        order += share + rest[:cut]
        rest = rest[cut:]
    return order + rest


def not_a_baseline(item):
    """Whether the learner of a test may be a member of the Blend."""
    from unitless.learners import REGISTRY

    return ".baselines." not in REGISTRY[item.callspec.params["name"]]
