"""`OnlineBandit`: laws of decisions, kinds of contexts and actions, and refused input."""

import copy
import pickle
from datetime import date, timedelta

import numpy as np
import pandas
import polars
import pytest

import unitless
from unitless import OnlineBandit

pytestmark = pytest.mark.quick
ACTIONS = ["A", "B", "C"]


def contexts(rows=60, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, 3)), rng.integers(0, 3, size=rows)


def play(bandit, X, y, rewards=None, first=0):
    """Decisions and rewards of rows in turn; returns what was chosen, drawn and estimated."""
    table = np.eye(3)[y] if rewards is None else rewards
    found = []
    for k in range(first, len(X)):
        decision = bandit.choose(X[k])
        reward = table[k, ACTIONS.index(decision.action)]
        bandit.learn(X[k], decision.action, reward, decision.probability)
        found.append(decision)
    return found


def seen(found):
    return [(each.action, each.probability) for each in found]


# Laws


@pytest.mark.parametrize("unit", [2.0**40, 2.0**-30])
def test_units_of_features_and_rewards_change_no_bit(unit):
    X, y = contexts()
    table = np.random.default_rng(1).normal(size=(60, 3))
    first = play(OnlineBandit(ACTIONS), X, y, table)
    scaled = play(OnlineBandit(ACTIONS), X * [unit, 1 / unit, 1.0], y, table * unit)
    assert seen(first) == seen(scaled)
    for a, b in zip(first[1:], scaled[1:], strict=True):
        assert [e * unit for e in a.estimates.values()] == [*b.estimates.values()]


@pytest.mark.parametrize(("factor", "origin"), [(3.7, 0.0), (1.0, 12.5), (0.001, -4.0)])
def test_other_units_and_origins_change_no_choice(factor, origin):
    X, y = contexts()
    table = np.random.default_rng(1).normal(size=(60, 3))
    first = play(OnlineBandit(ACTIONS), X, y, table)
    other = play(OnlineBandit(ACTIONS), X * [1, 1000 / 3, 0.7], y, table * factor + origin)
    assert [each.action for each in first] == [each.action for each in other]
    p = [[each.probability for each in found] for found in (first, other)]
    assert p[0] == pytest.approx(p[1], rel=1e-6)


def test_a_block_of_decisions_is_one_by_one():
    X, y = contexts()
    bandit = OnlineBandit(ACTIONS)
    play(bandit, X, y)
    other = bandit.copy()
    block = bandit.choose(X[:20])
    single = [other.choose(x) for x in X[:20]]
    assert block.action.tolist() == [each.action for each in single]
    assert block.probability.tolist() == [each.probability for each in single]
    assert block.estimates.tolist() == [[*each.estimates.values()] for each in single]
    assert bandit.decisions == other.decisions == 80


def test_rewards_of_a_block_are_learned_one_by_one():
    X, y = contexts()
    shown = [ACTIONS[k % 3] for k in range(60)]
    block, single = OnlineBandit(ACTIONS), OnlineBandit(ACTIONS)
    block.learn(X, shown, y / 7)
    for x, action, reward in zip(X, shown, y / 7, strict=True):
        single.learn(x, action, reward)
    assert block.choose(X[:5]).estimates.tolist() == single.choose(X[:5]).estimates.tolist()
    assert block.mean_reward == single.mean_reward


@pytest.mark.parametrize("again", ["file", "pickle", "copy"])
def test_resumed_to_the_bit(again, tmp_path):
    X, y = contexts()
    whole = OnlineBandit(ACTIONS, random_state=5)
    expected = play(whole, X, y)
    bandit = OnlineBandit(ACTIONS, random_state=5)
    first = play(bandit, X[:25], y[:25])
    if again == "file":
        unitless.save(bandit, tmp_path / "bandit")
        bandit = unitless.load(tmp_path / "bandit")
    else:
        made = copy.deepcopy if again == "copy" else lambda b: pickle.loads(pickle.dumps(b))
        bandit = made(bandit)
    rest = play(bandit, X, y, first=25)
    assert expected == first + rest


def test_another_seed_draws_others():
    X, y = contexts()
    assert seen(play(OnlineBandit(ACTIONS), X, y)) == seen(play(OnlineBandit(ACTIONS), X, y))
    others = play(OnlineBandit(ACTIONS, random_state=1), X, y)
    assert seen(play(OnlineBandit(ACTIONS), X, y)) != seen(others)


def test_an_action_never_tried_starts_at_the_mean_reward():
    bandit = OnlineBandit(ACTIONS)
    for reward in (1.0, 4.0):
        bandit.learn({"x": 1.0}, "A", reward)
    assert bandit.choose({"x": 1.0}).estimates["B"] == 2.5


def test_without_exploration_the_first_of_the_best_is_chosen():
    bandit = OnlineBandit(ACTIONS, explore=False)
    assert bandit.choose({"x": 1.0})[:2] == ("A", 1.0)
    bandit.learn({"x": 1.0}, "C", 1.0)
    bandit.learn({"x": 2.0}, "A", 0.0)
    assert bandit.choose({"x": 1.0}).action == "C"


def test_it_learns_which_action_pays():
    X, y = contexts(400)
    y = (X[:, 0] > 0) + (X[:, 1] > 0).astype(int)
    found = play(OnlineBandit(ACTIONS), X, y)
    right = [each.action == ACTIONS[label] for each, label in zip(found, y, strict=True)]
    assert np.mean(right[200:]) > 0.8


def test_estimates_do_not_use_recent_rewards():
    rng = np.random.default_rng(0)
    bandit = OnlineBandit(["A"])
    level = np.repeat(rng.normal(size=20), 20)  # rewards that follow one another
    for reward in level:
        bandit.learn({"x": 1.0}, "A", reward)
    model = bandit.models["A"]
    assert model.predict_rows(bandit_rows(bandit, {"x": 1.0})) == [
        bandit.choose({"x": 1.0}).estimates["A"]
    ]


def bandit_rows(bandit, context):
    from unitless.decisions.contexts import rows_of_contexts

    return rows_of_contexts(bandit.encoding, context, False)[0]


# Contexts and actions


def frames():
    first = date(2026, 1, 1)
    return {
        "age": [31, 25, None, 40] * 5,
        "city": ["Oslo", "Rome", "Oslo", None] * 5,
        "day": [first + timedelta(days=k) for k in range(20)],
    }


@pytest.mark.parametrize("kind", [pandas.DataFrame, polars.DataFrame])
def test_frames_with_categories_dates_and_missing_values(kind):
    frame = kind(frames())
    bandit = OnlineBandit(ACTIONS)
    shown = [ACTIONS[k % 3] for k in range(20)]
    first = bandit.choose(frame)
    assert first.estimates.shape == (20, 3)
    bandit.learn(frame, shown, np.arange(20.0))
    assert "city=Oslo" in bandit.encoding.feature_names()
    assert np.isfinite(bandit.choose(frame).estimates).all()


def test_dicts_with_dates_are_those_of_a_frame():
    table = frames()
    records = [
        dict(zip(table, values, strict=True)) for values in zip(*table.values(), strict=True)
    ]
    by_frame, by_dict = OnlineBandit(ACTIONS), OnlineBandit(ACTIONS)
    shown = [ACTIONS[k % 3] for k in range(20)]
    by_frame.learn(polars.DataFrame(table), shown, np.arange(20.0))
    for record, action, reward in zip(records, shown, range(20), strict=True):
        by_dict.learn(record, action, reward)
    found = [by_dict.choose(record).probability for record in records]
    assert by_frame.choose(polars.DataFrame(table)).probability.tolist() == found


def test_dicts_whose_keys_come_and_go():
    bandit = OnlineBandit(ACTIONS)
    bandit.learn({"x": 1.0, "colour": "red"}, "A", 1.0)
    bandit.learn({"z": 1.0}, "A", 0.0)
    assert [*bandit.encoding.feature_names()] == ["colour=red", "x", "z"]
    assert bandit.choose({"other": 2.0, "x": None}).action in ACTIONS


def test_actions_that_come_and_go():
    bandit = OnlineBandit()
    for k in range(30):
        offered = ["A", "B"] if k < 15 else ["B", "C"]
        decision = bandit.choose({"x": float(k)}, offered)
        assert [*decision.estimates] == offered
        bandit.learn({"x": float(k)}, decision.action, decision.action == "B")
    assert bandit.choose({"x": 1.0}, ["A", "B", "C"]).action == "B"


def offers(rng):
    names = rng.choice(["north", "south", "east"], 2, replace=False)
    return {name: {"price": float(rng.uniform(1, 5)), "kind": str(name)} for name in names}


def test_actions_with_features_of_their_own():
    rng = np.random.default_rng(0)
    bandit = OnlineBandit()
    cheaper = []
    for k in range(300):
        context, offered = {"age": float(rng.integers(20, 60))}, offers(rng)
        decision = bandit.choose(context, offered, id=k)
        price = offered[decision.action]["price"]
        bandit.reward(k, 10 - price)
        cheaper.append(price == min(offer["price"] for offer in offered.values()))
    assert np.mean(cheaper[150:]) > 0.85


def test_learning_with_the_features_of_actions():
    offered = {"a": {"price": 1.0}, "b": {"price": 2.0}}
    one, other = OnlineBandit(offered), OnlineBandit()
    for k in range(10):
        one.learn({"x": float(k)}, "ab"[k % 2], float(k))
        other.learn({"x": float(k)}, "ab"[k % 2], float(k), actions=offered)
    assert one.choose({"x": 2.0}) == other.choose({"x": 2.0}, offered)
    many = pandas.DataFrame({"x": [2.0, 3.0]})
    assert one.choose(many).action.tolist() == [
        other.choose(x, offered).action for x in ({"x": 2.0}, {"x": 3.0})
    ]


# Rewards that come later


def test_late_rewards_are_learned_as_if_they_came_at_once():
    X, y = contexts(20)
    late, direct = OnlineBandit(ACTIONS), OnlineBandit(ACTIONS)
    shown = late.choose(X, id=range(20))
    direct.choose(X)
    for k in range(20):
        late.reward(k, float(y[k]))
        direct.learn(X[k], shown.action[k], float(y[k]))
    assert late.choose(X).estimates.tolist() == direct.choose(X).estimates.tolist()
    assert not late.waiting


def test_a_deadline_gives_up_decisions_and_learns_the_default():
    bandit = OnlineBandit(ACTIONS, deadline=2, default_reward=0.0)
    for k in range(4):
        bandit.choose({"x": 1.0}, id=k)
    assert [*bandit.waiting] == [1, 2, 3]
    assert bandit.rewards == 1
    with pytest.raises(ValueError, match="given up after 2 further decisions"):
        bandit.reward(0, 1.0)
    never = OnlineBandit(ACTIONS, deadline=1)
    for k in range(4):
        never.choose({"x": 1.0}, id=k)
    assert never.rewards == 0
    assert [*never.waiting] == [2, 3]


def test_a_block_with_a_deadline_is_one_by_one():
    X, _ = contexts(12)
    block, single = (OnlineBandit(ACTIONS, deadline=3, default_reward=-1.0) for _ in "ab")
    found = block.choose(X, id=range(12))
    expected = [single.choose(x, id=k) for k, x in enumerate(X)]
    assert found.action.tolist() == [each.action for each in expected]
    assert block.rewards == single.rewards == 8


def test_decisions_that_wait_are_saved(tmp_path):
    bandit = OnlineBandit(ACTIONS, deadline=50)
    for k in range(5):
        bandit.choose({"x": float(k), "colour": "red"}, id=("visit", k))
    bandit.save(tmp_path / "bandit")
    loaded = unitless.load(tmp_path / "bandit")
    assert [*loaded.waiting] == [*bandit.waiting]
    for each in (bandit, loaded):
        each.reward(("visit", 3), 1.5)
    assert loaded.choose({"x": 2.0}) == bandit.choose({"x": 2.0})


# What is refused


def state(bandit, folder):
    bandit.save(folder / "state")
    return (folder / "state").read_bytes()


REFUSED = {
    "unknown action": lambda b: b.learn({"x": 1.0}, "D", 1.0),
    "not in the list": lambda b: b.choose({"x": 1.0}, ["A", "D"]),
    "infinite reward": lambda b: b.learn({"x": 1.0}, "A", float("inf")),
    "no number": lambda b: b.learn({"x": 1.0}, "A", "yes"),
    "missing reward": lambda b: b.learn({"x": 1.0}, "A", None),
    "probability 0": lambda b: b.learn({"x": 1.0}, "A", 1.0, 0.0),
    "probability above 1": lambda b: b.learn({"x": 1.0}, "A", 1.0, 1.5),
    "probability NaN": lambda b: b.learn({"x": 1.0}, "A", 1.0, float("nan")),
    "unknown id": lambda b: b.reward("none", 1.0),
    "twice the same reward": lambda b: b.reward("done", 1.0),
    "late reward not finite": lambda b: b.reward("kept", float("nan")),
    "id in use": lambda b: b.choose({"x": 1.0}, id="kept"),
    "infinite feature": lambda b: b.learn({"x": float("inf"), "new": 1.0}, "B", 1.0),
    "second of two": lambda b: b.learn([{"x": 1.0}, {"y": 2.0}], ["A", "B"], [1.0, np.inf]),
    "reward far away": lambda b: b.learn([{"x": 1.0}, {"y": 2.0}], ["B", "A"], [1.0, 1e300]),
    "one reward for two": lambda b: b.learn([{"x": 1.0}, {"y": 2.0}], ["B", "A"], [1.0]),
    "features": lambda b: b.choose({"x": 1.0}, {"A": {"price": 1.0}}),
    "no actions": lambda b: b.choose({"x": 1.0}, []),
    "an action twice": lambda b: b.choose({"x": 1.0}, ["A", "A"]),
}
MESSAGES = {
    "unknown action": "unknown action 'D'; the actions are 'A', 'B', 'C'",
    "infinite reward": "reward inf is not finite",
    "second of two": "row 1: reward inf is not finite",
    "probability 0": "probability 0.0 is not between 0 and 1",
    "twice the same reward": "no decision with this id waits for a reward",
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_input_changes_nothing(name, tmp_path):
    bandit = OnlineBandit(ACTIONS)
    for k in range(4):
        bandit.learn({"x": float(k)}, ACTIONS[k % 2], float(k))
    bandit.choose({"x": 1.0}, id="done")
    bandit.choose({"x": 1.0}, id="kept")
    bandit.reward("done", 0.5)
    before = state(bandit, tmp_path)
    with pytest.raises((ValueError, TypeError), match=MESSAGES.get(name)):
        REFUSED[name](bandit)
    assert state(bandit, tmp_path) == before


@pytest.mark.parametrize(
    "arguments",
    [
        {"actions": []},
        {"actions": "AB"},
        {"actions": ["A", "A"]},
        {"actions": ["A"], "deadline": 0},
        {"actions": ["A"], "default_reward": 0.0},
        {"actions": ["A"], "deadline": 3, "default_reward": np.inf},
        {"actions": ["A"], "random_state": -1},
        {"actions": {"A": 3.5}},
    ],
)
def test_refused_parameters(arguments):
    with pytest.raises((ValueError, TypeError)):
        OnlineBandit(**arguments)


def test_without_actions_there_is_nothing_to_choose():
    with pytest.raises(ValueError, match="no actions"):
        OnlineBandit().choose({"x": 1.0})


def test_actions_with_and_without_features_do_not_mix():
    bandit = OnlineBandit()
    bandit.learn({"x": 1.0}, "A", 1.0, actions={"A": {"price": 2.0}})
    with pytest.raises(ValueError, match="without features"):
        bandit.choose({"x": 1.0}, ["A"])
    with pytest.raises(ValueError, match="is a feature of the context and of an action"):
        bandit.choose({"price": 1.0}, {"A": {"price": 2.0}})


def test_damaged_files_are_refused(tmp_path):
    bandit = OnlineBandit(ACTIONS)
    bandit.learn({"x": 1.0}, "A", 1.0)
    bandit.save(tmp_path / "bandit")
    data = bytearray((tmp_path / "bandit").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "bandit").write_bytes(data)
    with pytest.raises(unitless.persistence.ModelFileError):
        unitless.load(tmp_path / "bandit")
