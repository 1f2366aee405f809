"""Logged decisions, the simulator, and decisions of a saved bandit."""

import csv
import io
import json
import math
import os
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

import numpy as np
import polars

from unitless import persistence, readers
from unitless.cli.options import DECIDING, FIELDS, READING, CommandOptions, spelt
from unitless.cli.outputs import check_outputs, results_path
from unitless.cli.screen import console_of, counted, number, warnings_as_notes
from unitless.cli.stopping import Stopper
from unitless.decisions.bandit import Decisions, OnlineBandit
from unitless.decisions.contexts import Contexts
from unitless.decisions.exploration import Float, Ints
from unitless.decisions.logs import LogEvaluation, Logged, named
from unitless.decisions.offered_logs import OfferedLog, OfferedRows, name_of, offered_rows
from unitless.decisions.simulation import Simulation
from unitless.encoders import FrameEncoder
from unitless.escaping import escaped, standard_output
from unitless.persistence.container import replace
from unitless.readers import SPARSE, FileBlock, format_of
from unitless.readers.files import common_format
from unitless.report.charts import Results
from unitless.suggestions import listed, no_such_column

ALPHA = 0.05
POINTS = 200
"""Rows of a curve."""
TAKEN = (
    *(*DECIDING, *READING, "data", "target", "ignore", "keep", "text", "interactions"),
    *("hash_bits", "max_levels", "save", "report", "results", "json", "quiet", "verbose"),
    "no_color",
)
"""The options that logs and the simulator take."""
TABLES_ONLY = (*READING, "text", "interactions", "hash_bits", "max_levels")
"""Options that --actions does not take, except for the format and the encoding."""
Column = list[Contexts]
"""Cells of any type."""
Block = FileBlock | OfferedRows


def run_decisions(options: CommandOptions) -> None:
    """Value policies by a log, or play classification as decisions."""
    started = time.perf_counter()
    _check(options)
    options.results = results_path(options.report, options.results)
    outputs = {"--save": options.save, "--report": options.report, "--results": options.results}
    check_outputs(outputs, [*options.data, options.policy])
    with warnings_as_notes(options.quiet), Stopper() as stopper:
        if options.bandit:
            bandit, found = _simulated(options, stopper.waiting_for(_tables(options)))
        elif options.actions is None:
            bandit, found = _valued(options, stopper.waiting_for(_tables(options)))
        else:
            bandit, found = _valued(options, stopper.waiting_for(_offered(options)))
    found |= {
        "kind": "simulation" if options.bandit else "log",
        "source": options.source,
        "seconds": round(time.perf_counter() - started, 3),
    }
    if options.save:
        bandit.save(options.save)
    if options.results:
        replace(options.results, json.dumps(found, indent=1).encode())
    if options.report:
        from unitless.report.decisions_page import write_decisions_page

        write_decisions_page(options.report, found)
    if options.json:
        print(json.dumps(found))
    elif not options.quiet:
        console = console_of(options.no_color)
        for line in _lines(found):
            console.print(escaped(line))


def _check(options: CommandOptions) -> None:
    """Options that belong together, and those that make no sense here."""
    mode = "--bandit" if options.bandit else "--action"
    taken = {*TAKEN}
    if options.actions is not None and not options.bandit:
        mode = "--actions"
        taken -= {*TABLES_ONLY} - {"format", "encoding"}
    for name in ("action", "reward"):
        if not options.bandit and getattr(options, name) is None:
            raise ValueError(f"logged decisions need {spelt(name)} COLUMN, too")
    if options.bandit:
        if options.target is None:
            raise ValueError("--bandit needs --target COLUMN, the classes")
        for name in ("action", "reward", "probability", "actions", "policy", "reward_range"):
            if getattr(options, name) is not None:
                raise ValueError(f"--bandit cannot be combined with {spelt(name)}")
    elif options.target is not None:
        raise ValueError("--target cannot be combined with --action: give --reward COLUMN")
    for name, field in FIELDS.items():
        if name in taken or field.group == "Arguments":
            continue
        if getattr(options, name) not in (field.default, (), None):
            raise ValueError(f"{mode} cannot be combined with {spelt(name)}")


def _tables(options: CommandOptions, kinds: Mapping[str, str] | None = None) -> Iterator[FileBlock]:
    """The blocks of a table; `kinds` are those of columns that a bandit knows."""
    reading = options.reading()
    known = {name: kind for name, kind in (kinds or {}).items() if kind in ("number", "category")}
    if known:
        reading["types"] = known | reading.get("types", {})
    format = reading.get("format") or common_format(options.data, format_of)
    if format in SPARSE:
        raise ValueError(f"decisions need a table (CSV, JSON lines, Parquet), not {format} text")
    return readers.open_blocks(options.data, **options.strictness() | reading)


def _offered(options: CommandOptions) -> Iterator[OfferedRows]:
    """The rows of JSON lines in which each decision has its own possible actions."""
    format = options.format or common_format(options.data, format_of)
    if format != "jsonl":
        raise ValueError(f"--actions needs JSON lines, not {format}: use --format or another file")
    assert options.actions is not None
    excluded = {options.action, options.reward, options.probability, *options.ignore}
    for file in options.data:
        yield from offered_rows(file, options.actions, excluded, options.keep, options.encoding)


def _columns(options: CommandOptions, block: Block, *names: str | None) -> list[Column | None]:
    """The values of some columns of a block; None for those that are not named."""
    if isinstance(block, OfferedRows):
        for name in names:
            if name is not None and not any(name in record for record in block.records):
                raise ValueError(no_such_column(name, block.records[0]))
        return [
            None if name is None else [record.get(name) for record in block.records]
            for name in names
        ]
    frame = block.frame
    assert frame is not None
    for name in names:
        if name is not None and name not in frame.columns:
            raise ValueError(no_such_column(name, frame.columns))
    return [None if name is None else frame[name].to_list() for name in names]


def _contexts(options: CommandOptions, block: Block, *names: str | None) -> Contexts:
    """The columns of a block that are features."""
    if isinstance(block, OfferedRows):
        return block.records
    frame = block.frame
    assert frame is not None
    excluded = {*names, *options.ignore}
    kept = options.keep or frame.columns
    return frame.select([name for name in kept if name in frame.columns and name not in excluded])


def _new_bandit(options: CommandOptions, actions: Sequence[Hashable] | None) -> OnlineBandit:
    bandit = OnlineBandit(actions)
    bandit.encoding.encoder = FrameEncoder(
        options.hash_bits, options.max_levels, options.interactions, options.text
    )
    return bandit


# Logs


def _valued(options: CommandOptions, blocks: Iterable[Block]) -> tuple[OnlineBandit, Results]:
    names = options.action, options.reward, options.probability
    bounds = _range(options.reward_range)
    if options.actions is None:
        bandit = _new_bandit(options, None)
        log = LogEvaluation(bandit, alpha=ALPHA, bounds=bounds)
    else:
        bandit = OnlineBandit()
        log = OfferedLog(bandit, alpha=ALPHA, bounds=bounds)
    policy = _policy(options.policy) if options.policy else None
    for block in blocks:
        if len(block):
            actions, rewards, probabilities = _columns(options, block, *names)
            log.add(_logged(options, block, actions, rewards, probabilities, policy, log.rows))
    if not log.rows:
        raise ValueError(f"{options.source} has no rows")
    if policy is not None and len(policy[1]) != log.rows:
        raise ValueError(
            f"--policy {options.policy} has {counted(len(policy[1]), 'row')}, and the log has "
            f"{log.rows:,}: give one per decision"
        )
    return bandit, _log_results(options, log)


def _logged(
    options: CommandOptions,
    block: Block,
    actions: Column | None,
    rewards: Column | None,
    probabilities: Column | None,
    policy: tuple[str, Column] | None,
    first: int,
) -> Logged:
    """The rows of a block; what cannot be learned is an error with its line."""
    assert actions is not None
    assert rewards is not None
    checked = np.array([_number(block, k, options.reward, cell) for k, cell in enumerate(rewards)])
    for k, action in enumerate(actions):
        if action is None:
            raise ValueError(f"{_place(block, k, options.action)}: the action is missing")
    p = None
    if probabilities is not None:
        p = np.array(
            [_number(block, k, options.probability, cell) for k, cell in enumerate(probabilities)]
        )
        wrong = ~((p > 0) & (p <= 1))
        if wrong.any():
            k = int(wrong.argmax())
            place = _place(block, k, options.probability)
            raise ValueError(f"{place}: probability {p[k]:g} is not between 0 and 1")
    given: Results = {}
    if policy is not None:
        part = policy[1][first : first + len(block)]
        if len(part) < len(block):
            raise ValueError(f"--policy {options.policy} has fewer rows than the log")
        given = {policy[0]: np.array(part) if policy[0] == "matches" else part}
    if isinstance(block, OfferedRows):
        return _logged_offered(options, block, Logged(block.records, actions, checked, p, **given))
    contexts = _contexts(options, block, options.action, options.reward, options.probability)
    return Logged(contexts, actions, checked, p, **given)


def _logged_offered(options: CommandOptions, block: OfferedRows, logged: Logged) -> Logged:
    """Add the possible actions to decisions; names are text, as they are in JSON objects."""
    actions = [*map(name_of, logged.actions)]
    for k, action in enumerate(actions):
        if action not in block.offered[k]:
            known = listed(map(repr, block.offered[k]))
            place = _place(block, k, options.action)
            raise ValueError(f"{place}: {action!r} is not among the possible actions {known}")
    choices = None if logged.choices is None else [*map(name_of, logged.choices)]
    for k, action in enumerate(choices or ()):
        if action not in block.offered[k]:
            place = _place(block, k, options.actions)
            raise ValueError(f"--policy {options.policy}: {action!r} is not possible in {place}")
    return logged._replace(actions=actions, choices=choices, offered=block.offered)


def _number(block: Block, k: int, column: str | None, cell: object) -> float:
    """The number of a cell."""
    try:
        value = math.nan if cell is None or isinstance(cell, str) else float(cell)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        value = math.nan
    if not math.isfinite(value):
        text = "it is missing" if cell is None else f"{cell!r} is not a finite number"
        raise ValueError(f"{_place(block, k, column)}: {text}; leave out rows without a reward")
    return value


def _place(block: Block, k: int, column: str | None) -> str:
    return f"{block.file}, line {block.lines[k]}, column {column!r}"


def _range(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"--reward-range {text}: give two numbers, the smaller first: 0,1")
    return low, high


def _policy(path: str) -> tuple[str, Column]:
    """The choices of a policy, or its probabilities of the logged actions."""
    frames = [block.frame for block in readers.open_blocks(path) if block.frame is not None]
    frame = polars.concat(frames, how="diagonal_relaxed") if frames else polars.DataFrame()
    if "action" in frame.columns:
        return "choices", frame["action"].to_list()
    if "probability" in frame.columns:
        found = frame["probability"].to_list()
        for row, p in enumerate(found, 1):
            if not isinstance(p, int | float) or not 0 <= p <= 1:
                raise ValueError(f"{path}, row {row}: probability {p!r} is not between 0 and 1")
        return "matches", [float(p) for p in found]
    raise ValueError(f'{path}: it has no column "action" and no column "probability"')


def _log_results(options: CommandOptions, log: LogEvaluation) -> Results:
    known = options.probability is not None
    means, counts = log.means(), log.counts
    curve, shown = log.curve()
    policies = []
    for policy, found, direct in log.values():
        own: Results = {"policy": policy, "direct": direct}
        if known:
            own |= {name: _finite(getattr(found, name)) for name in found._fields}
        policies.append(own)
    return {
        "rows": log.rows,
        "has_probabilities": known,
        "alpha": ALPHA,
        "mean": log.mean,
        "actions": [{"action": named(a), "shown": counts[a], "mean": means[a]} for a in counts],
        "curve": _thinned({"log": curve}),
        "shares": _shares(shown, [named(action) for action in log.codes]),
        "policies": policies,
    }


def _finite(value: float) -> float | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _thinned(series: Mapping[str, Sequence[float] | Float]) -> list[Results]:
    """Some rows of each curve, at equal distances, the last one included."""
    made = []
    for name, values in series.items():
        rows = np.unique(np.linspace(1, len(values), min(len(values), POINTS)).astype(int))
        made += [
            {"rows": int(row), "value": float(values[row - 1]), "series": name} for row in rows
        ]
    return made


def _shares(codes: Ints, names: Sequence[str], windows: int = 20) -> list[Results]:
    """The share of each action by window."""
    made = []
    for part in np.array_split(np.arange(len(codes)), min(windows, len(codes))):
        counts = np.bincount(codes[part], minlength=len(names)) / len(part)
        made += [
            {"rows": int(part[-1]) + 1, "value": float(share), "series": name}
            for name, share in zip(names, counts, strict=True)
        ]
    return made


# The simulator


def _simulated(
    options: CommandOptions, blocks: Iterable[FileBlock]
) -> tuple[OnlineBandit, Results]:
    found = [block for block in blocks if len(block)]  # all classes are actions from the start
    labels = _labels(options, found)
    classes = list(dict.fromkeys(labels))
    if len(classes) < 2:
        raise ValueError(f"column {options.target!r} has fewer than two classes to choose from")
    game = Simulation(classes, _new_bandit(options, classes))
    first = 0
    for block in found:
        game.add(_contexts(options, block, options.target), labels[first : first + len(block)])
        first += len(block)
    rows = np.arange(1, len(labels) + 1)
    counts = {label: labels.count(label) for label in classes}
    constant = max(classes, key=counts.__getitem__)
    chosen = [each.chosen for each in game.played]
    running = {
        "bandit": [each.chosen == each.right for each in game.played],
        "with all labels": [each.informed for each in game.played],
        f"always {named(constant)}": [label == constant for label in labels],
    }
    codes = np.array([classes.index(label) for label in chosen])
    curves = {name: np.cumsum(values) / rows for name, values in running.items()}
    curves["exploration"] = np.cumsum([each.explored for each in game.played]) / rows
    return game.bandit, {
        "rows": len(labels),
        "mean": game.reward,
        "informed": game.informed,
        "constant": counts[constant] / len(labels),
        "constant_action": named(constant),
        "explored": float(curves["exploration"][-1]),
        "actions": [
            {"action": named(c), "shown": chosen.count(c), "mean": _mean_of(game, c)}
            for c in classes
        ],
        "curve": _thinned(curves),
        "shares": _shares(codes, [named(label) for label in classes]),
        "policies": [],
    }


def _labels(options: CommandOptions, blocks: Iterable[FileBlock]) -> Column:
    """The classes of all rows; a missing one is an error."""
    labels: Column = []
    for block in blocks:
        (own,) = _columns(options, block, options.target)
        for k, label in enumerate(own or ()):
            if label is None:
                raise ValueError(f"{_place(block, k, options.target)}: the class is missing")
        labels += own or []
    return labels


def _mean_of(game: Simulation, action: Hashable) -> float | None:
    own = [each.right == action for each in game.played if each.chosen == action]
    return sum(own) / len(own) if own else None


# What is shown


def _lines(found: Results) -> Iterator[str]:
    if found["kind"] == "simulation":
        yield f"{found['rows']:,} decisions, {counted(len(found['actions']), 'action')}"
        yield ""
        yield f"{'mean reward':>24}  {number(found['mean'])}"
        name = f"always {found['constant_action']}"
        yield f"{name:>24}  {number(found['constant'])} (the best constant action)"
        yield f"{'with all labels':>24}  {number(found['informed'])}"
        yield f"{'explored':>24}  {found['explored']:.1%} of the decisions"
        return
    yield f"{found['rows']:,} logged decisions, mean reward {number(found['mean'])}"
    yield ""
    if not found["has_probabilities"]:
        yield from _without_probabilities(found)
        return
    share = f"{1 - found['alpha']:.0%} interval"
    yield f"{'policy':>24}{'ips':>10}{'snips':>10}{'dr':>10}{share:>22}{'rows':>9}"
    for own in found["policies"]:
        values = "".join(f"{number(own[name]):>10}" for name in ("ips", "snips", "dr"))
        interval = f"{number(own['low'])} to {number(own['high'])}"
        yield f"{own['policy']:>24}{values}{interval:>22}{own['effective']:>9,.0f}"
    yield ""
    yield (
        "The intervals hold at all times at once, if the probabilities are those with which the "
        "actions were drawn. `rows`: as many decisions of the policy itself would tell as much."
    )


def _without_probabilities(found: Results) -> Iterator[str]:
    yield f"{'action':>24}{'shown':>10}{'mean':>10}"
    for own in found["actions"]:
        yield f"{own['action']:>24}{own['shown']:>10,}{number(own['mean']):>10}"
    yield ""
    learned = found["policies"][0]
    yield f"estimate for the {learned['policy']}, by the models alone: {number(learned['direct'])}"
    yield ""
    yield (
        "Without the probabilities with which the actions were drawn (--probability COLUMN), the "
        "value of another policy cannot be known: the log may show an action where it pays, and "
        "the means above say nothing about other contexts. The estimate of the models is right "
        "only as far as the models are."
    )


# Decisions of a saved bandit


def _bandit_of(path: str) -> OnlineBandit:
    """The bandit of a file; a model, or a bandit whose actions have features, is an error."""
    bandit = persistence.load(path)
    if not isinstance(bandit, OnlineBandit):
        raise ValueError(
            f"{path} predicts and does not decide: use `unitless predict`. A bandit is "
            "saved by `unitless evaluate LOG --action COLUMN --reward COLUMN --save MODEL`"
        )
    if bandit.has_features:
        raise ValueError(f"{path}: its actions have features of their own; use Python")
    return bandit


def write_decisions(options: CommandOptions) -> None:
    """Print an action and its probability for each row."""
    output = options.predictions or "-"
    check_outputs({"--output": output}, [*options.data, options.model])
    bandit = _bandit_of(options.model)
    actions = None if bandit.actions is not None else [*bandit.models]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if not options.json:
        writer.writerow(["row", "action", "probability"])
    row = 0
    with warnings_as_notes(options.quiet), Stopper() as stopper:
        encoder = bandit.encoding.encoder
        kinds = {} if encoder is None else encoder.kinds
        if kinds and os.path.isfile(options.data[0]):  # a file may lack some of the columns
            beginning = next(_tables(options)).frame
            kinds = {
                name: kinds[name] for name in getattr(beginning, "columns", ()) if name in kinds
            }
        for block in stopper.waiting_for(_tables(options, kinds)):
            if not len(block):
                continue
            found = bandit.choose(block.frame, actions)
            assert isinstance(found, Decisions)
            for k, action in enumerate(found.action.tolist()):
                row += 1
                p = float(found.probability[k])
                if not options.json:
                    writer.writerow([row, named(action), p])
                    continue
                rewards = dict(
                    zip(map(named, found.actions), found.estimates[k].tolist(), strict=True)
                )
                own = {"row": row, "action": named(action), "probability": p}
                text.write(json.dumps(own | {"estimates": rewards}, ensure_ascii=False) + "\n")
            stopper.check()
    if output == "-":
        standard_output().write(text.getvalue().encode())
    else:
        replace(output, text.getvalue().encode())
