"""StatsError: how often one endpoint failed in one way."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from plimsoll.report.locust_csv import failure_key
from plimsoll.users.failure import message_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.users.stats.source import StatsSource


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
        """The message of an error, without addresses in memory: what failures are told apart by."""
        return message_of(repr(error) if error is None else error)

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
        return f"{self.method} {self.name}: {self.parse_error(self.error)}"

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

    def _read(self) -> dict[str, StatsError]:
        errors: dict[str, StatsError] = {}
        for each in self._source.failures():
            key = failure_key(each.method, each.name, each.message)
            # The kind of failure is told apart here, in the errors it is not.
            error = errors.setdefault(key, StatsError(each.method, each.name, each.message, 0, each.first, each.last))
            error.occurrences += each.count
            error.last_seen = max(error.last_seen or 0.0, each.last)
        return errors
