"""Run every code block of one page, in this process and folder: python run_page.py PAGE.

Blocks of Python are doctests, or plain code. In a console block, lines that begin with `$` are run,
and the lines below a command are parts of what it prints. A shell runs those with a pipe or a
redirection; the others run in this process, because most of the time of a new process is spent on
loading the kernels.
"""

import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(page):
    """The language and the text of each block."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def run_python(code, names, title):
    if ">>>" not in code:
        exec(compile(code, title, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, title, title, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    said = []
    runner.run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(said)


def in_a_shell(line):
    start = f'unitless() {{ {sys.executable} -m unitless "$@"; }}; set -eo pipefail; '
    words = ["bash", "-c", start + line]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout, done.stderr


def in_this_process(words):
    """Run a command of Unitless."""
    from unitless.cli import main

    sys.argv = ["unitless", *words]
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code = 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return code, *texts


def run_console(text):
    """Run the commands; what is to be installed is decided before, in `only_installed`."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        if line.startswith("pip "):
            continue
        name, *words = shlex.split(line)
        plain = name == "unitless" and not {"|", ">", "<", "&&"} & {*words}
        code, out, err = in_this_process(words) if plain else in_a_shell(line)
        assert code == 0, f"{line}\n{err}"
        said = " ".join(out.split())
        for wanted in expected.splitlines():
            assert " ".join(wanted.split()) in said, f"{line}\n{wanted}\n\n{out}"


def run(page):
    names = {"__name__": "__main__"}
    for language, text in blocks_of(page):
        if language == "python":
            run_python(text, names, page.name)
        elif language == "console":
            run_console(text)
        elif language == "toml":
            tomllib.loads(text)
        else:
            assert language == "bash"  # the two commands of .ci/run
            assert page.name == "README.md"


if __name__ == "__main__":
    run(Path(sys.argv[1]))
