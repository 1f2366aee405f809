"""Several files as one stream: which files, in which order, and resuming inside any of them."""

import io
import json

import polars as pl
import pytest

from readers.test_blocks import BYTES, FILES, each_format, flat_weights, rows, write_arrow
from unitless.readers import FORMATS, ReadError, open_blocks
from unitless.readers.files import expanded

COUNT = 3


def pieces(format):
    """The rows of one file as three files; each CSV file has the header."""
    if format in ("parquet", "arrow"):
        stored = io.BytesIO(FILES[format])
        frame = pl.read_parquet(stored) if format == "parquet" else pl.read_ipc(stored)
        for k in range(COUNT):
            part, file = frame[40 * k : 40 * (k + 1)], io.BytesIO()
            part.write_parquet(file) if format == "parquet" else write_arrow(part, file, 15)
            yield file.getvalue()
        return
    whole = FILES[format].decode()
    head = whole.partition("\n")[0] + "\n" if format in ("csv", "tsv") else ""
    lines = whole.removeprefix(head).split("\n")
    quotes = [line.count('"') % 2 for line in lines]
    outside = [k for k in range(50, len(lines)) if sum(quotes[:k]) % 2 == 0]
    cuts = [0, outside[0], outside[1], len(lines)]  # none of them inside a quoted cell
    for k in range(COUNT):
        yield (head + "\n".join(lines[cuts[k] : cuts[k + 1]])).encode()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder of three files for each format."""
    base = tmp_path_factory.mktemp("several")
    for format in FORMATS:
        (base / format).mkdir()
        for k, data in enumerate(pieces(format)):
            (base / format / f"{k}.{format}").write_bytes(data)
    return base


def opened(folder, **options):
    options = {"skip_bad": 1, "block_bytes": BYTES.get(folder.name, 600), **options}
    return open_blocks(folder, format=folder.name, **options)


def contents(found):
    return [row for _, row in flat_weights(found)]


@each_format
@pytest.mark.parametrize("read_ahead", [True, False])
def test_files_are_one_stream(folders, format, read_ahead):
    wanted = open_blocks(io.BytesIO(FILES[format]), format=format, skip_bad=1)
    blocks = list(opened(folders / format, read_ahead=read_ahead))
    assert contents(rows(blocks)) == contents(rows(wanted))
    assert [block.position.rows for block in blocks][-1] == 120
    assert blocks[-1].position.skipped == (format not in ("parquet", "arrow"))
    files = [str(folders / format / f"{k}.{format}") for k in range(COUNT)]
    assert [*dict.fromkeys(block.file for block in blocks)] == files
    assert blocks[-1].position.files == tuple(files)
    done = [block.done for block in blocks]
    assert done == sorted(done)
    assert done[-1] == 1


@each_format
def test_resumed_at_any_row_of_any_file(folders, format):
    blocks = list(opened(folders / format, read_ahead=False))
    whole = flat_weights(rows(blocks))
    seen = 0
    for k, block in enumerate(blocks):
        names = [name for past in blocks[: k + 1] for name in past.new_names]
        for row in {0, 1, len(block) // 2, len(block)}:
            place = json.loads(json.dumps(block.position_at(row).as_json()))
            rest = opened(folders / format, resume=place, names=names, read_ahead=False)
            assert flat_weights(rows(rest)) == whole[seen + row :]
        seen += len(block)


def test_types_are_those_of_the_first_file(tmp_path):
    """Also where reading continues inside the first block of a later file."""
    (tmp_path / "a.csv").write_text("x,word\n1,5\n2,b\n")
    (tmp_path / "b.csv").write_text("word,x\n6,3\n7,4\n")
    a, b = open_blocks(tmp_path)
    assert b.frame.rows(named=True) == [{"word": "6", "x": 3.0}, {"word": "7", "x": 4.0}]
    (rest,) = open_blocks(tmp_path, resume=b.position_at(1))
    assert rest.frame.rows(named=True) == [{"word": "7", "x": 4.0}]
    assert a.file.endswith("a.csv")


def test_the_file_of_a_problem_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,5\n")
    (tmp_path / "b.csv").write_text("x,y\n1,5\n1\n")
    with pytest.raises(ReadError, match=r"b\.csv, line 3: 2 fields were expected"):
        list(open_blocks(tmp_path))
    (tmp_path / "b.csv").write_text("x,z\n1,5\n")
    with pytest.raises(ReadError, match=r"b\.csv: there is no column 'y'"):
        list(open_blocks(tmp_path))


def test_files_without_rows(tmp_path):
    for k in range(3):
        (tmp_path / f"{k}.csv").write_text("x,y\n" + "1,2\n" * (k == 1))
    (block,) = open_blocks(tmp_path)
    assert block.frame.rows() == [(1, 2)]
    with pytest.raises(ReadError, match="no rows in these files"):
        list(open_blocks([tmp_path / "0.csv", tmp_path / "2.csv"]))


def test_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b/2.csv", "b/1.csv", "b/_log/x.csv", "b/.x.csv", "a[1].csv", "c2.csv", "c1.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n1\n")
    assert expanded(["c*.csv", "b", "a[1].csv"]) == [
        "c1.csv",
        "c2.csv",
        "b/1.csv",
        "b/2.csv",
        "a[1].csv",
    ]
    for nothing, why in [("d*.csv", "no files in it"), ("d.csv", "no such file or folder")]:
        with pytest.raises(FileNotFoundError, match=why):
            expanded(nothing)


def test_a_folder_of_mixed_files(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.jsonl").write_text('{"x": 1}\n')
    with pytest.raises(ValueError, match=r"a\.csv is csv and .*b\.jsonl is jsonl.*use a pattern"):
        open_blocks(tmp_path)
