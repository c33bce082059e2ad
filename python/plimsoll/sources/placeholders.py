"""Variables in double braces, as Postman and .http files write them."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.sources.draft import Variable, merged

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.sources.draft import Text

PLACEHOLDER = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")
UUID, RANDOM, NOW, UNIX = "$uuid", "$random", "$now", "$unix"
_MADE = {
    "$guid": UUID, "$uuid": UUID, "$randomuuid": UUID, "$random.uuid": UUID,
    "$randomint": RANDOM, "$random.integer": RANDOM, "$random": RANDOM,
    "$timestamp": UNIX, "$unix": UNIX, "$isotimestamp": NOW, "$now": NOW,
}  # fmt: skip
"""Values that each request makes anew, by the names of several tools in small letters."""
DEEPEST = 10
"""Variables within the values of variables."""


@dataclass(slots=True)
class Placeholders:
    """What variables stand for."""

    values: dict[str, str]
    """Values by name, as the source has them."""
    given: Mapping[str, str] = field(default_factory=dict)
    """Values that the user gives. They have priority over the values of the source."""
    taken: set[str] = field(default_factory=set)
    """Names of variables that earlier replies give; they stay in braces."""

    def filled(self, text: str, where: str) -> str:
        """The text with values. Raises UsageError for a variable without one."""
        for _ in range(DEEPEST):
            filled = PLACEHOLDER.sub(lambda match: self._value(match[1], where), text)
            if filled == text:
                return text
            text = filled
        raise UsageError(f"{where}: variables are within each other without end: {PLACEHOLDER.findall(text)[0]}")

    def _value(self, name: str, where: str) -> str:
        if name in self.taken:
            return f"{{{{{name}}}}}"
        if (value := self.given.get(name)) is not None:
            return value
        if name in self.values:
            return self.values[name]
        word, _, rest = name.partition(" ")
        lower = re.sub(r"\(.*\)$", "", word).lower()
        if lower in _MADE:
            return f"{{{{{_MADE[lower]}}}}}"
        if lower in ("$processenv", "$dotenv", "$env") and (value := os.environ.get(rest.strip().lstrip("%"))):
            return value
        raise UsageError(f"{where}: {{{{{name}}}}} has no value; give it with --set '{name}=VALUE'")


def parts_with_variables(text: Text, names: Mapping[str, Variable]) -> Text:
    """A filled text with variables. names: those that replies or rows give, by what they are called in braces."""
    whole = "".join(map(str, text))
    pieces: list[str | Variable] = []
    position = 0
    for match in PLACEHOLDER.finditer(whole):
        variable = _variable(match[1], names)
        if variable is not None:
            pieces += [whole[position : match.start()], variable]
            position = match.end()
    return merged([*pieces, whole[position:]])


def _variable(name: str, names: Mapping[str, Variable]) -> Variable | None:
    return Variable(name[1:], "made") if name in (UUID, RANDOM, NOW, UNIX) else names.get(name)
