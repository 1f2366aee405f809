"""Errors of options and arguments: one sentence in our words, and where to read more."""

import pytest

from unitless.suggestions import suggestion

SEE = "(see unitless evaluate --help)"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--passes", "x"), f"--passes: must be a whole number {SEE}"),
        (("--quantile", "x"), f"--quantile: must be a number {SEE}"),
        (("--tagret", "y"), "there is no option --tagret; did you mean --"),
        (("--task", "best"), "--task: 'best' is not one of 'auto', 'binary', 'multiclass'"),
    ],
)
def test_options(unitless, data, words, message):
    done = unitless("evaluate", data, *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"unitless: {message}")
    assert done.err.count("\n") == 1


def test_commands_and_arguments(unitless):
    assert unitless("evaluate").err == f"unitless: missing argument 'DATA' {SEE}\n"
    wrong = unitless("evalaute", "x")
    assert wrong.code == 2
    assert "no such command 'evalaute'; did you mean 'evaluate'?" in wrong.err


def test_version(unitless):
    from unitless import __version__

    assert unitless("--version")[:2] == (0, f"unitless {__version__}\n")


def test_swapped_arguments_are_recognised(unitless, tmp_path, data):
    model = tmp_path / "m"
    unitless("fit", data, "-t", "label", "-l", "zero", "--save", model, "--quiet")
    done = unitless("predict", data, model)
    assert done.code == 2
    assert "the arguments are swapped, the model comes first" in done.err
    assert "is a data file" in unitless("inspect", data).err


def test_learners_are_listed(unitless):
    lines = unitless("learners").out
    assert "coordinate" in lines
    assert "Blend(" not in lines.replace("`Blend(", "")  # a sentence, not a signature
    assert "scale-invariant" in lines
    assert "adagrad" not in lines
    assert "adagrad" in unitless("learners", "--all").out
    assert "full (linear-invariant, Theorem 2)" in lines
    assert max(map(len, lines.splitlines())) <= 100


def test_a_misspelt_learner(unitless, data):
    done = unitless("compare", data, "-t", "label", "--learners", "blendd")
    assert "there is no learner 'blendd'; did you mean 'blend'?" in done.err
    done = unitless("evaluate", data, "-t", "label", "--learner", "cordinate")
    assert "there is no learner 'cordinate'; did you mean 'coordinate'?" in done.err


def test_a_misspelt_column(unitless, data):
    for words in (("-t", "labels"), ("-t", "label", "--ignore", "Grams")):
        assert "; did you mean '" in unitless("evaluate", data, *words).err


def test_suggestions():
    assert suggestion("Price", ["price", "rooms"]) == "; did you mean 'price'?"
    assert suggestion("zzz", ["price", "rooms"]) == ""


def test_messages_of_the_library_name_options(unitless, data, tmp_path):
    assert "which column is the target? Name it with --target." in unitless("evaluate", data).err
    file = tmp_path / "plain.csv"
    file.write_text("*,1\n2,3\n")
    assert "if the first line is not a header, add --no-header" in unitless("evaluate", file).err
    file = tmp_path / "rows.svm"
    file.write_text("1 1:1\n")
    assert "leave out --target and --weight" in unitless("evaluate", file, "-t", "y").err
