"""What is loaded when, what is public, and what README and CI run."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import unitless

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("sklearn", "scipy", "polars", "river", "pandas", "rich", "typer")


def loaded_by(code):
    """The top-level modules in memory after the code has run in a fresh interpreter."""
    report = "print('MODULES', *{name.partition('.')[0] for name in sys.modules})"
    script = f"import sys\ntry:\n    {code}\nexcept SystemExit:\n    pass\n{report}"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(run.stdout.rpartition("MODULES")[2].split()), run.stdout


def test_importing_the_package_loads_nothing_heavy():
    modules, _ = loaded_by("import unitless")
    assert "unitless" in modules
    assert not modules & {*HEAVY, "numpy"}


@pytest.mark.parametrize("code", ["unitless.learners", "unitless.losses", "unitless.regret"])
def test_rooms_know_no_optional_package(code):
    modules, _ = loaded_by(f"import unitless; {code}; unitless.learners.get('full')()")
    assert "numpy" in modules
    assert not modules & {"numba", "sklearn", "polars", "river", "pandas", "rich", "typer"}


@pytest.mark.parametrize("arguments", [["--help"], ["demo", "--help"]])
def test_help_loads_nothing_heavy(arguments):
    code = f"sys.argv = {['unitless', *arguments]!r}; from unitless.cli import main; main()"
    modules, printed = loaded_by(code)
    assert "demo" in printed
    assert not modules & {"numpy", "sklearn", "scipy"}


def test_public_names():
    assert {"OnlineClassifier", "OnlineRegressor", "learners", "losses", "regret"} <= set(
        unitless.__all__
    )
    for name in unitless.__all__:
        assert getattr(unitless, name) is not None
        assert name in dir(unitless)
    with pytest.raises(AttributeError, match="nothing_of_that_name"):
        _ = unitless.nothing_of_that_name


def test_one_version_everywhere():
    """The changelog begins with the version of the code; until its release, that ends in .dev."""
    version = unitless.__version__
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    newest = re.search(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1]
    number, _, unreleased = version.partition(".dev")
    assert newest == (f"Unreleased ({number})" if unreleased else number)


def commands():
    """What README's bash blocks hold."""
    text = (ROOT / "README.md").read_text()
    return re.findall(r"^```bash\n(.*?)\n```$", text, flags=re.MULTILINE | re.DOTALL)


def test_readme_has_two_commands():
    """Each one line that does all its own set-up."""
    demo, tests = commands()
    for command in (demo, tests):
        assert "\n" not in command
        assert "pip install" in command
    assert demo.endswith("unitless demo")
    assert "[test]" in tests
    assert tests.endswith("pytest")


def test_ci_runs_exactly_these():
    """It takes them out of README: the same lines, and it runs each."""
    script = (ROOT / ".ci" / "run").read_text()
    program = re.search(r"awk '([^']+)' README\.md", script)[1]
    found = subprocess.run(
        ["awk", program, ROOT / "README.md"], capture_output=True, text=True, check=True
    )
    assert found.stdout.splitlines() == commands()
    assert 'bash -c "$command"' in script


@pytest.mark.parametrize(
    "name",
    [
        "unitless",
        "unitless.distributed",
        "unitless.encoders",
        "unitless.evaluation",
        "unitless.learners",
        "unitless.losses",
        "unitless.model",
        "unitless.persistence",
        "unitless.readers",
        "unitless.regret",
        "unitless.river",
        "unitless.rows",
        "unitless.testing",
    ],
)
def test_dir_lists_what_is_public_and_nothing_else(name):
    module = __import__(name, fromlist=["__all__"])
    assert dir(module) == sorted(module.__all__)
    for public in module.__all__:
        assert getattr(module, public) is not None
