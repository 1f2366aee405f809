"""JSON lines: flattening, kinds, absent and null, and what broken lines are told."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from readers.naive import read
from unitless.readers import ReadError, jsonl


def rows(data, **options):
    """The rows as dicts; nulls left out."""
    data = data if isinstance(data, bytes) else data.encode()
    blocks = read(data, format="jsonl", **options)
    assert all(len(block) == block.frame.height for block in blocks)
    found = [row for block in blocks for row in block.frame.rows(named=True)]
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def test_inner_objects_are_flattened():
    text = '{"a": {"b": 1, "c": {"d": "x"}}, "e": true}\n{"a": {"b": 2.5}}\n'
    assert rows(text) == [{"a.b": 1.0, "a.c.d": "x", "e": True}, {"a.b": 2.5, "e": False}]


@pytest.mark.parametrize("empty", ["{}", "{ }", '{"b": {}}'])
def test_a_number_beside_an_object_without_members(empty):
    """polars before 2.0 drops it."""
    assert rows(f'{{"x": 1, "a": {empty}}}\n{{"x": 1, "a": 5}}\n')[1] == {"x": 1.0, "a": 5.0}


@pytest.mark.parametrize("odd", ["", '{"a": "5"}\n'])  # a line that polars is not asked about
def test_absent_is_zero_and_null_is_missing(odd):
    text = '{"a": 1, "s": "x", "b": true}\n{"s": null}\n{"a": null, "b": null}\n' + odd
    absent, null = rows(text, coerce=True, types={"a": "number"})[1:3]
    assert absent == {"a": 0.0, "b": False}
    assert null == {}


@pytest.mark.parametrize("odd", ["", '{"y": 5, "w": 1, "x": "5"}\n'])
def test_an_absent_label_is_missing(odd):
    text = '{"y": 1, "w": 2, "x": 3}\n{"w": 0}\n{"y": null, "w": 1}\n{"y": 4, "x": 1}\n' + odd
    options = {"target": "y", "weight": "w", "coerce": True, "types": {"x": "number"}}
    (block,) = read(text.encode(), format="jsonl", skip_bad=1, **options)
    np.testing.assert_array_equal(block.targets[:3], [1, np.nan, np.nan])
    assert block.weights[:3].tolist() == [2, 0, 1]
    assert block.frame["x"].to_list()[:3] == [3, 0, 0]
    assert block.position["skipped"] == 1
    with pytest.raises(ReadError, match="importance") as caught:
        read(text.encode(), format="jsonl", **options)
    assert (caught.value.line, caught.value.column) == (4, "w")


def test_labels_that_stay_in_the_frame():
    text = b'{"y": 1, "x": 3}\n{"x": 0}\n{"y": 4}\n'
    (block,) = read(text, format="jsonl", labels=["y"])
    assert block.frame.rows() == [(1, 3), (None, 0), (4, 0)]


def test_columns_appear():
    text = b'{"a": 1}\n{"b": "x"}\n{"c": {"d": 2}}\n'
    blocks = read(text, format="jsonl", block_bytes=10)
    assert [block.frame.columns for block in blocks] == [["a"], ["a", "b"], ["a", "b", "c.d"]]
    assert blocks[-1].position["columns"] == {"a": "number", "b": "string", "c.d": "number"}


def test_kinds():
    frame = read(b'{"i": 1, "f": 1.5, "s": "1", "b": false, "n": null}\n', format="jsonl")[0].frame
    number = pl.Float64
    assert frame.schema == {"i": number, "f": number, "s": pl.String, "b": pl.Boolean, "n": number}


def test_numbers_in_a_column_of_strings():
    text = '{"a": "x"}\n{"a": 5}\n{"a": 5.5}\n{"a": true}\n'
    for block_bytes in (1 << 20, 10):
        assert [row["a"] for row in rows(text, block_bytes=block_bytes)] == [
            "x",
            "5",
            "5.5",
            "true",
        ]


def test_empty_lines_and_line_ends():
    blocks = read(b'\n{"a": 1}\r\n\r\n  {"a": 2}', format="jsonl")
    assert blocks[0].frame.rows() == [(1.0,), (2.0,)]
    assert blocks[0].lines.tolist() == [2, 4]


@pytest.mark.parametrize(
    ("line", "column", "why"),
    [
        ("x", None, "no JSON object"),
        ('{"a": 2', None, "no JSON object"),
        ('{"a": 2} x', None, "no JSON object"),
        ('{"a": 2}{"a": 3}', None, "no JSON object"),
        ("[1]", None, "an object"),
        ("5", None, "an object"),
        ("{}", None, "an object"),
        ('{"a": {}}', None, "an object"),
        ('{"a": [1]}', "a", "was expected"),
        ('{"z": [1]}', "z", "was expected"),
        ('{"a": "x"}', "a", "a number was expected"),
        ('{"a": true}', "a", "a number was expected"),
        ('{"b": 1}', "b", "a boolean was expected"),
        ('{"a": 1e999}', "a", "finite"),
        ('{"a": -Infinity}', "a", "finite"),
        ('{"a": 1' + "0" * 400 + "}", "a", "finite"),
        ('{"z": "\\ud800"}', "z", "was expected"),
        ('{"a.c": 1, "a": {"c": 2}}', "a.c", "twice"),
        ('{"a": 1, "a": 2}', "a", "key comes twice"),
        ('{"z": {"b": 1}, "z": {"c": 2}}', "z", "key comes twice"),
        ('{"z": {"b": 1, "b": 1}}', "b", "key comes twice"),
        ('{"a":' * 70 + "1" + "}" * 70, None, "nested"),
        ('{"a":' * 700 + "1" + "}" * 700, None, "."),
        ('{"a":' * 99999, None, "."),
        ('{"a": ' + "[" * 99999, None, "."),
    ],
)
@pytest.mark.parametrize("block_bytes", [1 << 20, 24])
def test_bad_lines(line, column, why, block_bytes):
    data = f'{{"a": 1, "b": true}}\n\n{line}\n{{"a": 2}}\n'.encode()
    options = {"format": "jsonl", "block_bytes": block_bytes}
    options["types"] = {"a": "number"}
    with pytest.raises(ReadError, match=why) as caught:
        read(data, **options)
    assert (caught.value.line, caught.value.column) == (3, column)
    blocks = read(data, skip_bad=1, **options)
    assert [value for block in blocks for value in block.frame["a"].to_list()] == [1.0, 2.0]
    assert [line for block in blocks for line in block.lines.tolist()] == [1, 4]
    assert blocks[-1].position["skipped"] == 1


def test_coerced():
    text = b'{"a": 1, "b": "x"}\n{"a": "y", "b": 2}\n{"a": Infinity}\n'
    (block,) = read(text, format="jsonl", coerce=True, types={"a": "number"})
    assert block.position["coerced"] == 2
    np.testing.assert_array_equal(block.frame["a"].to_numpy(), [1, np.nan, np.nan])


def test_bad_bytes():
    with pytest.raises(ReadError, match="UTF-8") as caught:
        rows(b'{"a": "x"}\n{"a": "\xff"}\n')
    assert caught.value.line == 2


@pytest.mark.parametrize("data", [b"", b"\n \n"])
def test_no_rows(data):
    with pytest.raises(ReadError, match="no rows"):
        rows(data)


SCALARS = st.one_of(
    st.none(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**60), 2**60)
)
OBJECTS = st.dictionaries(
    st.sampled_from(["a", "b", "é", "long name"]),
    SCALARS | st.dictionaries(st.sampled_from("xy"), SCALARS, max_size=2),
    min_size=1,
)


@settings(max_examples=200)
@given(st.lists(OBJECTS, min_size=1, max_size=6), st.booleans(), st.integers(1, 200))
def test_python_reads_the_same(objects, escaped, block_bytes):
    lines = [json.dumps(one, ensure_ascii=escaped) for one in objects]
    flat = [flattened(one) for one in objects]
    keep = [bool(one) for one in flat]
    data = "\n".join(line for line, kept in zip(lines, keep, strict=True) if kept).encode()
    if not data:
        return
    wanted = [one for one in flat if one]
    for found, row in zip(rows(data, block_bytes=block_bytes), wanted, strict=True):
        for name, value in row.items():
            if value is not None:
                assert found.pop(name) == float(value)
            else:
                assert name not in found
        assert set(found.values()) <= {0.0}


def flattened(one, outer=""):
    flat = {}
    for name, value in one.items():
        if isinstance(value, dict):
            flat |= flattened(value, f"{outer}{name}.")
        else:
            flat[outer + name] = value
    return flat


@pytest.mark.parametrize("text", ['{"": 1, "column_0": 2}', '{"column_0": 2, "": 1}'])
def test_a_name_that_is_empty(text):
    """polars would call it column_0."""
    found = rows(f'{{"b": 5}}\n{text}\n{{"": 7}}\n')
    assert found == [
        {"b": 5.0, "": 0.0, "column_0": 0.0},
        {"b": 0.0, "": 1.0, "column_0": 2.0},
        {"b": 0.0, "": 7.0, "column_0": 0.0},
    ]


TYPED = st.one_of(
    st.none(),
    st.booleans(),
    st.text('ab"\\\u00e9{[:,nt', max_size=4),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
)


@example([{"a": ""}, {"a": {"x": ""}}])
@settings(max_examples=300)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(["a", "b", "", "c.d"]),
            TYPED | st.dictionaries(st.sampled_from("xy"), TYPED, max_size=2),
            max_size=4,
        ),
        min_size=1,
        max_size=6,
    )
)
def test_all_lines_at_once_or_one_by_one(objects):
    """Whatever polars makes of a block, it is taken only if it is what `json` makes of it."""
    data = "".join(json.dumps(one) + "\n" for one in objects).encode()
    quick = jsonl._Lines(data, 1, {}, ())
    table = quick.quick()
    if table is not None:
        slow = jsonl._Lines(data, 1, {}, ())
        wanted = slow.careful(coerce=False)
        assert quick.kinds == slow.kinds
        assert table.frame.equals(wanted.frame)
        assert not wanted.bad
