"""The page of logged or simulated decisions: rewards over time, actions, and other policies."""

from collections.abc import Sequence
from html import escape

from unitless import __version__
from unitless.persistence.container import Pathlike, replace
from unitless.report.charts import Figure, Record, Results, axis, chart, over_rows, shown
from unitless.report.page import boxes, filled, section, table


def write_decisions_page(path: Pathlike, found: Results) -> None:
    """Write the page of the results of `unitless evaluate --action` or `--bandit`."""
    replace(path, decisions_page(found).encode())


def decisions_page(found: Results) -> str:
    """Return the page as HTML."""
    figures = [each for each in _figures(found) if each.spec is not None]
    body = boxes(figures) + _actions(found) + _policies(found)
    facts = f"{found['rows']:,} decisions · {found['seconds']:.3g} s · Unitless {__version__}"
    source = escape(str(found["source"] or "a stream"))
    return filled(source, _verdict(found), facts, body, figures)


def _verdict(found: Results) -> Sequence[str]:
    if found["kind"] == "simulation":
        first = f"The mean reward is {shown(found['mean'])}"
        others = f"always {found['constant_action']} earns {shown(found['constant'])}"
        labels = f"a learner with all labels {shown(found['informed'])}"
        return [
            f"{first}; {others}, {labels}.",
            f" {found['explored']:.1%} of the decisions explored.",
        ]
    first = f"The mean reward of the log is {shown(found['mean'])}."
    if not found["has_probabilities"]:
        return [first, " Without probabilities, the value of other policies cannot be known."]
    learned = found["policies"][0]
    ends = f"between {shown(learned['low'])} and {shown(learned['high'])}"
    return [first, f" The learned policy would have earned {shown(learned['dr'])}, {ends}."]


def _figures(found: Results) -> list[Figure]:
    rewards = [each for each in found["curve"] if each["series"] != "exploration"]
    explored = [each for each in found["curve"] if each["series"] == "exploration"]
    return [
        Figure(
            "Reward over time",
            "The mean reward of all decisions so far.",
            over_rows(rewards, axis("value", "mean reward so far"), "series"),
            True,
        ),
        Figure(
            "Actions",
            "The share of each action in consecutive windows.",
            over_rows(found["shares"], axis("value", "share of decisions"), "series"),
            True,
        ),
        Figure(
            "Exploration",
            "The share of decisions, so far, in which another action had a larger estimate.",
            over_rows(explored, axis("value", "explored so far"), "series") if explored else None,
            True,
        ),
        Figure(
            "Value of policies",
            "What each policy would have earned per decision, with an interval that holds at all "
            "times at once.",
            _intervals(found),
        ),
    ]


def _intervals(found: Results) -> Record | None:
    if not found.get("has_probabilities"):
        return None
    records = [
        {"policy": own["policy"], "low": own["low"], "high": own["high"]}
        for own in found["policies"]
    ]
    names = axis("policy", " ", "nominal", sort=None, axis={"labelLimit": 190})
    return chart(
        records,
        {"type": "bar", "height": 8},
        False,
        x=axis("low", "reward per decision", scale={"zero": False}),
        x2={"field": "high"},
        y=names,
    )


def _actions(found: Results) -> str:
    rows = [(own["action"], own["shown"], own["mean"]) for own in found["actions"]]
    return section("Actions", table(("action", "decisions", "mean reward"), rows))


def _policies(found: Results) -> str:
    if not found.get("has_probabilities"):
        return ""
    names = ("ips", "snips", "dr", "low", "high", "effective")
    rows = [[own["policy"], *(own[name] for name in names)] for own in found["policies"]]
    headings = ("policy", "IPS", "SNIPS", "doubly robust", "from", "to", "effective rows")
    return section("Value of policies", table(headings, rows))
