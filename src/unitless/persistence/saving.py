"""`save` and `load`: a learner, an estimator or a `Model` as a header and arrays.

The header has the name and the parameters of the learner, the columns, names and classes;
`unitless.state` restores what was learned. See docs/reference/model-format.md.
"""

import sys
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from unitless import __version__
from unitless.core.learner import Learner
from unitless.encoders import DictEncoder, EncoderState, FrameEncoder
from unitless.labels import ClassWeights
from unitless.model import Model
from unitless.model.file_settings import FileSettings
from unitless.model.model import Task
from unitless.model.reservoir import Reservoir
from unitless.persistence import container
from unitless.persistence.as_json import as_json, from_json, made, spec_of
from unitless.persistence.container import DAMAGE, FORMAT, Arrays, ModelFileError, Pathlike
from unitless.state import remembered, restore
from unitless.uncertainty import Intervals
from unitless.uncertainty.intervals import checked_coverages

ENTRY = 64
"""An array takes more than this many bytes of the header of safetensors."""
APART = ("learner", "lock")
"""Fields of a `Model` that the header has elsewhere or not at all."""
CONVERTED: dict[str, tuple[Any, Any]] = {
    "labels": (
        lambda labels: list(map(as_json, labels)),
        lambda found: list(map(from_json, found)),
    ),
    "encoder": (
        lambda encoder: msgspec.to_builtins(encoder.state()),
        lambda found: FrameEncoder.from_state(msgspec.convert(found, EncoderState)),
    ),
    "file": (msgspec.to_builtins, partial(msgspec.convert, type=FileSettings)),
    "class_weights": (
        lambda weights: vars(weights) | {"given": as_json(weights.given)},
        lambda found: ClassWeights(**found | {"given": from_json(found["given"])}),
    ),
}
"""Other fields that are no JSON: to JSON and back, if they are not None."""


class SavedReservoir(msgspec.Struct, forbid_unknown_fields=True):
    """The numbers of a `Reservoir`."""

    size: int
    seen: int


class SavedClassWeights(msgspec.Struct, forbid_unknown_fields=True):
    """The attributes of `ClassWeights`."""

    given: Any
    counts: list[int]
    largest: float


class SavedIntervals(msgspec.Struct, forbid_unknown_fields=True):
    """The arguments of `Intervals`, and the facts of its parts."""

    coverages: list[float]
    classes: bool
    two_answers: bool
    facts: dict[str, Any]


class SavedModel(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a `Model`, without its learner."""

    task: Task
    labels: list[Any]
    encoder: EncoderState | None
    file: FileSettings
    inputs: int | None
    rows: int
    class_weights: SavedClassWeights | None
    parameters: dict[str, Any] | None
    reservoir: SavedReservoir
    intervals: SavedIntervals | None = None


class SavedLearner(msgspec.Struct, forbid_unknown_fields=True):
    """The name and the parameters of a learner, and those of the learners inside it."""

    name: str
    parameters: dict[str, Any]
    each: "str | list[SavedLearner] | None" = None


class Header(msgspec.Struct, forbid_unknown_fields=True):
    """The header of a model file."""

    format: int
    package: str
    kind: Literal["learner", "stream"]
    learner: SavedLearner
    facts: dict[str, Any]
    names: list[Any]
    notes: dict[str, Any]
    model: SavedModel | None


def save(model: object, path: Pathlike, **more: Any) -> None:
    """Save a learner, an estimator, a River model or a `Model`; `more` is that of `as_bytes`.

    The file is written beside the target, flushed to disk and renamed: at every moment the
    path names either the old file or the complete new one.
    """
    container.replace(path, as_bytes(model, **more))


def as_bytes(
    model: Any,
    *,
    extra: Arrays | None = None,
    notes: dict[str, object] | None = None,
) -> bytes:
    """What `save` writes.

    Parameters
    ----------
    extra, notes
        Arrays of float64, int64 or int32, and JSON, that go with the model.
    """
    arrays = {f"extra.{name}": array for name, array in (extra or {}).items()}
    if is_bandit(model):
        from unitless.decisions.bandit_files import parts_of  # a layer above, not needed for models

        own, more = parts_of(model)
        header = {"format": FORMAT, "package": __version__, **own, "notes": notes or {}}
        return container.packed(header, arrays | more)
    is_bare = isinstance(model, Learner)
    model = Model.of(model)
    header = {
        "format": FORMAT,
        "package": __version__,
        "kind": "learner" if is_bare else "stream",
        **_packed(model.learner, "learner", arrays),
        "notes": notes or {},
        "model": None if is_bare else _fields(model, arrays),
    }
    return container.packed(header, arrays)


def is_bandit(thing: object) -> bool:
    """Whether this is an `OnlineBandit`, without importing it."""
    bandit = sys.modules.get("unitless.decisions.bandit")
    return bandit is not None and isinstance(thing, bandit.OnlineBandit)


def _packed(learner: Learner, key: str, arrays: Arrays) -> dict[str, object]:
    """What the header says of a learner; its arrays are added to `arrays`."""
    found, facts = remembered(learner)
    arrays |= {f"{key}.{name}": array for name, array in found.items()}
    names = [as_json(name) for name in learner.names.columns]
    return {key: spec_of(learner), "facts": facts, "names": names}


def _fields(model: Model, arrays: Arrays) -> dict[str, object]:
    """The fields of a model as JSON, without what the header has elsewhere."""
    own = {name: value for name, value in vars(model).items() if name not in APART}
    for name, (to_json, _) in CONVERTED.items():
        if own[name] is not None:
            own[name] = to_json(own[name])
    if model.intervals is not None:
        found, facts = remembered(model.intervals)
        arrays |= {f"intervals.{name}": array for name, array in found.items()}
        own["intervals"] = {**model.intervals._arguments(), "facts": facts}
    own["reservoir"], kept = model.reservoir.state()
    arrays |= {f"reservoir.{name}": array for name, array in kept.items()}
    if model.parameters is not None:
        own["parameters"] = parameters = dict(model.parameters)
        if isinstance(parameters["learner"], Learner):  # `fit` starts from it, so it is saved, too
            parameters["learner"] = _packed(parameters["learner"], "given", arrays)
        parameters["interactions"] = list(parameters["interactions"])
        parameters["intervals"] = list(checked_coverages(parameters.get("intervals")))
        if "class_weight" in parameters:
            parameters["class_weight"] = as_json(parameters["class_weight"])
        if not isinstance(parameters["random_state"], int | None):
            raise ValueError("random_state: a model file keeps a whole number or None")
    return own


def header(path: Pathlike) -> dict[str, Any]:
    """The header of a model file, as in docs/reference/model-format.md."""
    found = container.read(path)[0]
    _check(path, found)
    return found


def _check(path: Pathlike, header: dict[str, object]) -> None:
    """Refuse a header with an entry that is unknown, is missing or has another type."""
    kind: type[msgspec.Struct] = Header
    if header.get("kind") == "bandit":
        from unitless.decisions.bandit_files import BanditHeader

        kind = BanditHeader
    try:
        msgspec.convert(header, kind)
    except (msgspec.ValidationError, RecursionError, UnicodeError) as error:
        raise ModelFileError(path, f"its header is not that of a model: {error}") from None


def extra(path: Pathlike) -> Arrays:
    """The arrays that were saved beside the model."""
    return _under("extra", container.read(path)[1])


def load(path: Pathlike) -> Any:
    """Load the model of a file, bit-for-bit as it was saved: a bare learner, or a `Model`.

    Raises
    ------
    ModelFileError
        If the file is not a complete model. Nothing in a file is ever executed.
    """
    return from_bytes(path, Path(path).read_bytes())


def from_bytes(path: Pathlike, data: bytes) -> Any:
    """The model from the result of `as_bytes`; errors name the path."""
    written, arrays = container.unpacked(path, data)
    _check(path, written)
    try:
        size = sum(array.nbytes + ENTRY for array in arrays.values())
        return _loaded(written, arrays, size)
    except DAMAGE as error:
        why = f"its header is not that of a model ({error!r})"
        raise ModelFileError(path, str(error) if isinstance(error, ValueError) else why) from None


def _loaded(written: dict[str, Any], arrays: Arrays, size: int) -> Any:
    if written["kind"] == "bandit":
        from unitless.decisions.bandit_files import bandit_of

        return bandit_of(written["bandit"], arrays)
    learner = _unpacked(written, "learner", arrays, size)
    if written["kind"] == "learner":
        return learner
    own = dict(written["model"])
    if parameters := own.get("parameters"):
        if isinstance(parameters["learner"], dict):
            parameters["learner"] = _unpacked(parameters["learner"], "given", arrays, size)
        parameters["intervals"] = tuple(parameters.get("intervals", ()))
        if "class_weight" in parameters:
            parameters["class_weight"] = from_json(parameters["class_weight"])
    for name, (_, of_json) in CONVERTED.items():
        if own.get(name) is not None:
            own[name] = of_json(own[name])
    if declared := own.get("intervals"):
        facts = declared["facts"]
        declared = {name: each for name, each in declared.items() if name != "facts"}
        own["intervals"] = Intervals(**declared)
        restore(own["intervals"], _under("intervals", arrays), facts)
    own["reservoir"] = Reservoir.from_state(own["reservoir"], _under("reservoir", arrays))
    return Model(learner=learner, **own)


def _under(key: str, arrays: Arrays) -> Arrays:
    start = f"{key}."
    own = [name for name in arrays if name.startswith(start)]
    return {name.removeprefix(start): arrays[name] for name in own}


def _unpacked(packed: dict[str, Any], key: str, arrays: Arrays, size: int) -> Learner:
    """The learner whose header `_packed` made."""
    learner = made(packed[key], size)
    restore(learner, _under(key, arrays), packed["facts"])
    known = {from_json(name): k for k, name in enumerate(packed["names"])}
    if len(known) != len(packed["names"]) or len(known) > learner.columns:
        raise ValueError(f"{len(packed['names'])} names do not fit {learner.columns} columns")
    learner.names = DictEncoder(known)
    return learner
