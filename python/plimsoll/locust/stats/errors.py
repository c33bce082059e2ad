"""StatsError: the count of one kind of failure of an endpoint."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

from plimsoll.locust.stats.live_mapping import LiveMapping
from plimsoll.locust.stats.remade import remade
from plimsoll.report.render.locust_csv import error_text, failure_key, is_repr
from plimsoll.users.exceptions import CatchResponseError
from plimsoll.users.failure import message_of

if TYPE_CHECKING:
    from plimsoll.locust.stats.source import StatsSource


_CAUGHT = "CatchResponseError("


class StatsErrorDict(TypedDict):
    """A StatsError as plain values; times are Unix time."""

    name: str
    method: str
    error: str
    occurrences: int
    first_seen: float | None
    last_seen: float | None


@dataclass(eq=False, repr=False)
class StatsError:
    """Failures of one endpoint with one message. The times are Unix time."""

    method: str
    name: str
    error: BaseException | str | None
    occurrences: int = 0
    first_seen: float | None = None
    last_seen: float | None = None

    @classmethod
    def parse_error(cls, error: BaseException | str | None) -> str:
        """The key of a failure: the `repr` of an error, or a text unchanged, without memory addresses."""
        return message_of(error if isinstance(error, str) else repr(error))

    @classmethod
    def create_key(cls, method: str, name: str, error: BaseException | str | None) -> str:
        """The key in `RequestStats.errors`."""
        return failure_key(method, name, cls.parse_error(error))

    def occurred(self) -> None:
        """Count one more, now."""
        self.occurrences += 1
        self.last_seen = time.time()
        self.first_seen = self.first_seen or self.last_seen

    def to_name(self) -> str:
        """The text in the table of errors; for `response.failure()` only its argument."""
        text = self.error if isinstance(self.error, str) else repr(self.error)
        if isinstance(self.error, CatchResponseError):
            text = self.error.args[0] if self.error.args else ""
        elif isinstance(self.error, str) and text.startswith(_CAUGHT):
            text = text[len(_CAUGHT) : -1]
        return f"{self.method} {self.name}: {text}"

    def to_dict(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in StatsErrorDict.__annotations__} | {
            "error": self.parse_error(self.error)
        }

    serialize = to_dict

    @classmethod
    def unserialize(cls, data: StatsErrorDict) -> StatsError:
        """The inverse of `serialize`."""
        seen = data.get("first_seen"), data.get("last_seen")
        return cls(data["method"], data["name"], data["error"], data["occurrences"], *seen)


class RecordedError(StatsError):
    """A StatsError of a test: its numbers are current at each reading, until a reset.

    Its exception is made from the recorded text on first access.
    """

    def __init__(self, errors: ErrorsDict, method: str, name: str, text: str) -> None:
        self.method = method
        self.name = name
        self.count = 0
        self.first = self.last = 0.0
        self._errors = errors
        self._text = text

    @property
    def occurrences(self) -> int:  # type: ignore[override]
        self._errors.refresh()
        return self.count

    @property
    def first_seen(self) -> float:  # type: ignore[override]
        return self.first

    @property
    def last_seen(self) -> float:  # type: ignore[override]
        self._errors.refresh()
        return self.last

    @cached_property
    def error(self) -> BaseException | str:  # type: ignore[override]
        # With workers, exceptions are texts in Locust, too.
        return remade(self._text) if is_repr(self._text) and not self._errors.are_texts else self._text


class ErrorsDict(LiveMapping[str, StatsError]):
    """{key: StatsError} of all failures up to the time of reading, in the order of their first occurrence."""

    def __init__(self, source: StatsSource) -> None:
        self._source = source
        self._errors: dict[str, RecordedError] = {}
        """The errors since the last reset."""
        self._version: tuple[float, object] | None = None

    @property
    def are_texts(self) -> bool:
        """Whether errors are texts here, not exceptions."""
        return self._source.reported

    def refresh(self) -> dict[str, RecordedError]:
        """Update the errors. Only after a change of the totals, because each failure changes them."""
        version = self._source.since, (self._source.changes, self._source.total(None))
        if version == self._version:
            return self._errors
        if self._version is None or self._version[0] != version[0]:
            self._errors = {}
        self._version = version
        for known in self._errors.values():
            known.count = 0
        for each in self._source.failures():
            text = error_text(each.method, each.text)
            # Recorded failures are separate for each failure kind, errors here are not.
            key = failure_key(each.method, each.name, text)
            error = self._errors.get(key)
            if error is None:
                error = self._errors[key] = RecordedError(self, each.method, each.name, text)
                error.first = each.first
            error.count += each.count
            error.last = max(error.last, each.last)
        if not all(error.count for error in self._errors.values()):
            # Messages may have been merged into one since.
            left = sorted(self._errors.items(), key=lambda each: each[1].first)
            self._errors = {key: error for key, error in left if error.count}
        return self._errors
