"""Files with values at the edges, each compared with the reader of another library.

A reader gives every cell as the other one does, or refuses the file or the line.
"""

import csv
import datetime
import io
import json
import math
import random
from decimal import Decimal

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
from sklearn.datasets import load_svmlight_file

from unitless.readers import ReadError, open_blocks

MARK = "\ufeff"
NUMBERS = [
    "0",
    "-0.0",
    "1e300",
    "-4.9e-324",
    "9007199254740993",
    "0.1",
    " 7 ",
    "1.7976931348623157e308",
]
WORDS = ["a", "", " ", MARK, f"{MARK}1", "x\ry", "é", "NA", '"', "a b", "^", "*", "#"]
MISSING = {"", "NA"}


def read(data, format, **options):
    """The blocks, or None if the file is refused."""
    try:
        return list(open_blocks(io.BytesIO(data), format=format, read_ahead=False, **options))
    except ReadError as error:
        assert error.file == "the stream"  # noqa: PT017
        return None


def compare_csv(rng):
    """With Python's csv; the kinds of columns are given, so that every cell has one meaning."""
    names = ["n", "s", "t"]
    pools = [[*NUMBERS, "abc", "", "NA"], [*WORDS, "1\r", "\r1"], WORDS + NUMBERS]
    rows = [[rng.choice(pool) for pool in pools] for _ in range(rng.randrange(1, 8))]
    out = io.StringIO()
    options = {
        "delimiter": rng.choice(",;\t"),
        "quoting": rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    }
    csv.writer(out, lineterminator=rng.choice(["\n", "\r\n"]), **options).writerows([names, *rows])
    types = {"n": "number", "s": "string", "t": "string"}
    blocks = read(
        out.getvalue().encode(), "csv", separator=options["delimiter"], quote='"', types=types
    )
    assert blocks is not None
    found = [row for block in blocks for row in block.frame.rows()]
    assert len(found) == len(rows)
    for (number, *texts), (cell, *others) in zip(found, rows, strict=True):
        if cell in ("abc", "", "NA"):
            assert number is None
        else:
            assert number == float(cell)
        for text, other in zip(texts, others, strict=True):
            assert text == other or (text is None and other.strip() in MISSING)
    return True


JSON_VALUES = ["1", "-2.5e300", "9007199254740993", '"x"', '"\ufeff"', "true", "null", '""']


def random_json(rng, depth=0):
    """A JSON value as text: objects may name a key twice, or with an empty name."""
    kind = rng.random()
    if kind < 0.3 and depth < 3:
        keys = [rng.choice(["a", "b", "", "a.b", "column_0"]) for _ in range(rng.randrange(4))]
        members = ", ".join(f"{json.dumps(key)}: {random_json(rng, depth + 1)}" for key in keys)
        return f"{{{members}}}"
    if kind < 0.45:
        members = ", ".join(random_json(rng, depth + 2) for _ in range(rng.randrange(4)))
        return f"[{members}]"
    return rng.choice(JSON_VALUES)


class Refused(ValueError):
    """An object that no table can hold."""


def unique(pairs):
    if len(dict(pairs)) < len(pairs):
        raise Refused
    return dict(pairs)


def flattened(value, name=None):
    """The cells of an object, from the description of the format."""
    if isinstance(value, dict):
        cells = [
            cell
            for key in value
            for cell in flattened(value[key], key if name is None else f"{name}.{key}")
        ]
    elif isinstance(value, list):
        if any(isinstance(each, list | dict) for each in value):
            raise Refused
        if any(isinstance(each, str) for each in value):
            cells = [(name, [each for each in value if each is not None])]
        else:
            cells = [(f"{name}.{k}", each) for k, each in enumerate(value)]
    else:
        cells = [(name, value)]
    if len({name for name, _ in cells}) < len(cells):
        raise Refused
    return cells


def compare_jsonl(rng):
    """With Python's json: a line that it refuses, or that no table can hold, is bad."""
    lines = [f'{{"id": {k}, "v": {random_json(rng)}}}' for k in range(rng.randrange(1, 6))]
    data = "\n".join(lines) if rng.random() < 0.5 else f"[{', '.join(lines)}]"
    size = rng.choice([20, 1 << 20])
    blocks = read(data.encode(), "jsonl", skip_bad=1000, strict=True, block_bytes=size)
    found = {row["id"]: row for block in blocks or () for row in block.frame.rows(named=True)}
    for k, line in enumerate(lines):
        try:
            wanted = flattened(json.loads(line, object_pairs_hook=unique))
        except Refused:
            assert k not in found
            continue
        for name, value in wanted if k in found else ():  # of another kind than earlier ones: bad
            cell = found[k].get(name)
            if isinstance(cell, list):
                listed = value if isinstance(value, list) else [value]
                assert cell == [each if isinstance(each, str) else as_text(each) for each in listed]
            elif isinstance(cell, str):
                assert cell == (value if isinstance(value, str) else as_text(value))
            elif cell is None:  # a text in a column of numbers that means a missing value
                assert value is None or value in MISSING
            else:
                assert cell == value or float(cell) == float(value)
    return bool(found)


def as_text(value):
    """A number or boolean in a column of strings."""
    is_whole = (
        isinstance(value, int | float) and not isinstance(value, bool) and value == int(value)
    )
    return str(int(float(value))) if is_whole else json.dumps(value)


def random_column(rng, rows, depth=0):
    """An Arrow column with values from the ends of its type."""
    kind = rng.randrange(10 if depth < 2 else 9)
    if kind == 9:
        names = rng.sample(["a", "b", "a.b", ""], 2)
        return pa.StructArray.from_arrays(
            [random_column(rng, rows, depth + 1) for _ in names], names
        )
    small, large = pa.int32(), pa.int64()
    ends = [0, 1, -1, 86_399, 86_400, 2**31 - 1, -(2**31), 2_932_896, 2_932_897, -719_162, -719_163]
    wide = [*ends, 2**62, -(2**62), 253_402_300_799 * 10**3, 4_102_444_800]
    integer, dtype, pool = [
        (small, pa.date32(), ends),
        (small, pa.time32(rng.choice(["s", "ms"])), ends),
        (large, pa.time64(rng.choice(["us", "ns"])), wide),
        (large, pa.timestamp("s"), wide),
        (large, pa.timestamp(rng.choice(["ms", "us", "ns"])), wide),
        (large, pa.timestamp("s", "America/New_York"), wide),
        (large, large, wide),
        (None, pa.decimal128(38, 3), [Decimal("1e30"), Decimal("-0.001"), Decimal(0)]),
        (None, pa.string(), WORDS),
    ][kind]
    cells = [rng.choice([*pool, None]) for _ in range(rows)]
    return pa.array(cells, dtype) if integer is None else pa.array(cells, integer).view(dtype)


def leaves(value, name):
    """The cells of a member, by name; of a missing object its members are missing."""
    if isinstance(value, dict):
        return {k: v for key in value for k, v in leaves(value[key], f"{name}.{key}").items()}
    return {name: value}


def is_same(found, cell):
    if found is None or cell is None:
        return found is cell
    if isinstance(cell, datetime.date):
        one, other = (datetime.datetime.fromisoformat(str(each)[:26]) for each in (found, cell))
        return one.replace(tzinfo=None) == other.replace(tzinfo=None)
    return found == (cell if isinstance(cell, str) else float(cell))


def compare_stored(rng, format):
    """With pyarrow; a date that Python does not have is refused by both."""
    rows = rng.randrange(1, 4)
    names = rng.sample(["a", "b", "a.b", "", "*", "^a$"], rng.randrange(1, 4))
    table = pa.table([random_column(rng, rows) for _ in names], names=names)
    file = io.BytesIO()
    if format == "parquet":
        try:
            pyarrow.parquet.write_table(table, file)
        except pa.ArrowInvalid:  # a time that its writer cannot store
            return False
    else:
        with pyarrow.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    blocks = read(file.getvalue(), format)
    if blocks is None:
        return False
    found = [row for block in blocks for row in block.frame.rows(named=True)]
    assert len(found) == rows
    for row, whole in zip(found, table.to_pylist(), strict=True):
        for name, value in whole.items():
            for inner, cell in leaves(value, name).items():
                assert is_same(row.get(inner), cell), (inner, row.get(inner), cell)
    return True


def compare_svmlight(rng):
    """With scikit-learn, to the bit."""
    lines = []
    for _ in range(rng.randrange(1, 6)):
        indices = sorted(rng.sample(range(1, 40), rng.randrange(5)))
        values = [
            rng.choice([*NUMBERS, repr(rng.gauss(0, 1) * 10.0 ** rng.randrange(-300, 300))])
            for _ in indices
        ]
        cells = [f"{index}:{value.strip()}" for index, value in zip(indices, values, strict=True)]
        lines.append(" ".join([rng.choice(["1", "-1", "2.5"]), *cells]) + rng.choice(["", " # x"]))
    data = "\n".join(lines).encode()
    (block,) = read(data, "svmlight")
    X, y = load_svmlight_file(io.BytesIO(data), zero_based=True)
    rows = block.rows
    assert rows.targets.tolist() == y.tolist()
    assert (rows.indices.tolist(), rows.starts.tolist()) == (X.indices.tolist(), X.indptr.tolist())
    for one, other in zip(rows.values.tolist(), X.data.tolist(), strict=True):
        assert (one, math.copysign(1, one)) == (other, math.copysign(1, other))
    return True


WESTERN = ["größer", "Straße", "Málaga", "naïve", "façade", "Ærø", "señor", "être", "“quoted”"]
WESTERN += ["5", "€", "–", "it’s", "Zürich"]
ELSEWHERE = ["Москва", "東京", "Ελλάδα", "Łódź", "😀", "\u2028", "a\u0300"]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]


def compare_encodings(rng):
    """With Python's own codecs: a file in any of them, or of arbitrary bytes, without --encoding.

    What is detected must be right for real words; whatever it is, it is in the position, and all
    cells are those of the text in that encoding.
    """
    encoding = rng.choice([*ENCODINGS, "noise"])
    words = WESTERN if encoding in ("cp1252", "noise") else WESTERN + ELSEWHERE
    rows = [[" ".join(rng.choices(words, k=rng.randrange(1, 5))), str(k)] for k in range(20)]
    text = "".join(f"{';'.join(row)}\n" for row in [["Größe", "Stück"], *rows])
    if encoding == "noise":  # bytes from 128 on among ASCII
        letters = [chr(rng.randrange(0xA0, 0x100)) for _ in range(rng.randrange(1, 9))]
        data = "".join(rng.choice([each, *letters]) if each.isalpha() else each for each in text)
        data = data.encode("latin-1", "replace")
    else:
        data = text.encode(encoding)
    blocks = read(data, "csv", separator=";", quote=None, block_bytes=rng.choice([300, 1 << 20]))
    if blocks is None:
        assert encoding == "noise"  # bytes that no encoding has
        return False
    found = blocks[-1].position.encoding or "utf-8-sig"
    wanted = data.decode(found, "strict").splitlines() if encoding == "noise" else None
    cells = [row for block in blocks for row in block.frame.rows()]
    if wanted is None:
        assert [(cell, str(int(number))) for cell, number in cells] == [tuple(row) for row in rows]
    else:
        lines = "\n".join(wanted).split("\n")[1:]
        for (cell, _), line in zip(cells, lines, strict=True):
            assert cell is None or cell == line.partition(";")[0]
    return True


COMPARED = {
    "encodings": compare_encodings,
    "csv": compare_csv,
    "jsonl": compare_jsonl,
    "svmlight": compare_svmlight,
    "parquet": lambda rng: compare_stored(rng, "parquet"),
    "arrow": lambda rng: compare_stored(rng, "arrow"),
}


def compared(format, seed):
    """Whether a file, made of the seed, was read; an AssertionError if otherwise than there."""
    return COMPARED[format](random.Random(f"{format} {seed}"))
