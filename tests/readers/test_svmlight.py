"""svmlight text against its plain twin, scikit-learn's loader and a list of broken lines."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from readers.naive import read, sparse_rows, svmlight_line
from unitless.readers import ReadError, open_blocks

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**9), 10**9).map(str),
    st.sampled_from(["0", "1", "-1", "+1", ".5", "5.", "1e5", "nan", "NaN", "1e-400"]),
)


@st.composite
def svmlight_files(draw):
    """Lines, good ones only."""
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        if draw(st.integers(0, 5)) == 0:
            lines.append(draw(st.sampled_from(["", "# comment 1:2", "  ", "\t", "#"])))
            continue
        indices = sorted(draw(st.sets(st.integers(0, 10**7), max_size=8)))
        query = draw(st.sampled_from(["", "", " qid:3"]))
        gap = draw(st.sampled_from([" ", "  ", "\t"]))
        values = "".join(f"{gap}{index}:{draw(NUMBERS)}" for index in indices)
        end = draw(st.sampled_from(["", " ", " # end", "#end"]))
        lines.append(draw(NUMBERS) + query + values + end)
    return lines


def assert_equal_rows(found, wanted):
    """Labels, weights and values, to the bit but for NaN."""
    assert len(found) == len(wanted)
    for (label, weight, values), (wanted_label, wanted_weight, wanted_values) in zip(
        found, wanted, strict=True
    ):
        np.testing.assert_array_equal([label, weight], [wanted_label, wanted_weight])
        assert values.keys() == wanted_values.keys()
        np.testing.assert_array_equal(list(values.values()), [wanted_values[key] for key in values])


@settings(max_examples=200)
@given(svmlight_files(), st.sampled_from(["\n", "\r\n"]), st.integers(1, 200))
def test_twin(lines, newline, block_bytes):
    rows = [row for row in map(svmlight_line, lines) if row is not None]
    data = newline.join(lines).encode()
    if not rows:
        with pytest.raises(ReadError, match="no rows"):
            read(data, format="svmlight")
        return
    found = sparse_rows(read(data, format="svmlight", block_bytes=block_bytes))
    assert_equal_rows(found, [(label, 1.0, values) for label, values in rows])


@settings(max_examples=100)
@given(st.integers(0, 2**32), st.booleans())
def test_scikit_learn(seed, comments):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 30)) * (rng.random((20, 30)) < 0.3) * 10.0 ** rng.integers(-9, 9)
    file = io.BytesIO()
    dump_svmlight_file(X, rng.integers(0, 3, 20), file, comment="made" if comments else None)
    compare_with_scikit_learn(file.getvalue())


def compare_with_scikit_learn(data):
    X, y = load_svmlight_file(io.BytesIO(data), zero_based=True)
    blocks = read(data, format="svmlight")
    assert sum(map(len, blocks)) == len(y)
    values = np.concatenate([block.rows.values for block in blocks])
    indices = np.concatenate([block.rows.indices for block in blocks])
    labels = np.concatenate([block.rows.targets for block in blocks])
    np.testing.assert_array_equal(values, X.data)
    np.testing.assert_array_equal(indices, X.indices)
    np.testing.assert_array_equal(labels, y)
    assert blocks[-1].rows.columns == X.shape[1]


def test_real_file(shared_data):
    compare_with_scikit_learn((shared_data / "raw" / "a9a.libsvm").read_bytes())


@pytest.mark.parametrize(
    ("line", "column", "text", "why"),
    [
        ("x 1:2", 1, "x", "label"),
        ("1,2 3:4", 1, "1,2", "one number"),
        ("1:2 3:4", 1, "1:2", "label"),
        (":1 3:4", 1, ":1", "label"),
        ("1 2", 3, "2", "index:value"),
        ("1 2:3 4", 7, "4", "index:value"),
        ("1 a:3", 3, "a:3", "whole indices"),
        ("1 -2:3", 3, "-2:3", "whole indices"),
        ("1 2.5:3", 3, "2.5:3", "whole indices"),
        ("1 :3", 3, ":3", "whole indices"),
        ("1 2:", 5, "", "number"),
        ("1 2:x", 5, "x", "number"),
        ("1 2:1_0", 5, "1_0", "number"),
        ("1 2:3:4", 3, "2:3:4", "index:value"),
        ("1 2:inf", 5, "inf", "finite"),
        ("1 2:1e999", 5, "1e999", "finite"),
        ("inf 2:1", 1, "inf", "finite"),
        ("1 3:1 2:1", 7, "2:1", "rise"),
        ("1 3:1 3:1", 7, "3:1", "rise"),
        ("1 2147483647:1", 3, "2147483647:1", "at most"),
        ("1 99999999999999999999:1", 3, "99999999999999999999:1", "at most"),
        ("1 qid:x 2:1", 3, "qid:x", "whole indices"),
        ("1 2:3\x01 4:5", 6, "\x01", "control"),
        ("1 2:3\r 4:5", 6, "\r", "control"),
    ],
)
def test_bad_lines(line, column, text, why):
    data = f"1 1:1\n\n{line}\n1 2:2\n".encode()
    with pytest.raises(ReadError, match=why) as caught:
        read(data, format="svmlight")
    error = caught.value
    assert (error.line, error.column, error.text) == (3, column, text)
    blocks = read(data, format="svmlight", skip_bad=1)
    assert sparse_rows(blocks) == [(1.0, 1.0, {1: 1.0}), (1.0, 1.0, {2: 2.0})]
    assert blocks[-1].position.skipped == 1
    assert np.concatenate([block.lines for block in blocks]).tolist() == [1, 4]


def test_more_bad_lines_than_allowed():
    data = b"1 1:1\nx\n1 2:2\n\ny\n1 3:3\nz\n"
    for allowed, line in ((0, 2), (1, 5), (2, 7)):
        with pytest.raises(ReadError) as caught:
            read(data, format="svmlight", skip_bad=allowed)
        assert caught.value.line == line
    assert len(sparse_rows(read(data, format="svmlight", skip_bad=3))) == 3


def test_index_is_column_and_columns_never_fall():
    data = b"1 0:1\n1 7:1\n1 3:1\n"
    blocks = read(data, format="svmlight", block_bytes=6)
    assert [block.rows.columns for block in blocks] == [1, 8, 8]


def test_numbers_of_many_digits_are_left_to_python():
    digits = "0.1000000000000000055511151231257827021181583404541015625"
    ((label, _, values),) = sparse_rows(read(f"{digits} 1:{digits}".encode(), format="svmlight"))
    assert label == values[1] == float(digits)


def test_from_a_file_by_its_name(tmp_path):
    path = tmp_path / "small.libsvm"
    path.write_bytes(b"-1 2:3\n")
    (block,) = open_blocks(path)
    assert (block.position.offset, block.done) == (7, 1.0)
