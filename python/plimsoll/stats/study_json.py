"""A study as JSON and back, without loss: what imported studies are kept as.

Follows the dataclasses of `study`: a field that has its default is left out, histograms are HdrHistogram V2 in base64,
arrays are lists with null for NaN; other numbers that JSON has not are {"float": "inf"}.
"""

from __future__ import annotations

import base64
import dataclasses
import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from plimsoll._engine import Histogram
from plimsoll.stats import metric, study
from plimsoll.stats.capacity import probe
from plimsoll.stats.course import PackedHistograms
from plimsoll.stats.latency import tally
from plimsoll.stats.study import Study
from plimsoll.stats.thresholds import grammar, slo

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = 1
"""Of the document."""


def to_json(value: Study) -> dict[str, Any]:
    """A document of JSON's types."""
    return {"plimsoll": "study", "version": VERSION, **_object(value)}


def from_json(document: Mapping[str, Any]) -> Study:
    """Raises ValueError, with the path of the field, for what `to_json` did not make."""
    if not isinstance(document, Mapping) or document.get("plimsoll") != "study":
        raise ValueError("is no study: it does not begin with plimsoll: study")
    if document.get("version") != VERSION:
        raise ValueError(f"is a study of version {document.get('version')}, this Plimsoll reads version {VERSION}")
    values = {key: value for key, value in document.items() if key not in ("plimsoll", "version")}
    found = _from(Study, values, "")
    assert isinstance(found, Study)
    return found


def _object(value: Any) -> dict[str, Any]:
    written = {}
    for each in dataclasses.fields(value):
        inner = getattr(value, each.name)
        if not _is_default(each, inner):
            written[each.name] = _written(inner)
    return written


def _is_default(each: dataclasses.Field[Any], value: Any) -> bool:
    if each.default is not dataclasses.MISSING:
        # 0 and 0.0 and False are equal, and not the same.
        return type(value) is type(each.default) and bool(value == each.default)
    return each.default_factory is not dataclasses.MISSING and isinstance(value, dict | tuple) and not value


def _written(value: Any) -> Any:
    if isinstance(value, float):
        # An object, so that it cannot be taken for a text that reads the same.
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
        # Keys of JSON are text: quantiles keep all their digits as repr has them.
        return {key if isinstance(key, str) else repr(float(key)): _written(inner) for key, inner in value.items()}
    if dataclasses.is_dataclass(value):
        return _object(value)
    return [_written(each) for each in (sorted(value) if isinstance(value, frozenset) else value)]


@cache
def _hints(kind: type) -> dict[str, Any]:
    """The types of a dataclass's fields; names that are imported for checking only are given here."""
    names = {"Mapping": Mapping, "Sequence": Sequence, "Histogram": Histogram, "NDArray": NDArray, "np": np}
    modules = (metric, study, probe, slo, grammar, tally)
    return get_type_hints(kind, {name: each for module in modules for name, each in vars(module).items()} | names)


def _from(kind: Any, value: Any, path: str) -> Any:
    """A value of this type. Raises ValueError."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is not None and type(None) in arguments:
        if value is None:
            return None
        rest = [each for each in arguments if each is not type(None)]
        return _from(rest[0], value, path) if len(rest) == 1 else _scalar(tuple(rest), value, path)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _dataclass(kind, value, path)
    reader = _READERS.get(origin or kind)
    if reader is not None:
        return reader(arguments, value, path)
    if arguments:  # a union of plain types, or a Literal
        allowed = all(not isinstance(each, type) for each in arguments)
        if allowed and value not in arguments:
            raise ValueError(f"{path}: must be one of {', '.join(map(str, arguments))}, not {value!r}")
        return value if allowed else _scalar(arguments, value, path)
    return _scalar((kind,), value, path)


def _dataclass(kind: type, value: Any, path: str) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path or 'the document'}: must be an object, not {type(value).__name__}")
    hints = _hints(kind)
    unknown = [key for key in value if key not in hints]
    if unknown:
        raise ValueError(f"{_at(path, unknown[0])}: is no field here")
    given = {key: _from(hints[key], inner, _at(path, key)) for key, inner in value.items()}
    needed = [
        each.name
        for each in dataclasses.fields(kind)
        if each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
    ]
    missing = [name for name in needed if name not in given]
    if missing:
        raise ValueError(f"{_at(path, missing[0])}: is missing")
    return kind(**given)


def _at(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


_SPECIAL = ("nan", "inf", "-inf")


def _is_special(value: Any) -> bool:
    return isinstance(value, dict) and len(value) == 1 and value.get("float") in _SPECIAL


def _scalar(kinds: tuple[Any, ...], value: Any, path: str) -> Any:
    if float in kinds and _is_special(value):
        return float(value["float"])
    if type(value) in kinds or (type(value) is int and float in kinds):
        return value
    names = " or ".join(each.__name__ for each in kinds)
    raise ValueError(f"{path}: must be {names}, not {value!r}")


def _list(value: Any, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{path}: must be a list, not {type(value).__name__}")
    return value


def _tuple(arguments: tuple[Any, ...], value: Any, path: str) -> tuple[Any, ...]:
    items = _list(value, path)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(_from(arguments[0], each, f"{path}[{index}]") for index, each in enumerate(items))
    if len(items) != len(arguments):
        raise ValueError(f"{path}: must have {len(arguments)} entries, not {len(items)}")
    pairs = zip(arguments, items, strict=True)
    return tuple(_from(kind, each, f"{path}[{index}]") for index, (kind, each) in enumerate(pairs))


def _sequence(arguments: tuple[Any, ...], value: Any, path: str) -> Sequence[Any]:
    """Histograms stay packed: decoded, each takes some 70 KiB."""
    items = _tuple((arguments[0], ...), value, path)
    return PackedHistograms([None if each is None else each.encode() for each in items])


def _mapping(arguments: tuple[Any, ...], value: Any, path: str) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{path}: must be an object, not {type(value).__name__}")
    kind, inner = arguments
    found = {}
    for key, each in value.items():
        try:
            name = float(key) if kind is float else key
        except ValueError:
            raise ValueError(f"{path}: {key!r} is no number") from None
        found[name] = _from(inner, each, _at(path, key))
    return found


def _array(arguments: tuple[Any, ...], value: Any, path: str) -> Any:
    is_whole = "int" in str(arguments)
    items = [
        math.nan if each is None else float(each["float"]) if _is_special(each) else each for each in _list(value, path)
    ]
    try:
        return np.array(items, dtype=np.int64 if is_whole else np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{path}: {error}") from None


def _histogram(arguments: tuple[Any, ...], value: Any, path: str) -> Histogram:
    try:
        return Histogram.decode(base64.b64decode(value, validate=True))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: is no histogram: {error}") from None


def _slice(arguments: tuple[Any, ...], value: Any, path: str) -> slice:
    ends = _list(value, path)
    if len(ends) != 2 or not all(each is None or type(each) is int for each in ends):
        raise ValueError(f"{path}: must be two seconds, or null")
    return slice(*ends)


_READERS: dict[Any, Callable[[tuple[Any, ...], Any, str], Any]] = {
    tuple: _tuple,
    Sequence: _sequence,
    Mapping: _mapping,
    np.ndarray: _array,
    Histogram: _histogram,
    slice: _slice,
    frozenset: lambda arguments, value, path: frozenset(_tuple((*arguments, ...), value, path)),
}
