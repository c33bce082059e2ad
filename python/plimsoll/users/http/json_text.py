"""JSON without the frames and objects that the standard library makes for every call.

Results and errors are those of `json`, which is called for what the engine leaves to it.
"""

from __future__ import annotations

import json
from json import JSONEncoder
from typing import Any

from plimsoll._engine import json_text

# A script may have replaced it: then its own is called.
_DUMPS = json.dumps

_strictly = JSONEncoder(allow_nan=False).encode


def dump(value: Any) -> str:
    """json.dumps of a value, without options. Raises TypeError and ValueError."""
    if json.dumps is _DUMPS and (text := json_text(value)) is not None:
        return text
    return json.dumps(value)


def dump_strictly(value: Any) -> str:
    """JSON without NaN and infinity, which requests refuses. Raises TypeError and ValueError."""
    text = json_text(value)
    return _strictly(value) if text is None else text
