"""JSON without the frames and objects that the standard library makes for every call.

Results and errors are those of `json`, which is called for what the functions here cannot do.
"""

from __future__ import annotations

import json
from json import JSONEncoder
from json.decoder import JSONDecoder
from typing import Any

from plimsoll._engine import json_text

# A script may have replaced them: then its own are called.
_LOADS, _DUMPS = json.loads, json.dumps

_scan = JSONDecoder().scan_once  # type: ignore[attr-defined] # not in the stubs
_strictly = JSONEncoder(allow_nan=False).encode


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
    """json.dumps of a value, without options. Raises TypeError and ValueError."""
    if json.dumps is _DUMPS and (text := json_text(value)) is not None:
        return text
    return json.dumps(value)


def dump_strictly(value: Any) -> str:
    """JSON without NaN and infinity, which requests refuses. Raises TypeError and ValueError."""
    text = json_text(value)
    return _strictly(value) if text is None else text
