"""What a worker may report: the types of each message, and when it may come. Whatever a worker sends is checked here
before anything is made of it, since workers on other machines are not this process."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plimsoll._engine import Histogram
from plimsoll.record import COUNTERS, GENERATOR_COUNTERS, OUTCOMES, WORKER_STATE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    Check = Callable[[Any], bool]

LARGEST = 2**60
"""Of a count, and of a sum of one second in ns: of bytes and of requests, more than a machine can have."""
LARGEST_STAMP = 2**63 - 1
LONGEST_TEXT = 64 << 10
"""Characters of one text: a traceback, a message, a line of the log. Workers shorten theirs to less."""
LONGEST_NAME = 8 << 10
"""Characters of the name of an endpoint, a user class, a client."""
MOST_USER_CLASSES = 10_000


class ProtocolError(Exception):
    """The other side speaks another version, or no Plimsoll at all. The message has none of its words."""


def is_count(value: Any) -> bool:
    """An integer of 0 or more. A bool is none, here as below."""
    return type(value) is int and 0 <= value <= LARGEST


def is_integer(value: Any) -> bool:
    """A stamp, or another integer with a sign."""
    return isinstance(value, int) and -LARGEST_STAMP <= value <= LARGEST_STAMP


def is_amount(value: Any) -> bool:
    """A finite number of 0 or more."""
    return (type(value) is int or (type(value) is float and math.isfinite(value))) and 0 <= value <= LARGEST


def is_number(value: Any) -> bool:
    """What the user's code may ask for, whatever becomes of it."""
    return isinstance(value, int | float) and value >= 0


def is_flag(value: Any) -> bool:
    return type(value) is bool


def is_text(value: Any) -> bool:
    return type(value) is str and len(value) <= LONGEST_TEXT


def is_name(value: Any) -> bool:
    return type(value) is str and len(value) <= LONGEST_NAME


def is_data(value: Any) -> bool:
    return type(value) is bytes


def is_settings(value: Any) -> bool:
    """By name; only what the main node, which runs here, sets has an effect."""
    return type(value) is dict and all(map(is_name, value))


def is_outcome(value: Any) -> bool:
    return value in OUTCOMES


def is_histogram(value: Any) -> bool:
    """Encoded, as `Histogram.decode` takes it."""
    if type(value) is not bytes:
        return False
    try:
        Histogram.decode(value)
    except ValueError:
        return False
    return True


def _optional(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _one_of(*values: Any) -> Check:
    return lambda value: type(value) is str and value in values


def _list_of(check: Check) -> Check:
    return lambda value: type(value) is list and all(map(check, value))


def _row(*checks: Check) -> Check:
    size = len(checks)
    return lambda value: (
        type(value) is list
        and len(value) == size
        and all(check(each) for check, each in zip(checks, value, strict=True))
    )


def _dict_of(check: Check, most: int) -> Check:
    return lambda value: (
        type(value) is dict and len(value) <= most and all(map(is_name, value)) and all(map(check, value.values()))
    )


def _is_state(value: Any) -> bool:
    """Of a worker in one second; {} in the rows without it."""
    return type(value) is dict and all(
        is_count(number) if name == "retransmissions" else name in WORKER_STATE and is_amount(number)
        for name, number in value.items()
    )


_endpoint = (is_name, is_name)
_is_cell = _row(
    is_count, *_endpoint, is_outcome, *[is_count] * (len(COUNTERS) + 4),
    is_data, is_data, is_data,
)  # fmt: skip
"""Its histograms are checked where they are decoded."""
_is_health = _row(_row(*[is_count] * (1 + len(GENERATOR_COUNTERS)), is_data, is_data), _is_state)
_is_failure = _row(*_endpoint, is_outcome, is_text, is_text, is_flag, is_count, is_integer, is_integer)
_is_part = _row(*_endpoint, is_name, is_count, is_histogram)
_is_traced = _row(*_endpoint, is_outcome, is_name, is_amount, is_amount, is_amount, _optional(is_amount))
_is_user_class = _row(is_name, is_amount, is_count, _optional(is_amount))

NEWS: dict[str, tuple[Check, ...]] = {
    "connect": (is_name,),
    "heartbeat": (is_name, _dict_of(is_count, MOST_USER_CLASSES), is_amount, is_amount, is_count),
    "report": (is_data,),
    "message": (is_name, is_data, _optional(is_name)),
}
"""What a worker has for other processes of its run: see `plimsoll.run.coordinator.peers`."""
NEWS_OF_MAIN: dict[str, tuple[Check, ...]] = {
    "heartbeat": (is_name,), "fired": (is_name,), "message": NEWS["message"],
}  # fmt: skip
"""The same of the main node."""


def is_news(rules: Mapping[str, tuple[Check, ...]], kind: Any, arguments: Any) -> bool:
    """By one of the two tables."""
    return type(kind) is str and kind in rules and _row(*rules[kind])(arguments)


STARTED, PREPARED, READY, ENDED = range(4)
"""How far a worker is, by what it has reported."""
_ALIVE = (STARTED, PREPARED, READY)
_ALWAYS = (*_ALIVE, ENDED)


@dataclass(frozen=True, slots=True)
class Rule:
    """Of one message."""

    fields: tuple[Check, ...]
    states: Collection[int]
    """In which of them it may come."""
    then: int | None = None
    """The state that follows; None: the same."""


RULES: dict[str, Rule] = {
    "prepared": Rule((is_settings,), (STARTED,), PREPARED),
    "ready": Rule(
        (_list_of(_is_user_class), is_flag, _list_of(is_text), _optional(is_data), is_flag, is_settings),
        (PREPARED,), READY,
    ),
    "snapshot": Rule(
        (
            is_count, is_count, is_integer, _list_of(_is_cell), _list_of(_is_health), _list_of(_is_failure),
            _list_of(_row(is_text, is_text, is_count)), _dict_of(is_count, MOST_USER_CLASSES), _list_of(_is_part),
            _list_of(_is_traced), is_count, is_count,
        ),
        (READY,),
    ),
    "exchanges": Rule((is_integer, _list_of(_row(*_endpoint)), is_data, is_integer), (READY,)),
    "logged": Rule((is_name, is_text), _ALWAYS),
    "begin": Rule((is_number, is_number, _optional(_list_of(is_name))), _ALIVE),
    "quit": Rule((_one_of("finished", "stopped"),), _ALWAYS),
    "complete": Rule((_optional(is_name),), (READY,)),
    "started": Rule((is_integer,), (READY,)),
    "expired": Rule((is_integer,), (READY,)),
    "sent": Rule((is_integer, is_count), (READY,)),
    "refused": Rule((is_name, is_text, is_count), _ALWAYS),
    "done": Rule((is_integer, _optional(is_integer), is_flag, _optional(is_integer)), _ALIVE, ENDED),
}  # fmt: skip
"""By their names in frames."""


def check_report(name: str, arguments: list[Any]) -> None:
    """Raises ProtocolError for a message that there is not, or that has other fields."""
    if name == "news":
        is_right = len(arguments) == 2 and (is_news(NEWS, *arguments) or is_news(NEWS_OF_MAIN, *arguments))
    elif name in RULES:
        is_right = _row(*RULES[name].fields)(arguments)
    else:
        raise ProtocolError("a message that there is not")
    if not is_right:
        raise ProtocolError(f"a message {name} whose fields are not those of one")


class ReportOrder:
    """Of the messages of one worker."""

    def __init__(self) -> None:
        self._state = STARTED

    @property
    def is_ready(self) -> bool:
        return self._state == READY

    def take(self, name: str, is_asked_to_end: bool) -> None:
        """One has come. Raises ProtocolError if it should not have."""
        rule = RULES.get(name)
        if rule is None:  # news
            return
        if self._state not in rule.states or (name == "done" and not is_asked_to_end):
            raise ProtocolError(f"a message {name} that was not to come now")
        if rule.then is not None:
            self._state = rule.then
