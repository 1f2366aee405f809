"""`unitless compare` on files of several kinds."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from unitless.cli.app import app
from unitless.cli.reading import labelled_rows
from unitless.compare import compare
from unitless.rows import as_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2)).round(3)
Y = np.where(X[:, 0] + RNG.normal(size=60) > 0, 1.0, -1.0)
FEW = ["--learners", "nag, zero,ogd"]


def run(*arguments, status=0):
    result = CliRunner().invoke(app, ["compare", *map(str, arguments)])
    if status == 0 and result.exception:
        raise result.exception
    assert result.exit_code == status
    return result.stdout


def csv(path, labels, colour=False):
    lines = ["a,b,kind" + ",colour" * colour]
    for row, (x, label) in enumerate(zip(X.tolist(), labels, strict=True)):
        lines.append(f"{x[0]},{x[1]},{label}" + f",{'red' if row % 3 else 'blue'}" * colour)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def words(tmp_path):
    return csv(tmp_path / "rows.csv", np.where(Y > 0, "up", "down"))


def entries(*arguments):
    read = json.loads(run(*arguments, "--json"))
    return read, {entry["learner"]: entry for entry in read["entries"]}


def test_the_table_is_the_library_s(words):
    text = run(words, "--target", "kind", *FEW)
    decisions, _, text = text.partition("\n\n")
    assert decisions.splitlines() == [
        "separator: comma",
        "columns: 2 numeric",
        "task: binary, because 'kind' has two values, 'down' and 'up'",
        "loss: logistic",
    ]
    made = compare(as_rows(X, Y), ["nag", "zero", "ogd"])
    for line, entry in zip(text.splitlines()[1:], made.entries, strict=False):
        rank, name, loss, regret = line.split()[:4]
        assert (int(rank), name) == (entry.rank, entry.learner)
        assert float(loss) == pytest.approx(entry.loss, rel=1e-4)
        assert float(regret) == pytest.approx(entry.regret, rel=1e-4)
    assert "60 rows, 2 columns, logistic loss" in text


def test_no_regret(words):
    read, by_name = entries(words, "--target", "kind", *FEW, "--no-regret")
    assert read["best"] is None
    assert by_name["nag"]["regret"] is None


def test_units_and_rates(words):
    text = run(words, "--target", "kind", *FEW, "--units", "random", "--tune")
    assert "ogd, best rate" in text
    table = text.partition("\n\n")[2].splitlines()
    moved = {line.split()[1]: "exactly 0" in line for line in table[1:6]}
    assert moved == {"nag,": True, "nag": True, "zero": True, "ogd,": False, "ogd": False}


def test_json(words):
    read, by_name = entries(words, "--target", "kind", *FEW, "--units", "random")
    made = compare(as_rows(X, Y), ["nag"], units="random")
    assert by_name["nag"]["loss"] == made.entries[0].loss
    assert by_name["nag"]["elsewhere"]["moved"] == 0
    assert (read["rows"], read["best"]) == (60, pytest.approx(made.best.infimum))
    assert read["decisions"][0] == "separator: comma"


def test_categories_become_columns(tmp_path):
    file = csv(tmp_path / "rows.csv", np.where(Y > 0, "up", "down"), colour=True)
    assert entries(file, "--target", "kind", "--learners", "zero")[0]["columns"] == 4


def test_numbers_are_predicted_as_numbers(words):
    read, _ = entries(words, "--target", "a", "--learners", "vaw")
    assert read["loss"] == "squared"  # as `evaluate`
    read, by_name = entries(words, "--target", "a", "--learners", "zero", "--loss", "absolute")
    assert read["loss"] == "absolute"
    assert by_name["zero"]["loss"] == pytest.approx(np.abs(X[1:, 0]).mean())


def test_several_words_are_classes(tmp_path):
    file = csv(tmp_path / "rows.csv", np.resize(["x", "y", "z"], 60))
    read, by_name = entries(file, "--target", "kind", "--learners", "zero,coordinate,nag")
    assert read["loss"] == "softmax"
    assert read["best"] is None
    assert by_name["nag"]["loss"] > 0


def test_svmlight_has_its_labels(tmp_path):
    rows = [f"{y:g} 1:{x[0]} 2:{x[1]}" for y, x in zip(Y, X.tolist(), strict=True)]
    file = tmp_path / "rows.svm"
    file.write_text("\n".join(rows) + "\n")
    _, by_name = entries(file, "--learners", "nag")
    expected = compare(as_rows(X, Y), ["nag"]).entries[0].loss
    assert by_name["nag"]["loss"] == pytest.approx(expected, rel=1e-12)


def test_rows_without_a_label_are_left_out(tmp_path):
    labels = np.where(Y > 0, "up", "down").tolist()
    labels[7] = ""
    file = csv(tmp_path / "rows.csv", labels)
    read, by_name = entries(file, "--target", "kind", "--learners", "nag")
    kept = np.arange(60) != 7
    expected = compare(as_rows(X[kept], Y[kept]), ["nag"]).entries[0].loss
    assert read["rows"] == 59
    assert by_name["nag"]["loss"] == expected


def test_weights_have_a_column(words):
    lines = words.read_text().splitlines()
    weights = RNG.choice([0, 1, 2], 60)
    rows = [f"{line},{v}" for line, v in zip(lines[1:], weights, strict=True)]
    words.write_text("\n".join([lines[0] + ",v", *rows]) + "\n")
    _, by_name = entries(words, "--target", "kind", "--weight", "v", "--learners", "nag")
    expected = compare(as_rows(X, Y, weights), ["nag"]).entries[0].loss
    assert by_name["nag"]["loss"] == expected


def test_blocks_stand_below_one_another():
    """Later ones have more columns; rows without a label are left out, missing values stay."""
    first = as_rows([[1.0, np.nan], [3.0, 4.0]], [1.0, np.nan])
    second = as_rows([[5.0, 6.0, 7.0]], [-1.0], [2.0])
    made = labelled_rows([first, second])
    assert made.columns == 3
    assert made.targets.tolist() == [1.0, -1.0]
    assert made.weights.tolist() == [1.0, 2.0]
    assert np.isnan(made.values).sum() == 1
    assert labelled_rows([first, first]).starts is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "which column is the target.*'a', 'b', 'kind'"),
        (["--target", "kind", "--learners", "best"], "there is no learner 'best'"),
        (["--target", "kind", "--loss", "absolute"], "does not fit the task binary"),
        (["--target", "a", "--loss", "logistic"], "does not fit the task regression"),
    ],
)
def test_errors_are_sentences(words, arguments, message):
    with pytest.raises(ValueError, match=message):
        run(words, *arguments)


def test_help_is_quick():
    """It imports neither NumPy nor the learners."""
    code = (
        "import sys; from typer.testing import CliRunner; from unitless.cli.app import app; "
        "assert '--units' in CliRunner().invoke(app, ['compare', '--help']).stdout; "
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
