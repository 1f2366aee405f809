"""JSON lines: flattening, kinds, absent and null, and what broken lines are told."""

import datetime
import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from readers.naive import read
from unitless.encoders import FrameEncoder
from unitless.readers import ReadError
from unitless.readers.blocks import OddCells


def rows(data, **options):
    """The rows as dicts; nulls left out."""
    data = data if isinstance(data, bytes) else data.encode()
    blocks = read(data, format="jsonl", **options)
    assert all(len(block) == block.frame.height for block in blocks)
    found = [row for block in blocks for row in block.frame.rows(named=True)]
    return [{name: value for name, value in row.items() if value is not None} for row in found]


def test_inner_objects_are_flattened():
    text = '{"a": {"b": 1, "c": {"d": "x"}}, "e": true}\n{"a": {"b": 2.5}}\n'
    assert rows(text) == [{"a.b": 1.0, "a.c.d": "x", "e": True}, {"a.b": 2.5}]


@pytest.mark.parametrize("empty", ["{}", "{ }", '{"b": {}}'])
def test_a_number_beside_an_object_without_members(empty):
    """polars before 2.0 drops it."""
    assert rows(f'{{"x": 1, "a": {empty}}}\n{{"x": 1, "a": 5}}\n')[1] == {"x": 1.0, "a": 5.0}


@pytest.mark.parametrize("odd", ["", '{"a": "5"}\n'])  # a line that polars is not asked about
def test_absent_is_missing_as_null_is(odd):
    text = '{"a": 1, "s": "x", "b": true}\n{"s": null}\n{"a": null, "b": null}\n' + odd
    assert rows(text, types={"a": "number"})[1:3] == [{}, {}]
    absent, null = rows(text, types={"a": "number"}, absent_zero=True)[1:3]
    assert absent == {"a": 0.0, "b": False}
    assert null == {}


@pytest.mark.parametrize("odd", ["", '{"y": 5, "w": 1, "x": "5"}\n'])
def test_an_absent_label_is_missing(odd):
    text = '{"y": 1, "w": 2, "x": 3}\n{"w": 0}\n{"y": null, "w": 1}\n{"y": 4, "x": 1}\n' + odd
    options = {"target": "y", "weight": "w", "types": {"x": "number"}}
    (block,) = read(text.encode(), format="jsonl", skip_bad=1, **options)
    np.testing.assert_array_equal(block.targets[:3], [1, np.nan, np.nan])
    assert block.weights[:3].tolist() == [2, 0, 1]
    assert block.frame["x"].to_list()[:3] == [3, None, None]
    assert block.position.skipped == 1
    with pytest.raises(ReadError, match="the weight is missing") as caught:
        read(text.encode(), format="jsonl", **options)
    assert (caught.value.line, caught.value.column) == (4, "w")


def test_columns_appear():
    text = b'{"a": 1}\n{"b": "x"}\n{"c": {"d": 2}}\n'
    blocks = read(text, format="jsonl", block_bytes=10)
    assert [block.frame.columns for block in blocks] == [["a"], ["a", "b"], ["a", "b", "c.d"]]
    assert blocks[-1].position.columns == {"a": "number", "b": "string", "c.d": "number"}


@pytest.mark.parametrize("before", ["{}", '{"late": null}'])
@pytest.mark.parametrize("late", ["2.5", "true", '"2024-01-31"'])
def test_a_column_begins_with_its_first_value(before, late):
    """Wherever blocks end: nulls before it are as if the name was absent."""
    lines = [before.replace("{", '{"a": 1, ').replace(", }", "}")] * 3
    lines += [f'{{"a": 2, "late": {late}}}', '{"a": 3}', '{"a": 4, "late": null}']
    text = "\n".join(lines).encode() + b"\n"
    found = []
    for block_bytes in (1 << 20, 10):
        encoder = FrameEncoder()
        matrices = []
        for block in read(text, format="jsonl", block_bytes=block_bytes):
            encoded = encoder.encode(block.frame, rows=len(block), first_rows=block.first_rows)
            encoder.commit(encoded)
            X = encoded.X if isinstance(encoded.X, np.ndarray) else encoded.X.toarray()
            matrices += [np.pad(row, (0, 9 - len(row))) for row in X]
        found.append((encoder.names, np.array(matrices)))
    (names, whole), (names_in_pieces, pieces) = found
    assert names == names_in_pieces
    np.testing.assert_array_equal(whole, pieces)
    assert whole[:3, 1].tolist() == [0, 0, 0]
    assert np.isnan(whole[4:, 1]).all()


def test_a_name_that_is_null_at_first_has_no_kind_yet():
    text = b'{"day": null}\n{"day": "2024-01-31"}\n'
    first, second = read(text, format="jsonl", block_bytes=10)
    assert first.position.columns == {"day": None}
    assert second.frame["day"].to_list() == [datetime.date(2024, 1, 31)]


def test_kinds():
    text = b'{"i": 1, "f": 1.5, "s": "x", "b": false, "n": null}\n'
    frame = read(text, format="jsonl")[0].frame
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
        ('{"a": ["x"]}', "a", "a number was expected"),
        ('{"z": [[1]]}', "z", "no lists or objects; to leave it out, use --ignore"),
        ('{"y": {"z": [1, {"a": 2}]}}', "y.z", "no lists or objects"),
        ('{"z": [1], "z.0": 2}', "z.0", "twice"),
        ('{"a": "x"}', "a", "a number was expected"),
        ('{"a": true}', "a", "a number was expected"),
        ('{"b": 1}', "b", "a boolean was expected"),
        ('{"a": 1e999}', "a", "finite"),
        ('{"a": -Infinity}', "a", "finite"),
        ('{"a": 1' + "0" * 400 + "}", "a", "finite"),
        ('{"z": "\\ud800"}', "z", "surrogate"),
        ('{"z": ["\\ud800"]}', "z", "surrogate"),
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
    options = {"format": "jsonl", "block_bytes": block_bytes, "strict": True}
    options["types"] = {"a": "number"}
    with pytest.raises(ReadError, match=why) as caught:
        read(data, **options)
    assert (caught.value.line, caught.value.column) == (3, column)
    blocks = read(data, skip_bad=1, **options)
    assert [value for block in blocks for value in block.frame["a"].to_list()] == [1.0, 2.0]
    assert [line for block in blocks for line in block.lines.tolist()] == [1, 4]
    assert blocks[-1].position.skipped == 1


def test_coerced():
    text = b'{"a": 1, "b": "x"}\n{"a": "y", "b": 2}\n{"a": Infinity}\n'
    (block,) = read(text, format="jsonl", types={"a": "number"})
    assert block.position.coerced == 2
    assert block.position.odd_cells == {"a": OddCells(2, 2, "y")}
    np.testing.assert_array_equal(block.frame["a"].to_numpy(), [1, np.nan, np.nan])


@pytest.mark.parametrize("block_bytes", [1 << 20, 400])
def test_odd_cells_are_missing_and_counted(block_bytes):
    """The rule of CSV: one text of 20 to 100 values, and those that mean a missing value."""
    values = [*range(30), "NA", "-", "abc", 33, *range(34, 60)]
    lines = "\n".join(json.dumps({"x": value, "y": value}) for value in values)
    blocks = read(lines.encode(), format="jsonl", target="y", block_bytes=block_bytes)
    found = [x for block in blocks for x in block.frame["x"].to_list()]
    assert found == [None if isinstance(value, str) else value for value in values]
    labels = np.concatenate([block.targets for block in blocks])
    assert np.isnan(labels).sum() == 3
    assert blocks[-1].position.odd_cells == {
        "x": OddCells(1, 33, "abc"),
        "y": OddCells(1, 33, "abc"),
    }
    with pytest.raises(ReadError, match="a number was expected") as caught:
        read(lines.encode(), format="jsonl", strict=True)
    assert caught.value.line == 33
    few = "\n".join(json.dumps({"x": value}) for value in [1, 2, "abc"]).encode()
    assert rows(few)[0] == {"x": "1"}


def test_bad_bytes():
    with pytest.raises(ReadError, match="UTF-8") as caught:
        rows(b'{"a": "x"}\n{"a": "\xff"}\n', encoding="utf-8")
    assert caught.value.line == 2


def test_dates():
    """ISO 8601 strings are dates, unless they are labels; later strings that are not are bad."""
    lines = [{"a": "2024-01-01", "b": "2024-01-01T10:00Z", "y": "2024-01-01"}, {"a": None}]
    data = "\n".join(map(json.dumps, [*lines, {"a": "2024-02-30"}])).encode()
    days = [datetime.date(2024, 1, 1), None]
    for size in (1 << 20, 5):
        blocks = read(data, format="jsonl", target="y", block_bytes=size, skip_bad=1, strict=True)
        frame = pl.concat([block.frame for block in blocks], how="diagonal")
        assert frame["a"].to_list() == (days if size == 5 else [str(days[0]), None, "2024-02-30"])
        assert frame["b"][0] == datetime.datetime(2024, 1, 1, 10)
        assert blocks[0].targets.tolist()[0] == "2024-01-01"
        assert blocks[-1].position.skipped == (size == 5)
    with pytest.raises(ReadError, match="a date was expected: '2024-02-30'") as caught:
        read(data, format="jsonl", block_bytes=5, strict=True)
    assert (caught.value.line, caught.value.column) == (3, "a")
    kept = read(data, format="jsonl", types={"a": "string"})
    assert kept[0].frame["a"].to_list() == ["2024-01-01", None, "2024-02-30"]


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
    assert found == [{"b": 5.0}, {"": 1.0, "column_0": 2.0}, {"": 7.0}]


def test_an_object_beside_strings_is_no_string():
    assert rows('{"a": "x"}\n{"a": {"b": "y"}}\n') == [{"a": "x"}, {"a.b": "y"}]


def test_lists():
    text = '{"tags": ["red", "hot"], "size": [1, null, true], "x": 1}\n{"tags": "cold"}\n'
    text += '{"tags": [], "size": [2]}\n{"tags": ["hot", 5, true, null, "hot"]}\n'
    for block_bytes in (1 << 20, 70):
        first, second, third, last = rows(text, block_bytes=block_bytes)
        assert first == {"tags": ["red", "hot"], "size.0": 1.0, "size.2": True, "x": 1.0}
        assert second == {"tags": ["cold"]}
        assert (third["size.0"], "tags" in third) == (2.0, False)
        assert last["tags"] == ["hot", "5", "true", "hot"]
    frame = read(text.encode(), format="jsonl")[0].frame
    assert frame.schema["tags"] == pl.List(pl.String)


def test_members_of_lists_are_features():
    encoder = FrameEncoder()
    text = b'{"tags": ["red", "hot", "red"]}\n{"x": 2}\n{"tags": ["hot", "new"]}\n'
    for block in read(text, format="jsonl", block_bytes=20):
        encoded = encoder.encode(block.frame)
        encoder.commit(encoded)
    assert encoder.names == ["tags=red", "tags=hot", "x", "tags=new"]
    assert encoder.kinds == {"tags": "list", "x": "number"}
    (block,) = read(text, format="jsonl")
    rows = encoder.encode(block.frame, grow=False).X
    wanted = [[1, 1, np.nan, 0], [0, 0, 2, 0], [0, 1, np.nan, 1]]
    np.testing.assert_array_equal(rows if isinstance(rows, np.ndarray) else rows.toarray(), wanted)
    assert FrameEncoder.from_state(encoder.state()).kinds == encoder.kinds
    with pytest.raises(ValueError, match=r"column 'tags': 'x' is a category, and .* holds lists"):
        encoder.encode(pl.DataFrame({"tags": ["x"]}))


def test_a_label_is_no_list():
    with pytest.raises(ReadError, match="a string was expected") as caught:
        read(b'{"y": "a"}\n{"y": ["a"]}\n', format="jsonl", target="y", strict=True)
    assert (caught.value.line, caught.value.column) == (2, "y")


def test_a_column_that_is_declared_a_string_takes_anything():
    text = '{"a": {"b": [[1]]}, "c": 1}\n{"a": [{"d": "é"}]}\n{"a": "x"}\n{"a": 5}\n'
    found = rows(text, types={"a": "string"})
    assert [row["a"] for row in found] == ['{"b": [[1]]}', '[{"d": "é"}]', "x", "5"]


ARRAYS = st.lists(OBJECTS, min_size=1, max_size=6)


@settings(max_examples=200)
@given(ARRAYS, st.sampled_from([None, 1]), st.integers(1, 200), st.booleans())
def test_an_array_is_read_like_lines(objects, indent, block_bytes, blank):
    objects = [one for one in objects if flattened(one)]
    if not objects:
        return
    lines = "\n".join(map(json.dumps, objects))
    array = "\n  " * blank + json.dumps(objects, indent=indent) + "\n" * blank
    found, wanted = rows(array, block_bytes=block_bytes), rows(lines)
    for one, other in zip(found, wanted, strict=True):  # a column may appear in a later block
        assert {k: v for k, v in one.items() if v} == {k: v for k, v in other.items() if v}


def test_arrays_are_resumed():
    objects = [{"x": k, "s": '}],"[', "t": ["a", "b"]} for k in range(40)]
    data = json.dumps(objects).encode()
    blocks = read(data, format="jsonl", block_bytes=200)
    assert len(blocks) > 5
    assert [line for block in blocks for line in block.lines.tolist()] == [*range(1, 41)]
    for block in blocks:
        for row in (1, len(block)):
            rest = read(data, format="jsonl", block_bytes=200, resume=block.position_at(row))
            found = [x for each in rest for x in each.frame["x"].to_list()]
            assert found == [*range(int(block.lines[0]) - 1 + row, 40)]


@pytest.mark.parametrize(
    ("text", "why", "line"),
    [
        ('[{"a": 1}, {"a": 2}', "the array does not end", None),
        ('[{"a": 1}, {"a": 2}, ', "the array does not end", None),
        ('[{"a": 1}, {"a": ', "the array does not end", None),
        ('[{"a": 1},]', "no JSON object", 2),
        ('[{"a": 1}, 5]', "an object with members", 2),
        ('[{"a": 1},, {"a": 1}]', "no JSON object", 2),
        ('[{"a": 1}] {"a": 2}', "no JSON object", 2),
        ('[{"a": 1}, {"a": [[1]]}]', "no lists or objects", 2),
        ("[]", "no rows", None),
        ("[", "does not end", None),
    ],
)
@pytest.mark.parametrize("block_bytes", [1 << 20, 3])
def test_bad_arrays(text, why, line, block_bytes):
    with pytest.raises(ReadError, match=why) as caught:
        read(text.encode(), format="jsonl", block_bytes=block_bytes)
    assert caught.value.line == line
