"""`save` and `load`: a learner, an estimator or a `Model` as a header and arrays.

The header has the name and the parameters of the learner, the columns, names and classes; `states`
restores what was learned. See docs/model-format.md.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless import __version__
from unitless.blend.blend import Blend
from unitless.encoders import DictEncoder, FrameEncoder
from unitless.learners.base import Learner
from unitless.model import Model
from unitless.persistence import container
from unitless.persistence.checks import columns_of
from unitless.persistence.container import ModelFileError
from unitless.persistence.json_names import as_json, from_json, labels_as_json, labels_from_json
from unitless.persistence.parameters import made, spec_of
from unitless.persistence.states import remembered, restore

FORMAT = 1
"""Number of the format; files with a higher number need a newer package."""

Path = str | os.PathLike[str]
Arrays = dict[str, NDArray[Any]]
ESTIMATORS = ("OnlineClassifier", "OnlineRegressor")
FITTED = ("model_", "classes_", "feature_names_in_", "n_features_in_")
"""Of an estimator's learned attributes, those that are kept; `progressive_` belongs to a call."""


def save(
    model: Any,
    path: Path,
    *,
    position: dict[str, Any] | None = None,
    extra: Arrays | None = None,
    notes: dict[str, Any] | None = None,
) -> None:
    """Save a learner, an `OnlineClassifier`, an `OnlineRegressor` or a `Model`.

    The file is written beside the target, flushed to disk and renamed: at every moment the
    path names either the old file or the complete new one.

    Parameters
    ----------
    position : dict, optional
        Where the stream is: any JSON. `header(path)["position"]` gives it back.
    extra, notes
        Arrays of float64, int64 or int32, and JSON, that go with the model.

    >>> import tempfile
    >>> from unitless.learners import Coordinate
    >>> learner = Coordinate()
    >>> score = learner.learn_one({"height": 1.8}, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(learner, f"{folder}/model")
    ...     again = load(f"{folder}/model")
    >>> again.predict_one({"height": 1.7}) == learner.predict_one({"height": 1.7})
    True
    """
    container.replace(path, as_bytes(model, position=position, extra=extra, notes=notes))


def as_bytes(
    model: Any,
    *,
    position: dict[str, Any] | None = None,
    extra: Arrays | None = None,
    notes: dict[str, Any] | None = None,
) -> bytes:
    """What `save` writes."""
    if isinstance(model, Model) and model.estimator is not None:
        model = model.to_sklearn()
    arrays: Arrays = {f"extra.{name}": array for name, array in (extra or {}).items()}
    kind, own = _described(model, arrays)
    learner = model if isinstance(model, Learner) else own.pop("fitted")
    spec, (found, facts) = spec_of(learner), remembered(learner)
    arrays |= {f"learner.{name}": array for name, array in found.items()}
    written = {
        "format": FORMAT,
        "package": __version__,
        "kind": kind,
        "learner": spec,
        "facts": facts,
        "names": [as_json(name) for name in learner.names.columns],
        **_summary(learner),
        "position": getattr(model, "position", None) if position is None else position,
        "notes": notes or {},
        "model": own,
    }
    return container.packed(written, arrays)


def _summary(learner: Learner) -> dict[str, Any]:
    """A summary for readers of the header; the arrays contain it as well."""
    sums = learner.sums()
    kept = None if sums is None else {"trials": sums.trials, "A": _finite(sums.A)}
    carried = learner.mixture_weights() if isinstance(learner, Blend) else None
    return {"certificate": kept, "blend": carried}


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None


def _described(model: Any, arrays: Arrays) -> tuple[str, dict[str, Any]]:
    """The kind of model, and what its header says beside the learner, which is under "fitted"."""
    if isinstance(model, Learner):
        return "learner", {}
    if type(model).__name__ not in ESTIMATORS:
        return "stream", _stream(Model.of(model))
    if not hasattr(model, "model_"):
        raise ValueError(f"this {type(model).__name__} has learned nothing yet: fit it first")
    return type(model).__name__, _estimator(model, arrays)


def _stream(model: Model) -> dict[str, Any]:
    apart = ("learner", "position", "estimator", "lock")
    own = {name: value for name, value in vars(model).items() if name not in apart}
    own["labels"] = [as_json(label) for label in model.labels]
    own["columns"] = None if model.columns is None else model.columns.state()
    return own | {"fitted": model.learner}


def _estimator(model: Any, arrays: Arrays) -> dict[str, Any]:
    parameters = model.get_params(deep=False)
    if isinstance(parameters["learner"], Learner):  # `fit` starts from it, so it is saved, too
        given = parameters["learner"]
        found, facts = remembered(given)
        arrays |= {f"given.{name}": array for name, array in found.items()}
        names = [as_json(name) for name in given.names.columns]
        parameters["learner"] = {"spec": spec_of(given), "facts": facts, "names": names}
    parameters["interactions"] = list(parameters["interactions"])
    if not isinstance(parameters["random_state"], int | None):
        raise ValueError("random_state: a model file keeps a whole number or None")
    fitted = {name: getattr(model, name) for name in FITTED if hasattr(model, name)}
    own: dict[str, Any] = {"parameters": parameters, "n_features_in": int(fitted["n_features_in_"])}
    if model.model_.columns is not None:
        own["columns"] = model.model_.columns.state()
    if "classes_" in fitted:
        own["classes"] = labels_as_json(fitted["classes_"])
    if "feature_names_in_" in fitted:
        own["feature_names_in"] = [str(name) for name in fitted["feature_names_in_"]]
    return own | {"fitted": model.model_.learner}


def header(path: Path) -> dict[str, Any]:
    """The header of a model file, as in docs/model-format.md."""
    return _read(path)[0]


def extra(path: Path) -> Arrays:
    """The arrays that were saved beside the model."""
    start = "extra."
    return {k.removeprefix(start): a for k, a in _read(path)[1].items() if k.startswith(start)}


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    return _known(path, *container.read(path))


def _known(path: Path, written: dict[str, Any], arrays: Arrays) -> tuple[dict[str, Any], Arrays]:
    """The same, if the format is supported."""
    number = written.get("format")
    if not isinstance(number, int) or number < 1:
        raise ModelFileError(path, "its header has no format number")
    if number > FORMAT:
        raise ModelFileError(
            path,
            f"it has format {number}, and this version of the package ({__version__}) reads up to "
            f"{FORMAT}: update unitless",
        )
    return written, arrays


def load(path: Path) -> Any:
    """Load the model of a file, bit-for-bit as it was saved.

    Raises
    ------
    ModelFileError
        If the file is not a complete model. Nothing in a file is ever executed.
    """
    written, arrays = _read(path)
    return _rebuilt(path, written, arrays, os.path.getsize(path))


def from_bytes(path: Path, data: bytes) -> Any:
    """The model from the result of `as_bytes`; errors name the path."""
    return _rebuilt(path, *_known(path, *container.unpacked(path, data)), len(data))


def _rebuilt(path: Path, written: dict[str, Any], arrays: Arrays, size: int) -> Any:
    try:
        return _loaded(written, arrays, size)
    except ModelFileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError) as error:
        raise ModelFileError(path, f"its header is not that of a model ({error!r})") from None
    except ValueError as error:
        raise ModelFileError(path, str(error)) from None


def _loaded(written: dict[str, Any], arrays: Arrays, size: int) -> Any:
    spec, facts, names = written["learner"], written["facts"], written["names"]
    learner = _learner(spec, facts, names, _under("learner.", arrays), size)
    kind, own = written["kind"], written["model"]
    if kind == "learner":
        return learner
    if kind == "stream":
        return _loaded_stream(own, learner, written["position"])
    if kind not in ESTIMATORS:
        raise ValueError(f"a model of the kind {kind!r} is not known")
    return _loaded_estimator(kind, own, learner, arrays, size)


def _under(start: str, arrays: Arrays) -> Arrays:
    return {k.removeprefix(start): a for k, a in arrays.items() if k.startswith(start)}


def _learner(
    spec: dict[str, Any], facts: dict[str, Any], names: list[Any], arrays: Arrays, size: int
) -> Learner:
    learner = made(spec, size)
    restore(learner, arrays, facts)
    known = {from_json(name): k for k, name in enumerate(names)}
    if len(known) != len(names) or (known and len(known) > columns_of(learner)):
        raise ValueError(f"{len(names)} names do not fit {columns_of(learner)} columns")
    learner.names = DictEncoder(known)
    return learner


def _loaded_stream(own: dict[str, Any], learner: Learner, position: Any) -> Model:
    given = dict(own)
    if given["task"] not in ("binary", "multiclass", "regression"):
        raise ValueError(f"the task {given['task']!r} is not known")
    given["labels"] = [from_json(label) for label in given["labels"]]
    if given["columns"] is not None:
        given["columns"] = FrameEncoder.from_state(given["columns"])
    if not all(isinstance(given[name], int) for name in ("rows",)):
        raise ValueError("the number of rows is missing")
    return Model(learner=learner, position=dict(position or {}), **given)


def _loaded_estimator(
    kind: str, own: dict[str, Any], learner: Learner, arrays: Arrays, size: int
) -> Any:
    import unitless

    parameters = dict(own["parameters"])
    if isinstance(parameters["learner"], dict):
        given = parameters["learner"]
        found = _under("given.", arrays)
        parameters["learner"] = _learner(given["spec"], given["facts"], given["names"], found, size)
    estimator = getattr(unitless, kind)(**parameters)
    estimator.n_features_in_ = int(own["n_features_in"])
    task: Any = "regression"
    labels: list[Any] = []
    if "classes" in own:
        estimator.classes_ = labels_from_json(own["classes"])
        labels = estimator.classes_.tolist()
        task = "multiclass" if len(labels) > 2 else "binary"
    if "feature_names_in" in own:
        estimator.feature_names_in_ = np.array(own["feature_names_in"], dtype=object)
    columns = FrameEncoder.from_state(own["columns"]) if "columns" in own else None
    estimator.model_ = Model(task, learner, labels, columns=columns)
    return estimator
