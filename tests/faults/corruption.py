"""Damaged and forged model files: always a clear error, or a model that can be used.

A program of its own, `python tests/faults/corruption.py FILES SEED`, so that its memory can be
limited to what the format promises and a crash ends nobody else. It prints JSON: files tried by
kind, how many loaded, how many failed otherwise, and by how much memory grew beyond a sound file's
need.
"""

import copy
import faulthandler
import io
import json
import random
import resource
import sys
import tempfile
import warnings
from collections import Counter
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

HANG = 60
ROOM, TIMES = 64 * 2**20, 30
"""Memory a file may take: so many bytes, and so many times the length of its contents."""
NASTY = [
    2**60, 2**63, -1, 0, 1, 1e308, -0.5, 10**400, None, True, "", "x" * 5000, "inf", "nan", [], {},
    [[]], [2**60, 2**60], ["int", 7], ["tuple", [["tuple", [[]]]]], ["float", "0x1p99999"],
    "../../etc/passwd", "/etc/passwd", "os.system", "__class__", "__import__('os').system('true')",
    "<U1000000000", "|O", "\ud800", "\x00",
]  # fmt: skip
NUMBERS = [0.0, -1.0, 1e308, 5e-324, np.nan, np.inf, 2.0**60, 2.0**31, 0.5, 7.0]
WHOLES = [0, -1, -2, 1, 7, 2**31 - 1, -(2**31), 99]


def examples(folder):
    """Bytes of sound model files, by name: small ones, of every kind of model."""
    import pandas

    from unitless import OnlineClassifier, persistence
    from unitless.learners import get
    from unitless.rows import as_rows

    rng = np.random.default_rng(0)
    rows = as_rows(rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], 20))
    made = {name: get(name)() for name in ("coordinate", "full", "newton", "fd_son", "scinol2")}
    for learner in made.values():
        learner.learn(rows)
    made["named"] = get("coordinate")()
    made["named"].learn_one({"height": 1.8, 7: 2.0, (1, "a"): 3.0, None: 1.0, 0.1: 5.0}, 1)
    frame = pandas.DataFrame(
        {"size": rng.normal(size=20), "colour": rng.choice(["red", "blue"], 20),
         "day": pandas.date_range("2026-01-01", periods=20)}
    )  # fmt: skip
    made["classifier"] = OnlineClassifier("coordinate", interactions=["size:colour"])
    made["classifier"].fit(frame, np.where(frame["size"] > 0, "yes", "no"))
    made["blend"] = get("blend")()
    made["blend"].learn(rows)
    for name, model in made.items():
        persistence.save(model, Path(folder, name), notes={"a": [1, {}]})
    run = evaluated()
    run.save(Path(folder, "stream"))
    return {name: Path(folder, name).read_bytes() for name in [*made, "stream"]}


@cache
def table():
    """A block of a table with three classes."""
    from unitless.readers import open_blocks

    text = b"size,colour,kind\n1,red,cat\n9,blue,dog\n2,red,cat\n8,green,emu\n"
    return next(iter(open_blocks(io.BytesIO(text))))


def evaluated():
    """What the commands save: a model and the scores of its run."""
    from unitless.evaluation import Evaluation
    from unitless.model import Model

    block = table()
    run = Evaluation(Model.from_first_block(block, target="kind", learner="coordinate"))
    for _ in run.over([block]):
        pass
    return run


# Ways to damage


def flipped(data, rng, k):
    """Byte after byte."""
    wrong = bytearray(data)
    wrong[k % len(data)] ^= rng.randrange(1, 256)
    return bytes(wrong)


def truncated(data, rng, k):
    """Length after length."""
    return data[: k % len(data)]


def noise(data, rng, k):
    """Random bytes, by themselves or inside or behind a file."""
    random_bytes = rng.randbytes(rng.randrange(0, 300))
    at = rng.randrange(len(data))
    return rng.choice([random_bytes, data[:at] + random_bytes + data[at:], data + random_bytes])


def lying(data, rng, k):
    """The header of arrays claims other types, shapes and places."""
    from unitless.persistence.container import decompressed

    data = decompressed(data)
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    name = rng.choice([key for key in header if key != "__metadata__"])
    what = rng.choice(["shape", "data_offsets", "dtype", "name", "many", "deep"])
    lies = [[2**60], [2**60, 2**60], [-1], [2**32, 2**32], [0, 2**60], [], "F16"]
    value = rng.choice([lie for lie in lies if lie != header[name].get(what)])
    if what == "name":
        header[rng.choice(["../../x", "/x", "", "x" * 10_000, "__metadata__"])] = header.pop(name)
    elif what == "many":
        empty = {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]}
        header |= {f"n{j}": empty for j in range(2000)}
    elif what != "deep":
        header[name][what] = value
    text = json.dumps(header).encode() if what != "deep" else b'{"a":' + b"[" * 100_000
    return compressed(len(text).to_bytes(8, "little") + text + data[8 + length :])


def compressed(data):
    """The bytes of a file with these contents."""
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


def zeros(size):
    """That many zeros, compressed piece by piece: memory is limited."""
    import zstandard

    piece = bytes(10**5)
    packer = zstandard.ZstdCompressor().compressobj(size=size)
    parts = [packer.compress(piece) for _ in range(size // len(piece))]
    return b"".join([*parts, packer.flush()])


def bomb(data, rng, k):
    """Few bytes that claim to be, or are, very many."""
    size = rng.choice([10**5, 10**7, 10**8])
    claim = (rng.choice([size, 2**40, 2**63, 2**64 - 1])).to_bytes(8, "little")
    return zeros(size) if rng.random() < 0.5 else b"\x28\xb5\x2f\xfd\xe0" + claim + data[9:]


def forged_header(data, rng, k):
    """Anything at any place of our header, under a right digest."""
    header, arrays = parts(data)
    place, key = rng.choice([*places(header)])
    if rng.random() < 0.1:
        del place[key]
    else:
        place[key] = copy.deepcopy(rng.choice(NASTY))
    return joined(header, arrays)


def bomb_of_names(data, rng, k):
    """Many names, long names, names within names; under a right digest."""
    header, arrays = parts(data)
    deep = "end"
    for _ in range(rng.randrange(400)):
        deep = ["tuple", [deep]]
    many, long = [*map(str, range(20_000))], ["x" * 100_000, "y" * 100_000]
    header["names"] = rng.choice([many, long, [deep], ["a"] * 5000])
    return joined(header, arrays)


def forged_arrays(data, rng, k):
    """Other numbers, sizes, types or names of arrays, under a right digest."""
    header, arrays = parts(data)
    name = rng.choice([*arrays])
    array = arrays[name]
    what = rng.randrange(6)
    if what < 3 and array.size:
        at = rng.randrange(array.size)
        array.reshape(-1)[at] = rng.choice(NUMBERS if array.dtype.kind == "f" else WHOLES)
    elif what == 3:
        arrays[name] = np.resize(array, [rng.randrange(40) for _ in range(max(array.ndim, 1))])
    elif what == 4:
        arrays[name] = array.astype(rng.choice([np.float64, np.int64, np.int32]), casting="unsafe")
    else:
        arrays[rng.choice(["learner.__class__", "../../x", "learner.factor", "x"])] = arrays.pop(
            name
        )
    return joined(header, arrays)


KINDS = (flipped, truncated, noise, lying, forged_header, forged_arrays)
TURNS = (*KINDS * 4, bomb_of_names, bomb)


def places(tree):
    """(container, key) of everything in a JSON tree."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in pairs:
        yield tree, key
        if isinstance(value, dict | list):
            yield from places(value)


def parts(data):
    """Header and arrays of a sound file, to be changed."""
    from unitless.persistence import container

    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return container.read(file.name)


def joined(header, arrays):
    """The bytes of a file with a right digest."""
    from unitless.persistence import container

    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            return container.packed(header, arrays)
    except (ValueError, UnicodeError):  # what JSON or UTF-8 cannot say cannot be forged
        return b""


# What must come of it


def outcome(path):
    """Loading is "refused" by the one error, or the model is "loaded" and can be used."""
    from unitless import persistence
    from unitless.evaluation import resumed

    try:
        model = persistence.load(path)
        run = resumed(path) if hasattr(model, "reading") else None
    except persistence.ModelFileError:
        return "refused"
    if run is not None:
        with suppress(Exception):  # a forged model may make no sense, but must not crash
            for _ in run.over([table()]):
                pass
    use(getattr(model, "learner_", getattr(model, "learner", model)))
    return "loaded"


def use(learner):
    """Run its code: whatever its numbers are, it may touch only what is its own."""
    from unitless.core.learner import Diverged
    from unitless.rows import as_rows

    X = np.array([[1.0, -2.0, 3.0, 0.5, 1.0, 0.0, 2.0, -1.0]])
    y = 0.0 if learner.loss.targets == "classes" else 1.0
    try:
        learner.predict(as_rows(X))
        learner.learn(as_rows(X, [y]))
    except (Diverged, ValueError, ArithmeticError):
        pass


def main(count, seed):
    """Try that many files."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    rng, counts, failures = random.Random(seed), Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        sound = examples(folder)
        path = Path(folder, "damaged")
        for data in sound.values():  # what a sound file needs is no part of the limit
            path.write_bytes(data)
            assert outcome(path) == "loaded"
        largest = limit_memory(max(map(length_of, sound.values())))
        names, before, turns = [*sound], peak(), Counter()
        for k in range(count):
            kind, name = TURNS[k % len(TURNS)], names[k // len(TURNS) % len(names)]
            data = kind(sound[name], rng, seed + turns[kind, name])
            turns[kind, name] += 1
            path.write_bytes(data)
            largest = max(largest, length_of(data))
            label = kind.__name__
            if kind is flipped and contents(data) == contents(sound[name]):
                label = "unchanged"  # compression does not use each bit of its frame
            faulthandler.dump_traceback_later(HANG, exit=True)
            try:
                counts[f"{label} {outcome(path)}"] += 1
            except BaseException as error:
                failures.append(f"file {k} ({kind.__name__} of {name}): {error!r:.200}")
            faulthandler.cancel_dump_traceback_later()
    grown = peak() - before
    print(json.dumps({
        "files": count, "failures": len(failures), "first": failures[:10],
        "lengths": sorted(map(length_of, sound.values())),
        "outcomes": dict(sorted(counts.items())), "grown": grown, "largest": largest,
    }))  # fmt: skip


def contents(data):
    """What is in a file if it can be unpacked, else its bytes."""
    from unitless.persistence.container import DAMAGE, decompressed

    try:
        return decompressed(data)
    except DAMAGE:
        return data


def length_of(data):
    """The length of a file's contents, if it tells it and may be that long."""
    return len(contents(data))


def peak():
    """The most memory this process has used, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def limit_memory(length):
    """From here on memory ends at what a file of that length may take: more is a failure."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + ROOM + TIMES * length
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return length


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
