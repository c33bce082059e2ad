"""A study as JSON and back, without loss: the format of stored imported studies.

Follows the dataclasses of `study`: a field with its default value is left out, histograms are HdrHistogram V2 in
base64, arrays are lists with null for NaN; other numbers missing in JSON are {"float": "inf"}.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import numpy as np
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from plimsoll._engine import Histogram
from plimsoll.record import TracedRequest
from plimsoll.stats import study
from plimsoll.stats.capacity.probe import CapacityProbe, CapacitySearch
from plimsoll.stats.compare.prediction import NewestRun
from plimsoll.stats.generator import LinkUse, MachineFigures
from plimsoll.stats.latency.milliseconds import Clock
from plimsoll.stats.metric import Metric, MetricKind
from plimsoll.stats.study import Study
from plimsoll.stats.thresholds.grammar import Threshold, ThresholdSubject
from plimsoll.stats.thresholds.slo import CriterionResult
from plimsoll.stats.thresholds.verdict import ThresholdResult

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = 1
"""Of the document."""


def to_json(value: Study) -> dict[str, Any]:
    """A document of JSON's types."""
    return {"plimsoll": "study", "version": VERSION, **_object(value)}


def from_json(document: Mapping[str, Any]) -> Study:
    """Raises ValueError, with the path of the field, for a document that is not from `to_json`."""
    if not isinstance(document, Mapping) or document.get("plimsoll") != "study":
        raise ValueError("is no study: it does not begin with plimsoll: study")
    if document.get("version") != VERSION:
        raise ValueError(
            f"is a study of version {document.get('version')!r:.40}, this Plimsoll reads version {VERSION}"
        )
    try:
        return _reader().validate_python({k: v for k, v in document.items() if k not in ("plimsoll", "version")})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        raise ValueError(f"{path.lstrip('.')}: {first['msg'].removeprefix('Value error, ')}") from error


def _object(value: Any) -> dict[str, Any]:
    values = ((each, getattr(value, each.name)) for each in dataclasses.fields(value))
    return {each.name: _written(inner) for each, inner in values if not _is_default(each, inner)}


def _is_default(each: dataclasses.Field[Any], value: Any) -> bool:
    if each.default is not dataclasses.MISSING:
        # 0, 0.0 and False are equal, but not the same.
        return type(value) is type(each.default) and bool(value == each.default)
    return each.default_factory is not dataclasses.MISSING and isinstance(value, dict | tuple) and not value


def _written(value: Any) -> Any:
    if isinstance(value, float):
        # An object, which differs from any text.
        return value if math.isfinite(value) else {"float": str(value)}
    if value is None or isinstance(value, str | int | bool):
        return value
    if isinstance(value, np.generic):
        return _written(value.item())
    if isinstance(value, np.ndarray):
        return [None if isinstance(each, float) and math.isnan(each) else _written(each) for each in value.tolist()]
    if isinstance(value, Histogram):
        return base64.b64encode(value.encode()).decode()
    if isinstance(value, slice):
        return [value.start, value.stop]
    if isinstance(value, Mapping):
        # Keys of JSON are text: repr keeps all digits of quantiles.
        return {key if isinstance(key, str) else repr(float(key)): _written(inner) for key, inner in value.items()}
    if dataclasses.is_dataclass(value):
        return _object(value)
    return [_written(each) for each in (sorted(value) if isinstance(value, frozenset) else value)]


def _number(value: Any) -> Any:
    is_special = isinstance(value, dict) and len(value) == 1 and value.get("float") in ("nan", "inf", "-inf")
    return float(value["float"]) if is_special else value


def _histogram(text: Any) -> Histogram:
    try:
        return Histogram.decode(base64.b64decode(text, validate=True))
    except (TypeError, ValueError) as error:
        raise ValueError(f"is no histogram: {error}") from None


Number = Annotated[float, BeforeValidator(_number)]
Count = Annotated[int, Field(strict=True, ge=-(2**63), lt=2**63)]
HistogramText = Annotated[Any, AfterValidator(_histogram)]


class _Array:
    """Represents NDArray[…]."""

    def __class_getitem__(cls, kind: type) -> Any:
        if kind is np.int64:
            return Annotated[list[Count], AfterValidator(lambda values: np.array(values, dtype=np.int64))]
        return Annotated[list[Number | None], AfterValidator(lambda values: np.array(values, dtype=np.float64))]


class _Histograms:
    """Represents Sequence[Histogram | None], the only sequence in a study."""

    def __class_getitem__(cls, _: Any) -> Any:
        return Annotated[list[HistogramText | None], AfterValidator(tuple)]


@cache
def _reader() -> TypeAdapter[Study]:
    """The fields of `study`'s dataclasses by their own annotations, with these names replaced by their JSON forms."""
    names: dict[str, Any] = {
        "float": Number, "int": Count, "slice": Annotated[tuple[Count | None, Count | None], AfterValidator(_seconds)],
        "Histogram": HistogramText, "NDArray": _Array, "Sequence": _Histograms, "Mapping": dict,
        "MetricKind": MetricKind, "LoadUnit": study.LoadUnit, "Clock": Clock, "TracedRequest": TracedRequest, "np": np,
    }  # fmt: skip
    of_search = (ThresholdSubject, Threshold, CriterionResult, CapacityProbe, CapacitySearch)
    for kind in (MachineFigures, Metric, ThresholdResult, NewestRun, LinkUse, *of_search, *vars(study).values()):
        if isinstance(kind, type) and dataclasses.is_dataclass(kind):
            names[kind.__name__] = _as_model(kind, get_type_hints(kind, None, names, include_extras=True))
    return TypeAdapter(names["Study"])


def _seconds(ends: tuple[int | None, int | None]) -> slice:
    return slice(*ends)


def _as_model(kind: type, hints: dict[str, Any]) -> Any:
    """An object with the fields of a dataclass, read as that class."""
    needed = [each.name for each in dataclasses.fields(kind) if not _has_default(each)]
    fields: dict[str, Any] = {name: (hint, ... if name in needed else None) for name, hint in hints.items()}
    model = create_model(kind.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    return Annotated[model, AfterValidator(_maker(kind))]


def _has_default(each: dataclasses.Field[Any]) -> bool:
    return each.default is not dataclasses.MISSING or each.default_factory is not dataclasses.MISSING


def _maker(kind: type) -> Callable[[Any], Any]:
    return lambda found: kind(**{name: getattr(found, name) for name in found.model_fields_set})
