"""The bandit with River's interface of contextual policies: `pull` and `update`.

River is an optional extra: pip install "unitless[river]".
"""

from collections.abc import Hashable, Mapping

from river import bandit, stats
from river.bandit.base import ArmID

from unitless.decisions.bandit import OnlineBandit


class UnitlessBandit(bandit.base.ContextualPolicy):
    """A contextual bandit for River's `bandit` module, which needs no scaler and no tuning.

    Arms may come and go. See `unitless.OnlineBandit`.

    Parameters
    ----------
    reward_obj : optional
        River's statistic by which arms are ranked; it does not change what is pulled.
    seed : int, default 0
        Seed of the draws.

    Examples
    --------
    >>> policy = UnitlessBandit()
    >>> right = 0
    >>> for hour in range(300):
    ...     context = {"hour": hour * 7 % 24}
    ...     arm = policy.pull(["coffee", "tea"], context=context)
    ...     reward = (context["hour"] < 12) == (arm == "coffee")
    ...     policy.update(arm, context, float(reward))
    ...     right += reward
    >>> right
    290
    """

    def __init__(self, reward_obj: stats.base.Statistic | None = None, seed: int = 0) -> None:
        super().__init__(reward_obj)
        self.seed = seed
        self._bandit = OnlineBandit(random_state=seed)

    def to_bandit(self) -> OnlineBandit:
        """The `unitless.OnlineBandit` inside, which `unitless.save` saves."""
        return self._bandit

    def _pull(
        self, arm_ids: list[ArmID], context: Mapping[Hashable, object] | None = None
    ) -> ArmID:
        decision = self._bandit.choose({} if context is None else context, arm_ids)
        assert isinstance(decision.action, int | str)
        return decision.action

    def update(
        self,
        arm_id: ArmID,
        context: Mapping[Hashable, object] | None,
        *reward_args: float,
        **reward_kwargs: float,
    ) -> None:
        """Learn the reward of an arm in a context."""
        given = [*reward_args, *reward_kwargs.values()]
        self._bandit.learn({} if context is None else context, arm_id, given[0])
        super().update(arm_id, context, *reward_args, **reward_kwargs)  # type: ignore[no-untyped-call]
