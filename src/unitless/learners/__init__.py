"""The registry of learners by name; each is imported when it is first used.

Each file is one algorithm. Learners of other packages are found by their entry points in the group
"unitless.learners"; a class of your own is added by `register`. A learner may import the core,
rows, losses and state, and nothing that knows models or files.
"""

from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from unitless.core.learner import Learner
    from unitless.learners.coordinate import Coordinate as Coordinate
    from unitless.learners.coordinate import Zero as Zero
    from unitless.learners.full import Full as Full
    from unitless.learners.python_learner import PythonLearner as PythonLearner

    Kind = TypeVar("Kind", bound=type[Learner])

REGISTRY = {
    "coordinate": "unitless.learners.coordinate.Coordinate",
    "coordinate2": "unitless.learners.coordinate2.Coordinate2",
    "full": "unitless.learners.full.Full",
    "zero": "unitless.learners.coordinate.Zero",
    "scinol1": "unitless.learners.scinol.Scinol1",
    "vaw": "unitless.learners.vaw.Vaw",
    "blend": "unitless.blend.blend.Blend",
    "linear_blend": "unitless.blend.blend.LinearBlend",
    # members of the blend
    "newton": "unitless.learners.newton.Newton",
    "ridge": "unitless.learners.newton.Ridge",
    "scinol2": "unitless.learners.scinol.Scinol2",
    "nag": "unitless.learners.nag.Nag",
    "inag": "unitless.learners.nag.Inag",
    "diagonal": "unitless.learners.diagonal.Diagonal",
    "boosted_trees": "unitless.learners.boosted_trees.BoostedTrees",
    "histogram_trees": "unitless.learners.histogram_trees.HistogramTrees",
    "neighbours": "unitless.learners.neighbours.Neighbours",
    "bayes": "unitless.learners.naive_bayes.Bayes",
    "tracker": "unitless.learners.label_tracker.Tracker",
    # baselines: the comparators of the paper
    "ogd": "unitless.baselines.gradient_descent.Ogd",
    "adagrad": "unitless.baselines.gradient_descent.Adagrad",
    "adagrad_da": "unitless.baselines.dual_averaging.AdagradDa",
    "ftrl": "unitless.baselines.gradient_descent.Ftrl",
    "ng": "unitless.baselines.gradient_descent.NormalisedGradientDescent",
    "snag": "unitless.baselines.gradient_descent.Snag",
    "nda": "unitless.baselines.dual_averaging.NormalisedDualAveraging",
    "son": "unitless.baselines.sketched_newton.Son",
    "fd_son": "unitless.baselines.sketched_newton.FdSon",
    "oja_son": "unitless.baselines.sketched_newton.OjaSon",
    "ons": "unitless.baselines.full_matrix.Ons",
    "adaptive_normal": "unitless.baselines.dual_averaging.AdaptiveNormal",
    "pistol": "unitless.baselines.coin_betting.Pistol",
    "kt": "unitless.baselines.coin_betting.KrichevskyTrofimov",
    "coin": "unitless.baselines.coin_betting.Coin",
    "solo": "unitless.baselines.dual_averaging.Solo",
    "dfeg": "unitless.baselines.exponentiated_gradient.Dfeg",
    "reward_doubling": "unitless.baselines.coin_betting.RewardDoubling",
    "minimax": "unitless.baselines.dual_averaging.Minimax",
    "eg": "unitless.baselines.exponentiated_gradient.Eg",
    "second_order_perceptron": "unitless.baselines.full_matrix.SecondOrderPerceptron",
    "arow": "unitless.baselines.full_matrix.Arow",
}
"""Name -> the full path of its class."""

ENTRY_POINTS = "unitless.learners"
"""The group of entry points by which other packages offer learners."""

_CLASSES = {path.rpartition(".")[2]: name for name, path in REGISTRY.items()}
_registered: "dict[str, type[Learner]]" = {}
__all__ = ["REGISTRY", *_CLASSES, "PythonLearner", "get", "names", "register"]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(class_name: str) -> Any:
    if class_name in _CLASSES:
        return get(_CLASSES[class_name])
    if class_name == "PythonLearner":
        return _imported("unitless.learners.python_learner.PythonLearner")
    raise AttributeError(f"module {__name__!r} has no attribute {class_name!r}")


def _imported(path: str) -> Any:
    module, _, class_name = path.rpartition(".")
    return getattr(import_module(module), class_name)


def get(name: str) -> "type[Learner]":
    """The learner of that name: one of the package, one registered, or one by its entry point.

    >>> get("coordinate").__name__
    'Coordinate'
    """
    learner: type[Learner]
    if name in REGISTRY:
        learner = _imported(REGISTRY[name])
        return learner
    if name not in _registered:
        for found in entry_points(group=ENTRY_POINTS, name=name):
            register(found.load())
    if name not in _registered:
        raise ValueError(f"unknown learner {name!r}; choose one of {', '.join(sorted(names()))}")
    return _registered[name]


def names() -> list[str]:
    """The names of all learners: of the package, registered, and by entry point."""
    offered = [found.name for found in entry_points(group=ENTRY_POINTS)]
    return list(dict.fromkeys([*REGISTRY, *_registered, *offered]))


def register(kind: "Kind") -> "Kind":
    """Make a learner known by its name, so that it can be chosen, saved and loaded like any other.

    It may be used as a decorator. To load a model in another process, register the class there
    first; a package offers its learners without that by entry points in the group
    "unitless.learners", each with the name of the learner.

    Parameters
    ----------
    kind : type of a Learner
        With a `name` of its own.

    Raises
    ------
    ValueError
        If another learner has that name.

    Examples
    --------
    >>> from unitless.learners import PythonLearner
    >>> @register
    ... class Silent(PythonLearner):
    ...     name = "silent"
    ...
    ...     def score(self, x):
    ...         return 0.0
    ...
    ...     def step(self, x, g):
    ...         pass
    >>> get("silent") is Silent
    True
    """
    from unitless.core.learner import Learner

    if not (isinstance(kind, type) and issubclass(kind, Learner)):
        raise TypeError(f"{kind!r} is not a class of learners")
    name = kind.name
    inherited = any(name == base.__dict__.get("name") for base in kind.__mro__[1:])
    if not isinstance(name, str) or not name.isidentifier() or inherited:
        raise ValueError(f"{kind.__name__} needs a `name` of its own, such as name = 'my_learner'")
    known = _registered.get(name)
    is_other = known is not None and _place(known) != _place(kind)
    if name in REGISTRY or is_other or name in ("one_vs_rest", "multi_output"):
        raise ValueError(f"there is another learner {name!r}: give {kind.__name__} another name")
    _registered[name] = kind  # or again, in a notebook
    return kind


def _place(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__
