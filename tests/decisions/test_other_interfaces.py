"""The bandit in the shapes of River and coba."""

import numpy as np
import pytest

from unitless.decisions.coba import CobaLearner
from unitless.river import UnitlessBandit


def test_a_river_policy_is_the_bandit():
    from unitless import OnlineBandit

    policy, direct = UnitlessBandit(seed=3), OnlineBandit(random_state=3)
    for k in range(40):
        context = {"x": float(k % 7), "colour": "red" if k % 2 else "blue"}
        arm = policy.pull(["A", "B", "C"], context=context)
        decision = direct.choose(context, ["A", "B", "C"])
        assert arm == decision.action
        reward = float(arm == "ABC"[k % 3])
        policy.update(arm, context, reward)
        direct.learn(context, arm, reward)
    assert policy.ranking
    assert "Pulls" in repr(policy)


def test_a_river_policy_is_cloned_without_what_it_learned():
    policy = UnitlessBandit(seed=3)
    policy.update("A", {"x": 1.0}, 1.0)
    other = policy.clone()
    assert other.seed == 3
    assert other.to_bandit().rewards == 0


def test_coba_learners_by_hand():
    learner = CobaLearner()
    for k in range(30):
        context, actions = (float(k), "a"), [(1, 0), (0, 1)]
        shares = [learner.score(context, actions, each) for each in actions]
        action, probability = learner.predict(context, actions)
        assert sum(shares) == pytest.approx(1)
        assert probability == shares[actions.index(action)]
        learner.learn(context, action, float(action == (1, 0)), probability)
    assert learner.predict((1.0, "a"), [(1, 0), (0, 1)])[0] == (1, 0)
    featured = CobaLearner()
    action, probability = featured.predict(None, [{"price": 1.0}, {"price": 2.0}])
    featured.learn(None, action, 1.0, probability)


@pytest.mark.filterwarnings("ignore")
def test_an_experiment_of_coba():
    coba = pytest.importorskip("coba")
    environments = coba.Environments.from_linear_synthetic(200, n_actions=3, seed=1)
    learners = [CobaLearner(), coba.RandomLearner()]
    result = coba.Experiment(environments, learners).run(quiet=True)
    found = [*result.interactions.to_dicts()]
    rewards = {
        learner: np.mean([each["reward"] for each in found if each["learner_id"] == learner])
        for learner in (0, 1)
    }
    assert rewards[0] > rewards[1]
