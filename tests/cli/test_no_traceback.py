"""No command ends in a traceback, whatever the file holds.

`unitless` (see conftest) lets unexpected exceptions through, so that each of them fails a test.
"""

import random
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import polars as pl
import pytest

from readers.fuzzing import FORMATS, made

COLUMNS = {
    "list": [[1, 2], [], None, [3]],
    "nested list": [[[1.5], [None]], [[]], None, [[float("nan")]]],
    "list of text": [["a", 'b"'], ["c,d"], None, []],
    "struct": [{"a": 1, "b": "x"}, {"a": None, "b": None}, None, {"a": 3, "b": "y"}],
    "list of structs": [[{"a": date(2024, 1, 1)}], [], None, [{"a": None}]],
    "array": pl.Series([[1, 2], [3, 4], None, [5, 6]], dtype=pl.Array(pl.Int64, 2)),
    "bytes": [b"\x00\xff", b"", None, b"abc"],
    "duration": [timedelta(days=1), timedelta(0), None, timedelta(microseconds=1)],
    "list of durations": [[timedelta(days=1)], [], None, [None]],
    "time": [time(1, 2), time(0), None, time(23, 59)],
    "moment": [datetime(2024, 1, 1, 5), datetime(1900, 1, 1), None, datetime(2999, 1, 1)],
    "decimal": [Decimal("1.50"), Decimal("-3"), None, Decimal("0.01")],
    "nothing": [None] * 4,
    "boolean": [True, False, None, True],
    "category": pl.Series(["a", "b", None, "a"], dtype=pl.Categorical),
    "enum": pl.Series(["a", "b", None, "a"], dtype=pl.Enum(["a", "b"])),
    "large": pl.Series([2**64 - 1, 0, None, 5], dtype=pl.UInt64),
    "far": [1e308, -1e308, None, 5e-324],
    "odd": [float("inf"), float("nan"), None, -0.0],
    "text": ["=1+1", "\x1b[31m", None, "a\nb"],
}
ENDINGS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svm", "vw")
FINE = {0, 2, 3}
"""Exit codes of a command that did its work, or said why not."""


def every_command(unitless, folder, path, target):
    """Run all commands on a file; each ends with a known code, and an error is one message."""
    model = folder / "m"
    words = ("-t", target, "-l", "coordinate")
    common = (path, *words, "--json")
    done = [unitless("evaluate", path, *words, "--report", folder / "page.html", "--save", model)]
    done.append(unitless("fit", *common, "--save", folder / "fitted"))
    done.append(unitless("compare", path, "-t", target, "--learners", "coordinate"))
    done += [unitless("convert", path, folder / f"out.{end}", "-t", target) for end in ENDINGS]
    done += [unitless("convert", path, folder / f"plain.{end}") for end in ENDINGS]
    if model.exists():
        done.append(unitless("predict", model, path))
        done.append(unitless("inspect", model))
        done.append(unitless("explain", model, path, "--row", 1))
        done.append(unitless("rescale", model, "x=2", "--save", folder / "scaled"))
        done.append(unitless("evaluate", path, "--resume", model, "--save", model))
    results = folder / "page.results.json"
    if results.exists():
        done.append(unitless("report", results, folder / "again.html"))
    for each in done:
        assert each.code in FINE, each
        assert "Traceback" not in each.err
        if each.code:
            assert each.err.splitlines()[-1].startswith("unitless: "), each.err
    return done


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("format", ["parquet", "jsonl"])
def test_columns_of_every_type(unitless, tmp_path, name, format):
    path = tmp_path / f"a.{format}"
    frame = pl.DataFrame({"x": [1.0, 2, 3, 4], name: COLUMNS[name], "y": [0.5, 1, 2, 4]})
    frame = pl.concat([frame] * 5)
    write = {"parquet": "write_parquet", "jsonl": "write_ndjson"}[format]
    try:
        getattr(frame, write)(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        pytest.skip(f"polars does not write it as {format}")
    every_command(unitless, tmp_path, path, "y")
    (tmp_path / "other").mkdir()
    every_command(unitless, tmp_path / "other", path, name)


@pytest.mark.parametrize("format", FORMATS)
def test_files_at_random(unitless, tmp_path, format):
    for seed in range(6):
        rng = random.Random(f"commands {format} {seed}")
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = folder / f"a.{'svm' if format == 'svmlight' else format}"
        path.write_bytes(made(rng, format))
        every_command(unitless, folder, path, rng.choice(["a", "x", "c1", "label"]))
