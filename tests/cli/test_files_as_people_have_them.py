"""Dates, European numbers, Windows encodings, text and identifiers: decided, told, remembered."""

import json

import numpy as np
import polars as pl
import pytest

from cli.material import written
from laws.streams import same_bits
from unitless import OnlineRegressor, load

ROWS = 300


@pytest.fixture
def hourly():
    """Counts that follow the hour of a timestamp."""
    rng = np.random.default_rng(0)
    start = np.datetime64("2024-01-01T00:00:00", "us")
    when = start + np.arange(ROWS) * np.timedelta64(3600, "s")
    temp = rng.normal(size=ROWS).round(3)
    count = 100.0 * np.sin(np.arange(ROWS) % 24) + temp
    return pl.DataFrame({"when": when, "temp": temp, "count": count})


def without_recent_labels(results):
    """The R² without recent labels, from which the hour could be guessed."""
    return (results["not_fresh"] or results["metrics"])["r2"]


def evaluated(unitless, path, *words):
    """The results, and the predictions."""
    page = path.with_suffix(".predictions")
    done = unitless("evaluate", path, *words, "--json", "--predictions", page)
    assert done.code == 0, done.err
    return json.loads(done.out), pl.read_csv(page)["prediction"].to_numpy()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet", "arrow"])
def test_a_file_with_dates_has_the_scores_of_its_frame(unitless, tmp_path, hourly, ending):
    """The same as `partial_fit` and `fit(shuffle=False)`; as categories, much worse."""
    frame = hourly.drop("count")
    wanted = OnlineRegressor(shuffle=False).fit(frame, hourly["count"].to_numpy()).progressive_
    path = tmp_path / f"hourly.{ending}"
    getattr(hourly, {"jsonl": "write_ndjson", "arrow": "write_ipc"}.get(ending, f"write_{ending}"))(
        path
    )
    results, found = evaluated(unitless, path, "-t", "count")
    same_bits(found, wanted)
    assert "columns: 1 numeric, 1 date (when)" in results["decisions"]
    as_category, _ = evaluated(unitless, path, "-t", "count", "--category", "when")
    assert "columns: 1 numeric, 1 categorical (when)" in as_category["decisions"]
    assert as_category["metrics"]["r2"] < results["metrics"]["r2"]
    assert without_recent_labels(as_category) < 0.5 < without_recent_labels(results)


def test_bike_hour(unitless, tmp_path, shared_data):
    """A timestamp instead of date and hour: R2 was 0.37 on the command line, 0.79 in Python."""
    raw = pl.read_csv(shared_data / "raw" / "bike_hour.csv", try_parse_dates=True)
    time = pl.col("dteday").cast(pl.Datetime) + pl.duration(hours="hr")
    frame = raw.select(time.alias("when"), "weathersit", "temp", "atemp", "hum", "windspeed", "cnt")
    path = written(tmp_path / "bike.csv", frame)
    results, found = evaluated(unitless, path, "-t", "cnt")
    model = OnlineRegressor(shuffle=False).fit(frame.drop("cnt"), frame["cnt"].to_numpy())
    same_bits(found, model.progressive_)
    assert results["metrics"]["r2"] > 0.75


def european(frame, path, encoding):
    """The frame as a European spreadsheet program saves it."""
    text = frame.select(
        pl.col("when").dt.strftime("%d.%m.%Y %H:%M").alias("Zeit"),
        pl.col("temp").cast(pl.String).str.replace(".", ",", literal=True).alias("Wärme"),
        pl.format("{} €", pl.col("count").map_elements(_german, pl.String)).alias("Umsatz"),
    )
    path.write_bytes(text.write_csv(separator=";").encode(encoding))
    return path


def _german(value):
    return f"{1000 * value:,.2f}".translate(str.maketrans(",.", ".,"))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "utf-16"])
def test_a_european_file_has_the_scores_of_the_plain_one(unitless, tmp_path, hourly, encoding):
    """Decimal commas, points between thousands, a currency, other dates, another encoding."""
    plain = hourly.with_columns((pl.col("count") * 1000).round(2))
    plain = plain.rename({"when": "Zeit", "temp": "Wärme", "count": "Umsatz"})
    data = written(tmp_path / "plain.csv", plain)
    path = european(hourly, tmp_path / "european.csv", encoding)
    dates = ("--date", "Zeit=%d.%m.%Y %H:%M")
    words = ("-t", "Umsatz", "-l", "coordinate")
    results, found = evaluated(unitless, path, *words, *dates, "--save", tmp_path / "m")
    _, wanted = evaluated(unitless, data, *words)
    same_bits(found, wanted)
    assert "separator: semicolon" in results["decisions"]
    told = "\n".join(results["decisions"])
    assert "written like 1234,5 in Wärme" in told
    assert "written like 1.234,5 € in Umsatz" in told
    assert "task: regression, because 'Umsatz' has numbers" in told
    assert ("encoding: Windows-1252" in told) == (encoding == "cp1252")
    # The model reads a later file in the same way, even if the file does not show how.
    last = path.read_bytes().decode(encoding).splitlines()
    short = tmp_path / "short.csv"
    for number in ("1,234", "7"):
        row = last[-1].split(";")
        short.write_bytes("\n".join([last[0], ";".join([row[0], number, row[2]])]).encode(encoding))
        once = tmp_path / "once.csv"
        value = float(number.replace(",", "."))
        time = pl.col("Zeit").dt.strftime("%d.%m.%Y %H:%M")
        plain.tail(1).with_columns(time, pl.lit(value).alias("Wärme")).write_csv(once)
        other = unitless("predict", tmp_path / "m", short)
        assert other.out == unitless("predict", tmp_path / "m", once).out, other.err


def test_signs_are_forced_or_forbidden(unitless, tmp_path):
    path = tmp_path / "sold.csv"
    path.write_text("sold\tx\n" + "".join(f'"{k},{k + 100}"\t{k % 7}\n' for k in range(1, 40)))
    words = ("-t", "sold", "-l", "zero")
    kinds = []
    for more in ((), ("--decimal", ","), ("--thousands", "none")):
        results, _ = evaluated(unitless, path, *words, *more, "--save", tmp_path / "m")
        kinds.append(load(tmp_path / "m").file.position.columns["sold"])
    assert kinds == ["number 1,234.5", "number 1234,5", "string"]
    assert results["task"] == "multiclass"
    done = unitless("evaluate", path, *words, "--decimal", ";")
    assert (done.code, "a point or a comma" in done.err) == (2, True)


def test_text_and_identifiers(unitless, tmp_path):
    rng = np.random.default_rng(1)
    words = np.array(["free", "win", "call", "home", "later", "today", "meeting", "money"])
    lines = []
    for k in range(200):
        chosen = rng.choice(words, 6)
        label = "spam" if "free" in chosen else "ham"
        lines.append(f"{k},u{k:05},{' '.join(chosen)} {k},{label}")
    path = tmp_path / "mail.csv"
    path.write_text("\n".join(["no,user,message,label", *lines]))
    results, _ = evaluated(unitless, path, "-t", "label")
    assert results["decisions"] == [
        "separator: comma",
        "columns: 1 numeric, 1 text (message)",
        "text: the words of message are counted (--category: whole cells)",
        "identifiers: user left out, because every row has another value "
        "(--identifier-as-feature keeps them)",
        "identifier: no counts the rows; --ignore no leaves it out",
        "task: binary, because 'label' has two values, 'ham' and 'spam'",
    ]
    without = ("-t", "label", "--ignore", "no", "--ignore", "user")
    counted, found = evaluated(unitless, path, *without)
    _, wanted = evaluated(unitless, path, *without, "--text", "message")
    assert found.tolist() == wanted.tolist()
    as_category, _ = evaluated(unitless, path, *without, "--category", "message")
    assert as_category["metrics"]["accuracy"] < 0.7 < counted["metrics"]["accuracy"]
    printed = unitless("evaluate", path, *without).out
    assert all(line in printed for line in counted["decisions"][:3])


def test_dates_of_other_formats(unitless, tmp_path, hourly):
    """They have the scores of ISO dates, are told, and a later file is read in the same way."""
    plain = written(tmp_path / "plain.csv", hourly)
    _, wanted = evaluated(unitless, plain, "-t", "count", "-l", "coordinate")
    spellings = {
        "%d.%m.%Y %H:%M": pl.col("when").dt.strftime("%d.%m.%Y %H:%M"),
        "%m/%d/%Y %I:%M %p": pl.col("when").dt.strftime("%m/%d/%Y %I:%M %p"),
        "%d-%b-%Y %H:%M:%S": pl.col("when").dt.strftime("%d-%b-%Y %H:%M:%S"),
        "seconds since 1970": pl.col("when").dt.epoch("s"),
    }
    for form, text in spellings.items():
        frame = hourly.with_columns(text.alias("when"))
        for ending in ("csv", "jsonl"):
            write = pl.DataFrame.write_csv if ending == "csv" else pl.DataFrame.write_ndjson
            path = tmp_path / f"other.{ending}"
            write(frame, path)
            words = ("-t", "count", "-l", "coordinate", "--save", tmp_path / "m")
            results, found = evaluated(unitless, path, *words)
            same_bits(found, wanted)
            told = f"dates: when, written as {form} (--category makes a column categorical)"
            assert told in results["decisions"]
            # Alone, the first row would not show whether the day comes first.
            once = tmp_path / f"once.{ending}"
            write(frame.head(1), once)
            predicted = unitless("predict", tmp_path / "m", path).out.splitlines()
            assert unitless("predict", tmp_path / "m", once).out.splitlines() == predicted[:2]
            first = frame["when"][0]
            done = unitless("explain", tmp_path / "m", f"when={first}", "temp=0")
            assert "when = 20" in done.out, done.err


@pytest.mark.parametrize("form", [None, "%d.%m.%Y %H:%M"])
def test_the_hint_for_dates_in_a_parquet_file(unitless, tmp_path, hourly, form):
    """Its strings keep their type; the option that the hint names reads them as dates."""
    plain, path = tmp_path / "plain.parquet", tmp_path / "text.parquet"
    hourly.write_parquet(plain)
    written = pl.col("when").dt.strftime(form or "%Y-%m-%d %H:%M")
    hourly.with_columns(written.alias("when")).write_parquet(path)
    words = ("-t", "count", "-l", "coordinate")
    results, _ = evaluated(unitless, path, *words)
    option = f"when={form}" if form else "when"
    shown = f"'{option}'" if form else option
    assert f"dates: when holds dates; --date {shown} reads them" in results["decisions"]
    _, found = evaluated(unitless, path, *words, "--date", option)
    same_bits(found, evaluated(unitless, plain, *words)[1])


def test_dates_that_leave_a_doubt_are_hinted_at(unitless, tmp_path):
    """The hint names the formats that fit, and each of them can be used."""
    path = tmp_path / "doubt.csv"
    days = [f"{k % 12 + 1:02}/{k % 11 + 1:02}/2021" for k in range(60)]
    path.write_text("day it,y\n" + "".join(f"{day},{k % 7}\n" for k, day in enumerate(days)))
    words = ("-t", "y", "-l", "zero")
    results, _ = evaluated(unitless, path, *words)
    assert "columns: 0 numeric, 1 categorical (day it)" in results["decisions"]
    hints = [line for line in results["decisions"] if line.startswith("dates:")]
    assert hints == [
        "dates: day it may be dates; --date 'day it=%d/%m/%Y' or --date 'day it=%m/%d/%Y' "
        "reads them"
    ]
    for form in ("%d/%m/%Y", "%m/%d/%Y"):
        results, _ = evaluated(unitless, path, *words, "--date", f"day it={form}")
        assert "columns: 0 numeric, 1 date (day it)" in results["decisions"]
    path.write_text("day,y\n" + "".join(f"{k}/{k}/{k},{k % 7}\n" for k in range(40, 99)))
    results, _ = evaluated(unitless, path, *words)
    assert not [line for line in results["decisions"] if line.startswith("dates:")]


def test_other_commands(unitless, tmp_path, hourly):
    """Resuming, `compare`, models by key and conversions read dates in the same way."""
    path = written(tmp_path / "hourly.csv", hourly.with_columns(key=pl.lit("a")))
    words = ("-t", "count", "-l", "coordinate", "--ignore", "key")
    evaluated(unitless, path, *words, "--save", tmp_path / "whole")
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:100]))
    unitless("fit", path, *words, "--save", tmp_path / "m")
    path.write_text("".join(lines))
    unitless("fit", path, "--resume", tmp_path / "m", "--save", tmp_path / "m")
    same = [unitless("predict", tmp_path / name, path).out for name in ("m", "whole")]
    assert same[0] == same[1]
    done = unitless("compare", path, *words[:2], "--ignore", "key", "--learners", "coordinate")
    assert done.code == 0, done.err
    done = unitless("fit", path, *words[:4], "--by-key", "key", "--save", tmp_path / "many")
    assert done.code == 0, done.err
    done = unitless("explain", tmp_path / "m", "when=2024-01-01T10:00", "temp=0")
    assert "when = 2024-01-01T10:00" in done.out, done.err
    done = unitless("convert", path, tmp_path / "back.parquet")
    assert done.code == 0, done.err
    assert pl.read_parquet(tmp_path / "back.parquet")["when"].equals(hourly["when"])


def test_a_date_format_that_fits_no_cell(unitless, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("when,y\n" + "31.01.2024,1\n01.02.2024,2\n" * 20)
    done = unitless("evaluate", path, "-t", "y", "--date", "when=%m/%d/%Y")
    assert done.code == 2
    assert "column 'when': no cell is a date of the form %m/%d/%Y: '31.01.2024'" in done.err
