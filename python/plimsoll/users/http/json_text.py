"""JSON by the C functions of the standard library, without the frames and objects that `json` makes for every call.

Results and errors are those of `json`: for whatever these functions cannot do, `json` is called.
"""

from __future__ import annotations

import json
from json import JSONEncoder
from json.decoder import JSONDecoder
from json.encoder import c_make_encoder, encode_basestring_ascii  # type: ignore[attr-defined] # not in the stubs
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_LOADS, _DUMPS = json.loads, json.dumps
_scan = JSONDecoder().scan_once  # type: ignore[attr-defined] # not in the stubs


def parse(text: str) -> Any:
    """json.loads of a text. Raises ValueError."""
    if json.loads is _LOADS:
        try:
            value, end = _scan(text, 0)
        except StopIteration:
            pass  # space in front, or no JSON
        else:
            if end == len(text):
                return value
    return json.loads(text)


def dump(value: Any) -> str:
    """json.dumps of a value, without options."""
    if json.dumps is _DUMPS:
        try:
            return "".join(_pieces(value, 0))
        except (TypeError, ValueError, RecursionError):
            pass  # raised again below
    return json.dumps(value)


def dump_strictly(value: Any) -> str:
    """JSON without NaN and infinity, which requests refuses. Raises ValueError for those."""
    try:
        return "".join(_strict_pieces(value, 0))
    except (TypeError, ValueError, RecursionError):
        return _strictly(value)  # raises with the proper message


def _refuse(value: Any) -> Any:
    raise TypeError


# json.dumps with an option creates a new encoder per call.
_strictly = JSONEncoder(allow_nan=False).encode


def _encoder(allow_nan: bool) -> Callable[[Any, int], Any]:
    """The encoder that JSONEncoder makes for every call, without its search for circles: they end in RecursionError."""
    if c_make_encoder is None:
        return lambda value, _: (JSONEncoder(allow_nan=allow_nan).encode(value),)
    made: Callable[[Any, int], Any] = c_make_encoder(
        None, _refuse, encode_basestring_ascii, None, ": ", ", ", False, False, allow_nan
    )
    return made


_pieces, _strict_pieces = _encoder(allow_nan=True), _encoder(allow_nan=False)
