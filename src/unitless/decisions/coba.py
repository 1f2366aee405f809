"""The bandit with the learner protocol of coba: `params`, `predict`, `score` and `learn`.

coba is not needed to import this.
"""

from collections.abc import Hashable, Mapping, Sequence

from unitless.decisions.bandit import Action, Decision, OnlineBandit
from unitless.decisions.contexts import Features

Given = object
"""A context or an action of coba: None, a value, a sequence of values, or a dict."""


class CobaLearner:
    """A contextual bandit for coba's experiments.

    Actions that are dicts are features; others are names.

    Examples
    --------
    >>> learner = CobaLearner()
    >>> action, probability = learner.predict({"age": 31}, ["A", "B"])
    >>> learner.learn({"age": 31}, action, 1.0, probability)
    >>> learner.bandit.rewards
    1
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.bandit = OnlineBandit(random_state=seed)

    @property
    def params(self) -> dict[str, object]:
        """What an experiment says of the learner."""
        return {"family": "Unitless", "seed": self.seed}

    def predict(self, context: Given, actions: Sequence[Given]) -> tuple[Given, float]:
        """The action that is drawn, and its probability."""
        decision = self.bandit.choose(_features(context), _offered(actions))
        assert isinstance(decision, Decision)
        chosen = next(each for each in actions if _name(each) == decision.action)
        return chosen, decision.probability

    def score(self, context: Given, actions: Sequence[Given], action: Given) -> float:
        """The probability with which an action would be drawn now."""
        found = self.bandit.probabilities(_features(context), _offered(actions))
        return found[_name(action)]

    def learn(
        self, context: Given, action: Given, reward: float, probability: float, **_: object
    ) -> None:
        """Learn the reward of an action."""
        own = {_name(action): action} if isinstance(action, Mapping) else None
        self.bandit.learn(_features(context), _name(action), reward, probability, actions=own)


def _features(context: Given) -> Features:
    """A context as a dict.

    >>> _features(None), _features("red"), _features((1, "a"))
    ({}, {'0': 'red'}, {'0': 1, '1': 'a'})
    """
    if context is None:
        return {}
    if isinstance(context, Mapping):
        return context
    if isinstance(context, str) or not isinstance(context, Sequence):
        context = [context]
    return {str(k): value for k, value in enumerate(context)}


def _name(action: Given) -> Action:
    """An action as the name that it has in the bandit."""
    if isinstance(action, Mapping):
        return tuple(action.items())
    if isinstance(action, Hashable):
        return str(action) if isinstance(action, str) else action
    assert isinstance(action, list)
    return tuple(action)


def _offered(actions: Sequence[Given]) -> list[Action] | dict[Action, Features]:
    if all(isinstance(each, Mapping) for each in actions):
        return {_name(each): each for each in actions if isinstance(each, Mapping)}
    return [_name(each) for each in actions]
