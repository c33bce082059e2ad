"""StatsError: how often one endpoint failed in one way."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypedDict

from plimsoll.locust.stats.remade import remade
from plimsoll.report.render.locust_csv import error_text, failure_key, is_repr
from plimsoll.users.exceptions import CatchResponseError
from plimsoll.users.failure import message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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


class StatsError:
    """Failures of one endpoint with one message. The times are Unix time."""

    def __init__(
        self,
        method: str,
        name: str,
        error: BaseException | str | None,
        occurrences: int = 0,
        first_seen: float | None = None,
        last_seen: float | None = None,
    ) -> None:
        self.method = method
        self.name = name
        self.error = error
        self.occurrences = occurrences
        self.first_seen = first_seen
        self.last_seen = last_seen

    @classmethod
    def parse_error(cls, error: BaseException | str | None) -> str:
        """What failures are told apart by: the `repr` of an error, or a text as it is, without addresses in memory."""
        return message_of(error if isinstance(error, str) else repr(error))

    @classmethod
    def create_key(cls, method: str, name: str, error: BaseException | str | None) -> str:
        """What it is found by in `RequestStats.errors`."""
        return failure_key(method, name, cls.parse_error(error))

    def occurred(self) -> None:
        """Count one more, now."""
        self.occurrences += 1
        self.last_seen = time.time()
        self.first_seen = self.first_seen or self.last_seen

    def to_name(self) -> str:
        """As the table of errors has it; of what was given to `response.failure()` it shows no more than that."""
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
    """A StatsError of a test. Its exception is made, when somebody asks for it, of the text that is recorded."""

    def __init__(self, method: str, name: str, text: str, first: float, last: float) -> None:
        self.method = method
        self.name = name
        self.occurrences = 0
        self.first_seen = first
        self.last_seen = last
        self._text = text

    @cached_property
    def error(self) -> BaseException | str:  # type: ignore[override]
        return remade(self._text) if is_repr(self._text) else self._text


class ErrorsDict(Mapping[str, StatsError]):
    """{key: StatsError} of all failures up to the moment of reading, in the order in which they were first seen."""

    def __init__(self, source: StatsSource) -> None:
        self._source = source

    def __getitem__(self, key: str) -> StatsError:
        return self._read()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    # Read once; what Mapping makes of `__getitem__` would read them all for each.

    def values(self) -> Any:
        return self._read().values()

    def items(self) -> Any:
        return self._read().items()

    def copy(self) -> dict[str, StatsError]:
        return self._read()

    def __repr__(self) -> str:
        return repr(self._read())

    def _error(self, method: str, name: str, text: str, first: float, last: float) -> StatsError:
        # Where workers report, exceptions are texts under Locust, too.
        if self._source.reported:
            return StatsError(method, name, text, 0, first, last)
        return RecordedError(method, name, text, first, last)

    def _read(self) -> dict[str, StatsError]:
        errors: dict[str, StatsError] = {}
        for each in self._source.failures():
            text = error_text(each.method, each.message)
            key = failure_key(each.method, each.name, text)
            # The kind of failure is told apart here, in the errors it is not.
            if (error := errors.get(key)) is None:
                error = errors[key] = self._error(each.method, each.name, text, each.first, each.last)
            error.occurrences += each.count
            error.last_seen = max(error.last_seen or 0.0, each.last)
        return errors
