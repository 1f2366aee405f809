"""What holds for every test: compiled kernels never stale, hypothesis never random."""

import hashlib
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[1]


def _source_digest():
    """Numba checks only the file a kernel stands in; a change in a callee's file must count."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src" / "unitless").rglob("*.py")):
        digest.update(f"{path.relative_to(ROOT)}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
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
