"""`{port}` and the like in the commands, paths and environments of an experiment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from plimsoll.load.mistakes import BadValueError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = {
    "python": "the interpreter that Plimsoll runs in",
    "folder": "the folder of the experiment's file",
    "source": "the folder into which `git` was checked out, else the experiment's",
    "port": "a free port of this machine",
    "port2": "another one, as for a database",
    "port3": "another one",
    "url": "the target's URL",
    "variant": "the variant's name",
    "level": "the level's number, as 50",
    "operation": "the operation's name",
    "repeat": "the number of the repeat, from 1",
    "seed": "the seed of the repeat",
}

_WORD = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")


def check(text: str) -> str:
    """The text, if it has no name that looks like a misspelt one. Others, as of awk's {print}, are just text.

    Raises UsageError.
    """
    for word in _WORD.findall(text):
        if word not in NAMES and (meant := nearest(word.lower(), NAMES)):
            raise BadValueError(f"{{{word}}} is not a known placeholder; did you mean {{{meant}}}?")
    return text


def fill(text: str, values: Mapping[str, object]) -> str:
    """With the names that are in `values` replaced; what else is in braces stays as it is."""
    return _WORD.sub(lambda found: str(values.get(found[1], found[0])), text)


def fill_all(words: tuple[str, ...], values: Mapping[str, object]) -> tuple[str, ...]:
    return tuple(fill(each, values) for each in words)
