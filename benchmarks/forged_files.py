"""Forge model files at random, in a build in which every access to memory is checked.

Makes such a build in FOLDER (about five minutes), then tries COUNT forged files, 100 000 by
default, of every learner with every loss that it takes. Each file is a model file with a right
digest in which one to three arrays have other values or lengths. It must be refused, or the
model in it must predict and learn a few hundred rows without touching memory that is not its own:

    python benchmarks/forged_files.py FOLDER [COUNT]

It needs GCC with AddressSanitizer. FOLDER is kept, so that a second run builds what changed only.
The figures are stored for `docs/explanation/reliability.md`; update it with
`python benchmarks/reliability.py page`.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
COUNT = 100_000
PROCESSES = os.cpu_count() or 1
PART = 500
"""Files that one process tries; a crash ends the process, and what it had tried counts."""
BLENDS = 6
"""Blends, whose states have the most parts, are tried so many times as often as others."""
ROWS = 300


# One process: `python benchmarks/forged_files.py --part NAME LOSS FILES SEED`


def forged_part(name, loss, files, seed):
    """Forge files of one learner; prints the figures as JSON."""
    import random

    import numpy as np

    sys.path.insert(0, str(TESTS))
    import faulthandler

    from faults.forging import HANG, random_forgery, trained, use
    from unitless import persistence
    from unitless.persistence import container

    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rng = random.Random(f"{name} {loss} {seed}")
    counts = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        persistence.save(trained(name, loss), path)
        header, arrays = container.read(path)
        for k in range(files):
            label, forged = random_forgery(arrays, rng)
            print(f"{name} {loss} {k}: {label}", file=sys.stderr, flush=True)
            path.write_bytes(container.packed(header, forged))
            faulthandler.dump_traceback_later(HANG, exit=True)
            try:
                learner = persistence.load(path)
            except persistence.ModelFileError:
                counts["refused"] += 1
            else:
                use(getattr(learner, "learner", learner), ROWS)
                counts["loaded"] += 1
            faulthandler.cancel_dump_traceback_later()
    print(json.dumps(counts))


# The whole


def build(folder):
    """Install the package with AddressSanitizer in a virtual environment; returns its Python."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        packages = [path for path in sys.path if path.endswith("site-packages")]
        own = next(folder.glob("lib/python*/site-packages"))
        (own / "outer.pth").write_text("\n".join(packages))  # the dependencies, as they are here
    options = ["-Csetup-args=-Db_sanitize=address", "-Csetup-args=-Doptimization=1"]
    command = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run(
        [*command, "--force-reinstall", *options, f"-Cbuild-dir={folder}/build", ROOT],
        check=True,
        env={**os.environ, "PATH": f"{folder}/bin{os.pathsep}{os.environ['PATH']}"},
    )
    return python


def environment():
    """Let Python, which has no checks, load those of the package first."""
    library = subprocess.run(
        ["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    # Python does not free everything at its end, and huge sizes are refused by the package.
    options = "detect_leaks=0:allocator_may_return_null=1:abort_on_error=1"
    return {**os.environ, "LD_PRELOAD": library, "ASAN_OPTIONS": options, "OMP_NUM_THREADS": "1"}


def parts(count):
    """(name, loss, files, seed) of each process."""
    sys.path.insert(0, str(TESTS))
    from faults.forging import pairs

    weighted = [pair for pair in pairs() for _ in range(BLENDS if "blend" in pair[0] else 1)]
    made = []
    for k in range(-(-count // PART)):
        name, loss = weighted[k % len(weighted)]
        made.append((name, loss, min(PART, count - k * PART), k // len(weighted)))
    return made


def tried(python, part):
    """Run one process; returns its counts, and the report of a crash if there was one."""
    words = [python, __file__, "--part", *map(str, part)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment())
    if done.returncode == 0:
        return Counter(json.loads(done.stdout)), None
    return Counter(), f"{part}: ended with {done.returncode}\n{done.stderr[-6000:]}"


def main(folder, count):
    """Build, try all files and store the figures."""
    import reliability

    python = build(Path(folder).resolve())
    counts, reports = Counter(), []
    work = parts(count)
    with ThreadPoolExecutor(PROCESSES) as pool:
        for k, (found, report) in enumerate(pool.map(lambda part: tried(python, part), work)):
            counts += found
            if report:
                reports.append(report)
                print(report, file=sys.stderr)
            print(f"{k + 1} of {len(work)} parts, {len(reports)} reports", file=sys.stderr)
    figures = {"files": count, "loaded": counts["loaded"], "reports": len(reports)}
    reliability.kept("forged", figures)


if __name__ == "__main__":
    if sys.argv[1] == "--part":
        forged_part(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else COUNT)
