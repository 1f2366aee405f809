"""The report: made from the results file alone, whole, and fit to be read in a real browser."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.material import table, written
from unitless.cli.options import EvaluateOptions
from unitless.cli.run import EvaluationRun
from unitless.evaluation import read_results, write_results
from unitless.report import page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DOCS = Path(__file__).resolve().parents[2] / "docs"
TITLES = {
    "label": {"Learning curve", "Regret, certificate, theorem", "The blend and its best member",
              "Calibration", "Weights by feature", "Blend weights", "Learners compared"},
    "score": {"Learning curve", "The blend and its best member", "Weights by feature",
              "Blend weights", "Learners compared"},
    "colour": {"Learning curve", "The blend and its best member", "Calibration",
               "Weights by feature", "Blend weights", "Learners compared"},
}  # fmt: skip


@pytest.fixture(scope="module", params=TITLES)
def made(request, tmp_path_factory):
    """The target, and the page of an evaluation."""
    folder = tmp_path_factory.mktemp("report")
    data = written(folder / "<data> & more.csv", table(600))
    options = EvaluateOptions(
        data=str(data), target=request.param, report=str(folder / "page.html"), quiet=True
    )
    EvaluationRun(options, table=False).run()
    return request.param, folder / "page.html"


def test_every_figure_has_marks(made):
    target, path = made
    text = path.read_text()
    figures = re.findall(r"<figure>(.*?)</figure>", text, re.DOTALL)
    assert {re.search("<h2>(.*?)</h2>", each)[1] for each in figures} == TITLES[target]
    for figure in figures:
        assert figure.count('class="mark') >= 1
    assert "nan" not in re.sub("<style>.*?</style>", "", text, flags=re.DOTALL).lower()
    assert "exactly 0" in text


def test_it_stands_alone(made):
    _, path = made
    text = path.read_text()
    assert len(text.encode()) < 2 << 20
    assert not re.search(r"<script|https?://|url\(|@import|src=", text)
    assert "&lt;data&gt; &amp; more.csv" in text


def test_it_is_made_from_the_results_file_alone(made):
    _, path = made
    assert page(read_results(path.with_suffix(".results.json"))) == path.read_text()


def test_every_key_of_the_results_is_documented(made):
    _, path = made
    text = (DOCS / "results-format.md").read_text()
    assert [
        k for k in read_results(path.with_suffix(".results.json")) if f"| `{k}` |" not in text
    ] == []


def test_other_files_are_no_results(tmp_path):
    (tmp_path / "a.json").write_text("[1, 2")
    write_results(tmp_path / "b.json", {"results": 99})
    for name in ("a.json", "b.json"):
        with pytest.raises(ValueError, match=name):
            read_results(tmp_path / name)


PROBE = """
<iframe id="page" style="width: {width}px; height: 800px; border: 0" srcdoc="{page}"></iframe>
<pre id="found"></pre><script>
window.onerror = message => document.title = "error " + message;
document.getElementById("page").onload = () => {{
  const inside = document.getElementById("page").contentDocument, body = inside.body;
  const box = e => e.getBoundingClientRect();
  const found = {{
    wide: inside.documentElement.scrollWidth,
    paper: getComputedStyle(body).backgroundColor,
    ink: getComputedStyle(body).color,
    figures: [...inside.querySelectorAll("figure")].map(f => ({{
      width: box(f).width,
      marks: [...f.querySelectorAll(".mark")].filter(m => box(m).width + box(m).height > 0).length,
      letters: Math.min(...[...f.querySelectorAll("svg text")].map(t => box(t).height)),
    }})),
  }};
  document.getElementById("found").textContent = JSON.stringify(found);
}};
</script>
"""


def looked_at(path, width, dark=False):
    """What Chromium makes of the page in a window of that width, and what it complains of."""
    probe = path.with_name("probe.html")
    probe.write_text(PROBE.format(width=width, page=html.escape(path.read_text())))
    words = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    words += ["--force-dark-mode"] if dark else []
    words += ["--virtual-time-budget=3000", "--dump-dom", probe.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert "CONSOLE" not in done.stderr
    text = re.search('<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)[1]
    return json.loads(html.unescape(text))


def brightness(colour):
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium")
def test_in_a_browser_on_a_phone_and_in_the_dark(made):
    target, path = made
    phone, desk = looked_at(path, 390), looked_at(path, 1280, dark=True)
    for found, width in ((phone, 390), (desk, 1280)):
        assert found["wide"] <= width
        assert len(found["figures"]) == len(TITLES[target])
        assert all(figure["marks"] for figure in found["figures"])
        assert min(figure["letters"] for figure in found["figures"]) >= 9
    assert all(figure["width"] > 340 for figure in phone["figures"])
    assert brightness(phone["paper"]) > 200 > 100 > brightness(phone["ink"])
    assert brightness(desk["paper"]) < 60 < 200 < brightness(desk["ink"])
