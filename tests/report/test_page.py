"""The report: made from the results file alone, whole, and fit to be read in a real browser."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.material import table, written
from unitless.cli.options import CommandOptions
from unitless.cli.run import EvaluationRun
from unitless.evaluation import read_results, write_results
from unitless.report import page, write_page
from unitless.report.figures import over_time

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HEADLESS = ["--headless", "--no-sandbox", "--disable-gpu"]
DOCS = Path(__file__).resolve().parents[2] / "docs"
BOTH = {
    "Loss over time",
    "Effects of the columns",
    "Weights of the members",
    "Other learners",
    "Drag the unit",
}
CLASSES = BOTH | {"Confusion matrix", "Calibration"}
TITLES = {
    "label": CLASSES | {"ROC curve", "Precision and recall", "What is guaranteed"},
    "score": BOTH | {"Predicted against actual", "Errors over time"},
    "colour": CLASSES,
}


@pytest.fixture(scope="module", params=TITLES)
def made(request, tmp_path_factory):
    """The target, and the page of an evaluation."""
    folder = tmp_path_factory.mktemp("report")
    data = written(folder / "<data> & more.csv", table(600))
    options = CommandOptions(
        data=[str(data)], target=request.param, report=str(folder / "page.html"), quiet=True
    )
    EvaluationRun(options, table=False).run()
    return request.param, folder / "page.html"


def parts(path):
    """The specifications of the figures, and the page without its scripts."""
    text = path.read_text()
    specs = re.search(r'id="figures">(.*?)</script>', text, re.DOTALL)[1]
    bare = re.sub("<(script|style).*?</(script|style)>", "", text, flags=re.DOTALL)
    return json.loads(specs), bare


def test_every_figure_has_data(made):
    target, path = made
    figures, bare = parts(path)
    assert {figure["title"] for figure in figures} == TITLES[target]
    assert bare.count("<figure>") == len(figures)
    for figure in figures:
        assert len(figure["spec"]["data"]["values"]) >= 2
    assert "nan" not in bare.lower().replace("finance", "")
    assert "exactly 0" in bare
    assert "better than the best constant" in bare
    assert "for HistGradientBoosting, retrained as rows arrive" in bare
    assert "for a scaled linear model, retrained as rows arrive" in bare


def test_predictions_stay_in_every_unit(made):
    """Those of the slider: ours are the same for all units, those of the neighbours are not."""
    _, path = made
    trials = read_results(path.with_suffix(".results.json"))["slider"]["trials"]
    assert len(trials) == 11
    assert all(trial["ours"] == trials[0]["ours"] for trial in trials)
    others = [trial["5 nearest neighbours"] for trial in trials]
    assert any(other != others[0] for other in others)


def test_it_stands_alone(made):
    _, path = made
    text = path.read_text()
    assert len(text.encode()) < 3 << 20
    _, bare = parts(path)
    assert not re.search(r"https?://|url\(|@import|src=|sourceMappingURL", bare)
    assert "default-src 'none'" in text
    assert "&lt;data&gt; &amp; more.csv" in text


def test_text_of_the_data_does_not_end_the_script(made):
    _, path = made
    results = read_results(path.with_suffix(".results.json"))
    results["effects"][0]["column"] = "</script><script>alert(1)</script>"
    assert "<script>alert" not in page(results)


def test_it_is_made_from_the_results_file_alone(made):
    _, path = made
    assert page(read_results(path.with_suffix(".results.json"))) == path.read_text()


def test_every_key_of_the_results_is_documented(made):
    _, path = made
    text = (DOCS / "reference" / "results-format.md").read_text()
    assert [
        k for k in read_results(path.with_suffix(".results.json")) if f"| `{k}` |" not in text
    ] == []


def test_other_files_are_no_results(tmp_path):
    (tmp_path / "a.json").write_text("[1, 2")
    write_results(tmp_path / "b.json", {"results": 99})
    for name in ("a.json", "b.json"):
        with pytest.raises(ValueError, match=name):
            read_results(tmp_path / name)


def test_runs_are_compared(made, tmp_path):
    _, path = made
    results = read_results(path.with_suffix(".results.json"))
    worse = json.loads(json.dumps(results)) | {"learner": "another"}
    worse["metrics"]["loss"] = 2 * results["metrics"]["loss"]
    worse["curve"] = [[rows, 2 * loss] for rows, loss in results["curve"]]
    write_page(tmp_path / "both.html", [worse, results])
    figures, bare = parts(tmp_path / "both.html")
    assert "<b>blend has the smallest loss" in bare
    assert "50 % less" in bare
    assert {record["run"] for record in figures[0]["spec"]["data"]["values"]} == {
        "blend",
        "another",
    }


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"target": "another"}, "other targets"),
        ({"labels": ["x", "y"]}, "other targets"),
        ({"rows": 12}, "other rows"),
        ({"baseline": {"score": 0.0, "loss": 77.0}}, "other rows"),
    ],
)
def test_unlike_runs_are_refused(made, tmp_path, change, reason):
    _, path = made
    results = read_results(path.with_suffix(".results.json"))
    with pytest.raises(ValueError, match=f"these runs have {reason}.*make a report of each"):
        write_page(tmp_path / "both.html", [results, results | change])
    assert not (tmp_path / "both.html").exists()
    write_page(tmp_path / "both.html", [results, results | {"source": "a copy", "learner": "nag"}])


def test_alarms_are_mentioned_only_if_there_are_any(made):
    _, path = made
    results = read_results(path.with_suffix(".results.json"))
    alarm = {"feature": "x", "row": 7, "before": 1.0, "now": 100.0, "factor": 100.0}
    assert "noticed about units" in over_time(results | {"alarms": [alarm]}).text
    without = over_time(results | {"alarms": []}).text
    assert "alarm" not in without
    assert "noticed about units" not in without


# In a browser

PROBE = """
<iframe id="page" style="width: {width}px; height: 800px; border: 0" srcdoc="{page}"></iframe>
<pre id="found"></pre><script>
window.onerror = message => document.title = "error " + message;
const frame = document.getElementById("page");
const box = e => e.getBoundingClientRect();
const wait = setInterval(() => {{
  const inside = frame.contentDocument;
  if (!inside || !inside.documentElement.dataset.drawn) return;
  clearInterval(wait);
  look(inside);
}}, 100);
async function look(inside) {{
  const used = await use(frame.contentWindow, inside);
  const found = {{
    ...used,
    wide: inside.documentElement.scrollWidth,
    paper: getComputedStyle(inside.body).backgroundColor,
    ink: getComputedStyle(inside.body).color,
    figures: [...inside.querySelectorAll("figure")].map(f => ({{
      top: box(f).top, left: box(f).left, right: box(f).right, width: box(f).width,
      chart: box(f.querySelector("svg")).width,
      marks: [...f.querySelectorAll(".mark-line path, .mark-symbol path, .mark-rect path")]
        .filter(m => box(m).width + box(m).height > 0).length,
      letters: Math.min(...[...f.querySelectorAll("svg text")].map(t => box(t).height || 99)),
    }})),
  }};
  frame.contentWindow.dispatchEvent(new Event("beforeprint"));
  await new Promise(done => setTimeout(done, 300));
  found.printed = [...inside.querySelectorAll("figure svg")].map(svg => box(svg).width);
  document.getElementById("found").textContent = JSON.stringify(found);
}}
async function use(page, inside) {{  // the first figure: save it, zoom into it, point at a dot
  const first = inside.querySelector("figure"), saved = [];
  const labels = () => first.querySelector(".role-axis-label").textContent;
  const pause = () => new Promise(done => setTimeout(done, 300));
  // The text is kept here: a real Blob is read outside the virtual time of this run.
  page.Blob = class {{ constructor(parts) {{ this.content = parts.join(""); }} }};
  page.URL.createObjectURL = blob => {{ saved.push(blob.content); return "#"; }};
  page.HTMLAnchorElement.prototype.click = () => {{}};
  first.querySelector("[name=csv]").click();
  first.querySelector("[name=svg]").click();
  await pause();
  const before = labels(), place = box(first.querySelector("svg"));
  const centre = {{ clientX: place.left + place.width / 2, clientY: place.top + 99, bubbles: 1 }};
  const wheel = new page.WheelEvent("wheel", {{ ...centre, deltaY: -300, view: page }});
  first.querySelector("path.background").dispatchEvent(wheel);
  const dot = first.querySelector(".mark-symbol path");
  dot.dispatchEvent(new page.PointerEvent("pointermove", {{ ...centre, view: page }}));
  dot.dispatchEvent(new page.MouseEvent("mousemove", {{ ...centre, view: page }}));
  await pause();
  return {{
    csv: saved[0], svg: saved[1], zoomed: labels() !== before,
    hover: inside.getElementById("vg-tooltip-element")?.textContent ?? "",
  }};
}}
</script>
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Skip the test where no Chromium is installed, or none that starts (as in some containers)."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    profile = tmp_path_factory.mktemp("profile")
    words = [CHROMIUM, *HEADLESS, f"--user-data-dir={profile}", "--dump-dom", "about:blank"]
    try:
        subprocess.run(words, capture_output=True, timeout=300, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"Chromium does not start here: {error}")


def looked_at(path, width, dark=False):
    """What Chromium makes of the page in a window of that width, and what it complains of."""
    probe = path.with_name("probe.html")
    probe.write_text(PROBE.format(width=width, page=html.escape(path.read_text())))
    words = [CHROMIUM, *HEADLESS, "--enable-logging=stderr"]
    words += [f"--user-data-dir={path.parent / 'profile'}", "--window-size=1400,900"]
    words += ["--force-dark-mode"] if dark else []
    words += ["--virtual-time-budget=20000", "--dump-dom", probe.as_uri()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True)
    assert "CONSOLE" not in done.stderr
    text = re.search('<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)[1]
    return json.loads(html.unescape(text))


def brightness(colour):
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


@pytest.mark.usefixtures("browser")
def test_in_a_browser_on_a_phone_and_in_the_dark(made):
    target, path = made
    phone, desk = looked_at(path, 390), looked_at(path, 1280, dark=True)
    for found, width in ((phone, 390), (desk, 1280)):
        assert found["csv"].startswith("rows,loss,series\n")
        assert "var(--" not in found["svg"]
        assert found["svg"].startswith("<svg")
        assert found["zoomed"]
        assert "rows" in found["hover"]
        figures = found["figures"]
        assert found["wide"] <= width
        assert len(figures) == len(TITLES[target])
        assert all(figure["marks"] for figure in figures)
        assert all(figure["chart"] <= figure["width"] for figure in figures)
        assert min(figure["letters"] for figure in figures) >= 9
        assert max(found["printed"][:-1]) <= 320  # two fit beside each other
        assert found["printed"][-1] <= (660 if len(figures) % 2 else 320)
        right = max(figure["right"] for figure in figures)
        for top in {figure["top"] for figure in figures}:  # no line of boxes has a hole
            line = [figure for figure in figures if figure["top"] == top]
            assert max(figure["right"] for figure in line) > right - 2
    assert all(figure["width"] > 340 for figure in phone["figures"])
    assert brightness(phone["paper"]) > 200 > 100 > brightness(phone["ink"])
    assert brightness(desk["paper"]) < 60 < 200 < brightness(desk["ink"])
