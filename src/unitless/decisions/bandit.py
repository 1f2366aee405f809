"""`OnlineBandit`: choose actions, learn from the rewards of those that were chosen."""

import math
import os
from collections.abc import Hashable, Iterable, Mapping, Sequence
from copy import deepcopy
from threading import RLock
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.decisions import exploration
from unitless.decisions.contexts import (
    Contexts,
    Features,
    is_one,
    new_model,
    prepare,
    records_of,
    rows_of_contexts,
    with_features,
)
from unitless.decisions.exploration import Float
from unitless.labels import label_array
from unitless.model import Model
from unitless.model.intake import Prepared
from unitless.model.reservoir import KeptRow, row_of, rows_of_kept
from unitless.rows import Rows
from unitless.suggestions import listed, suggestion

Action = Hashable
Offered = Sequence[Action] | Mapping[Action, Features]
"""The actions that can be chosen: their names, or the features of each by its name."""


class Decision(NamedTuple):
    """One decision."""

    action: Action
    probability: float
    """The probability with which the action was drawn."""
    estimates: dict[Action, float]
    """The estimated reward of each action."""


class Decisions(NamedTuple):
    """Many decisions, one per context."""

    action: NDArray[np.generic]
    probability: Float
    estimates: Float
    """One row per context, one column per action."""
    actions: list[Action]
    """The actions, in the order of the columns."""


class Kept(NamedTuple):
    """A decision whose reward has not arrived."""

    number: int
    """Decisions made before it."""
    action: Action
    probability: float
    row: KeptRow
    """The features from which its reward is learned."""


class OnlineBandit:
    """A contextual bandit: it chooses actions and learns from the rewards of the chosen ones.

    Neither the units of the features nor unit and origin of the rewards matter, and there is
    nothing to tune. One regressor per action (the Blend) estimates its reward; an action is drawn
    by inverse gap weighting (`unitless.decisions.exploration`). One thread may learn while others
    choose.

    Parameters
    ----------
    actions : sequence or mapping, optional
        The names of the actions, or their features by name: {"offer 7": {"price": 3.5}}. Without,
        actions come and go: each call of `choose` names those that are possible. Actions with
        features share one regressor, which sees the context and the features of the action.
    explore : bool, default True
        Whether actions that do not look best are tried, too. Then every action has a positive
        probability at any time.
    deadline : int, optional
        After how many further decisions a decision that waits for its reward is given up.
    default_reward : float, optional
        The reward that is learned for a decision that is given up; without, none is learned.
    random_state : int, default 0
        Seed of the draws. The draw of a decision depends on this number and on how many decisions
        were made before it.

    Examples
    --------
    Visitors under 40 click offer A, others offer B:

    >>> bandit = OnlineBandit(["A", "B"])
    >>> clicks = 0
    >>> for visitor in range(500):
    ...     context = {"age": 20 + 7 * visitor % 50}
    ...     decision = bandit.choose(context)
    ...     click = (context["age"] < 40) == (decision.action == "A")
    ...     bandit.learn(context, decision.action, click, decision.probability)
    ...     clicks += click
    >>> clicks
    484
    >>> decision = bandit.choose({"age": 25})
    >>> print(decision.action, f"{decision.probability:.3f} {decision.estimates['A']:.2f}")
    A 1.000 1.00
    """

    def __init__(
        self,
        actions: Offered | None = None,
        *,
        explore: bool = True,
        deadline: int | None = None,
        default_reward: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.actions = None if actions is None else _checked_actions(actions)
        self.explore = bool(explore)
        if deadline is not None and (deadline < 1 or deadline != int(deadline)):
            raise ValueError(f"deadline = {deadline}: give a number of decisions, at least 1")
        if default_reward is not None:
            if deadline is None:
                raise ValueError("default_reward is learned after a deadline: give deadline, too")
            default_reward = _checked_reward(default_reward)
        if random_state < 0 or random_state != int(random_state):
            raise ValueError(f"random_state = {random_state}: give a whole number >= 0")
        self.deadline = deadline
        self.default_reward = default_reward
        self.random_state = int(random_state)
        self.models: dict[Action, Model] = {}
        """The regressor of each action that was learned; one for all actions with features."""
        self.encoding = new_model()
        """Turns contexts into rows; it learns nothing."""
        self.has_features: bool | None = isinstance(actions, Mapping) if actions else None
        self.decisions = 0
        self.rewards = 0
        self.total = 0.0
        """Sum of the rewards."""
        self.low = math.inf
        self.high = -math.inf
        self.waiting: dict[Hashable, Kept] = {}
        """Decisions whose reward has not arrived, by id, the oldest first."""
        self.lock = RLock()

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"lock": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, lock=RLock())

    def __repr__(self) -> str:
        count = "" if self.actions is None else f"{len(self.actions)} actions, "
        return f"<OnlineBandit: {count}{self.decisions} decisions, {self.rewards} rewards learned>"

    # Choosing

    def choose(
        self,
        context: Contexts,
        actions: Offered | None = None,
        *,
        id: Hashable | Sequence[Hashable] | None = None,
    ) -> Decision | Decisions:
        """Choose an action for a context, or one for each of many.

        Parameters
        ----------
        context : dict, row, data frame, array or list of dicts
            Many contexts give the same decisions as one call after another.
        actions : sequence or mapping, optional
            The actions that are possible now, if they come and go; see the class.
        id : hashable, or a sequence of them for many contexts, optional
            Keeps the decision until `reward(id, value)`.

        Returns
        -------
        Decision or Decisions
            `action`, the `probability` with which it was drawn, and the `estimates`.
        """
        with self.lock:
            offered = self._offered(actions)
            if is_one(context):
                return self._choose_one(context, offered, id)
            count = len(context)
            ids = [None] * count if id is None else _checked_ids(id, count)
            if self.deadline is None and self.has_features is False and id is None:
                return self._choose_many(context, offered)
            records = records_of(context) if self.has_features else context
            found = [self._choose_one(_row(records, k), offered, ids[k]) for k in range(count)]
            return _together(found, [*offered])

    def _choose_one(self, context: Contexts, offered: Offered, id: Hashable | None) -> Decision:
        if id is not None and id in self.waiting:
            raise ValueError(f"id {id!r}: a decision with this id waits for its reward already")
        prepared = self._prepared(context, offered, grow=id is not None)
        rows = prepared.rows
        self._give_up()
        estimates, drawn = self._answers(rows, offered)
        k = int(exploration.draw(drawn, self.decisions, self.random_state)[0])
        action = [*offered][k]
        decision = Decision(
            action, float(drawn[0, k]), dict(zip(offered, estimates[0].tolist(), strict=True))
        )
        if id is not None:
            prepared.commit()
            row = row_of(rows, k if self.has_features else 0)
            self.waiting[id] = Kept(self.decisions, action, decision.probability, row)
        self.decisions += 1
        return decision

    def _choose_many(self, contexts: Contexts, offered: Offered) -> Decisions:
        rows = self._prepared(contexts, offered, grow=False).rows
        estimates, drawn = self._answers(rows, offered)
        chosen = exploration.draw(drawn, self.decisions, self.random_state)
        self.decisions += len(rows)
        actions = [*offered]
        return Decisions(
            label_array(actions)[chosen], drawn[np.arange(len(rows)), chosen], estimates, actions
        )

    def _offered(self, actions: Offered | None) -> Offered:
        """The possible actions, with their features if they have any."""
        if actions is None:
            if self.actions is None:
                raise ValueError(
                    "no actions: give them to OnlineBandit(actions=...) or to choose(..., actions)"
                )
            offered = self.actions
        else:
            offered = _checked_actions(actions)
        self._check_kind(isinstance(offered, Mapping))
        if actions is not None and self.actions is not None:
            for action in offered:
                self._check_action(action)
        return offered

    def _check_kind(self, has_features: bool) -> None:
        """Actions have features of their own, or none of them has; the first call decides."""
        if self.has_features is not None and self.has_features != has_features:
            before, now = ("with", "without") if self.has_features else ("without", "with")
            raise ValueError(f"actions {now} features, and this bandit has learned {before} them")

    def _check_action(self, action: Action) -> None:
        if self.actions is not None and action not in self.actions:
            hint = suggestion(str(action), [*map(str, self.actions)])
            known = listed(map(repr, self.actions))
            raise ValueError(f"unknown action {action!r}{hint or f'; the actions are {known}'}")

    def _prepared(self, contexts: Contexts, offered: Offered, *, grow: bool) -> Prepared:
        """Rows to predict: one per context or, with features, one per action of one context."""
        if self.has_features is None:
            self.has_features = isinstance(offered, Mapping)
        if isinstance(offered, Mapping):
            contexts = [with_features(contexts, features) for features in offered.values()]
        prepare(self.encoding, contexts)
        return rows_of_contexts(self.encoding, contexts, grow)

    def _answers(self, rows: Rows, offered: Offered) -> tuple[Float, Float]:
        """Estimated rewards and probabilities, one row per decision, one column per action."""
        estimates = self._estimates(rows, offered)
        if isinstance(offered, Mapping):
            counts = np.full(len(offered), self.rewards)
        else:
            learned = [self.models[a].rows if a in self.models else 0 for a in offered]
            counts = np.array(learned)
        if not self.explore:
            return estimates, exploration.greedy(estimates)
        drawn = exploration.probabilities(estimates, counts, self.rewards, self.low, self.high)
        return estimates, drawn

    def _estimates(self, rows: Rows, actions: Offered) -> Float:
        """The estimated rewards, one row per context, one column per action."""
        if isinstance(actions, Mapping):
            shared = self.models.get(None)
            found = np.zeros(len(rows)) if shared is None else shared.predict_rows(rows)
            return found.reshape(-1, len(actions))
        estimates = np.empty((len(rows), len(actions)))
        for k, action in enumerate(actions):
            model = self.models.get(action)
            own = self.mean_reward if model is None else model.predict_rows(rows)
            estimates[:, k] = own
        return estimates

    def probabilities(
        self, context: Contexts, actions: Offered | None = None
    ) -> dict[Action, float]:
        """The probability with which each action would be chosen now; nothing is drawn or kept."""
        with self.lock:
            offered = self._offered(actions)
            before = self.encoding.encoder, self.has_features
            try:
                rows = self._prepared(context, offered, grow=False).rows
            finally:
                self.encoding.encoder, self.has_features = before
            return dict(zip(offered, self._answers(rows, offered)[1][0].tolist(), strict=True))

    def estimates(self, context: Contexts, actions: Offered) -> Float:
        """The estimated rewards of actions; nothing is drawn or kept.

        One row per context, one column per action.
        """
        with self.lock:
            self._check_kind(isinstance(actions, Mapping))
            for action in actions:
                self._check_action(action)
            if isinstance(actions, Mapping):
                records = [context] if is_one(context) else records_of(context)
                context = [with_features(each, own) for each in records for own in actions.values()]
            prepared = self.encoding.encoder
            try:
                prepare(self.encoding, context)
                rows = rows_of_contexts(self.encoding, context, False).rows
            finally:
                self.encoding.encoder = prepared
            return self._estimates(rows, actions)

    @property
    def mean_reward(self) -> float:
        """The mean of all rewards, the estimate of an action that was never tried."""
        return self.total / self.rewards if self.rewards else 0.0

    # Learning

    def learn(
        self,
        context: Contexts,
        action: Action | Sequence[Action],
        reward: float | ArrayLike,
        probability: float | ArrayLike | None = None,
        *,
        actions: Mapping[Action, Features] | None = None,
    ) -> None:
        """Learn the reward of an action in a context, or those of many decisions in order.

        If an error is raised, nothing was learned.

        Parameters
        ----------
        context : dict, row, data frame, array or list of dicts
        action : the action that was chosen; one per context
        reward : the reward that it got; one per context
        probability : number or one per context, optional
            With which the action was chosen, between 0 and 1. It is checked; the estimates do not
            depend on it.
        actions : mapping, optional
            The features of the actions, if they have any and were not given to the constructor.
        """
        one = is_one(context)
        chosen = [action] if one else _listed(action)
        given = [reward] if one else _listed(reward)
        drawn = [] if probability is None else [probability] if one else _listed(probability)
        with self.lock:
            count = 1 if one else len(context)
            for name, values in (("action", chosen), ("reward", given)):
                if len(values) != count:
                    raise ValueError(f"{count} contexts and {len(values)} {name}s: give one each")
            rewards = [_checked_reward(value, k, count) for k, value in enumerate(given)]
            for k, p in enumerate(drawn):
                _check_probability(p, k, count)
            for each in chosen:
                self._check_action(each)
            features = self._features_of(chosen, actions)
            self._check_kind(features is not None)
            if features is not None:
                records = [context] if one else records_of(context)
                context = [
                    with_features(record, own)
                    for record, own in zip(records, features, strict=True)
                ]
            before = self.encoding.encoder, self.has_features
            try:
                self.has_features = features is not None
                prepare(self.encoding, context)
                prepared = rows_of_contexts(self.encoding, context, grow=True)
                self._learn_rows(prepared.rows, chosen, rewards)
            except BaseException:
                self.encoding.encoder, self.has_features = before
                raise
            prepared.commit()

    def _features_of(
        self, chosen: Sequence[Action], actions: Mapping[Action, Features] | None
    ) -> list[Features] | None:
        """The features of the chosen actions, or None if actions have none."""
        own = actions if actions is not None else self.actions
        if not isinstance(own, Mapping):
            if self.has_features:
                raise ValueError("the actions have features: give learn(..., actions={...}), too")
            return None
        for action in chosen:
            if action not in own:
                raise ValueError(f"unknown action {action!r}: its features are not in `actions`")
        return [own[action] for action in chosen]

    def _learn_rows(self, rows: Rows, chosen: Sequence[Action], rewards: Sequence[float]) -> None:
        """Learn rows that were prepared, all of them or none."""
        targets = np.array(rewards)
        places: dict[Action, list[int]] = {}
        for k, action in enumerate(chosen):
            places.setdefault(None if self.has_features else action, []).append(k)
        parts = []
        for action, own in places.items():
            model = self.models.get(action) or new_model()
            piece = rows if len(own) == len(rows) else rows.take(np.array(own))
            piece = piece.with_targets(targets[own])
            parts.append((action, model, piece))
        for _, model, piece in parts if len(parts) > 1 else []:  # one alone is refused as a whole
            model.learner.check(piece)
        for action, model, piece in parts:
            model.learn_rows(piece)
            self.models[action] = model
        for reward in rewards:
            self.total += reward
            self.low = min(self.low, reward)
            self.high = max(self.high, reward)
        self.rewards += len(rewards)

    # Decisions that wait for their reward

    def reward(self, id: Hashable, value: float) -> None:
        """Learn the reward of the decision that was kept by `choose(..., id=id)`."""
        with self.lock:
            checked = _checked_reward(value)
            if id not in self.waiting:
                why = ""
                if self.deadline is not None:
                    why = f", or it was given up after {self.deadline} further decisions"
                raise ValueError(
                    f"id {id!r}: no decision with this id waits for a reward. It was not chosen "
                    f"with choose(..., id=...), or its reward has been learned already{why}"
                )
            kept = self.waiting[id]
            self._learn_rows(rows_of_kept([kept.row]), [kept.action], [checked])
            del self.waiting[id]

    def _give_up(self) -> None:
        """Give up decisions whose deadline is over before the next decision."""
        if self.deadline is None:
            return
        for id in [*self.waiting]:
            kept = self.waiting[id]
            if self.decisions - kept.number <= self.deadline:
                return
            del self.waiting[id]
            if self.default_reward is not None:
                self._learn_rows(rows_of_kept([kept.row]), [kept.action], [self.default_reward])

    # Copies and files

    def copy(self) -> "OnlineBandit":
        """A bandit in the same state, which goes on by itself."""
        with self.lock:
            return deepcopy(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the bandit with all that it has learned; `unitless.load` gives it back."""
        from unitless import persistence

        with self.lock:
            persistence.save(self, path)


def _checked_actions(actions: Offered) -> Offered:
    """The actions, each once."""
    if isinstance(actions, str) or not isinstance(actions, Iterable):
        raise TypeError(f"actions = {actions!r}: give a list of names, or their features by name")
    made: Offered = dict(actions) if isinstance(actions, Mapping) else [*actions]
    if not made:
        raise ValueError("there are no actions to choose from")
    if len({*made}) < len(made):
        twice = next(action for k, action in enumerate(made) if action in [*made][:k])
        raise ValueError(f"action {twice!r} is given twice")
    if isinstance(made, Mapping):
        for action, features in made.items():
            if not isinstance(features, Mapping):
                raise TypeError(f"action {action!r}: its features are {{name: value}}")
    return made


def _checked_reward(value: object, row: int = 0, count: int = 1) -> float:
    where = f"row {row}: " if count > 1 else ""
    try:
        number = float("text") if isinstance(value, str | bytes) else float(value)  # type: ignore
    except (TypeError, ValueError):
        raise ValueError(f"{where}reward {value!r} is not a number") from None
    if not math.isfinite(number):
        raise ValueError(
            f"{where}reward {number} is not finite: leave out decisions whose reward is not known"
        )
    return number


def _check_probability(value: object, row: int, count: int) -> None:
    where = f"row {row}: " if count > 1 else ""
    if isinstance(value, str | bytes) or not 0 < value <= 1:  # type: ignore[operator]
        raise ValueError(f"{where}probability {value!r} is not between 0 and 1")


def _checked_ids(ids: object, count: int) -> list[Hashable]:
    made = _listed(ids)
    if len(made) != count:
        raise ValueError(f"{count} contexts and {len(made)} ids: give one each")
    if len({*made}) < count:
        raise ValueError("an id is given twice: the reward of a decision comes by its id")
    return made


def _listed(values: object) -> list[Hashable]:
    """The values of a list, an array or a column."""
    if hasattr(values, "tolist"):
        found = values.tolist()
        return found if isinstance(found, list) else [found]
    if hasattr(values, "to_list"):
        return list(values.to_list())
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{values!r}: many contexts need a list")
    return list(values)


def _row(contexts: Contexts, k: int) -> Contexts:
    """One of many contexts, as a block of one row if it is no dict."""
    if isinstance(contexts, list):
        return contexts[k]
    return contexts.iloc[k : k + 1] if hasattr(contexts, "iloc") else contexts[k : k + 1]


def _together(found: Sequence[Decision], actions: list[Action]) -> Decisions:
    """Decisions of single contexts as arrays."""
    estimates = [[each.estimates[action] for action in actions] for each in found]
    return Decisions(
        label_array([each.action for each in found]),
        np.array([each.probability for each in found]),
        np.array(estimates).reshape(len(found), len(actions)),
        actions,
    )
