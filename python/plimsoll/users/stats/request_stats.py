"""RequestStats: the statistics of a test, `environment.stats`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from plimsoll.stats.view import AGGREGATED
from plimsoll.users.stats.entry import StatsEntry
from plimsoll.users.stats.errors import ErrorsDict
from plimsoll.users.stats.numbers import Recorded
from plimsoll.users.stats.source import StatsSource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.users.stats.entry import StatsEntryDict


class RequestStats:
    """Every figure is read from the source when it is asked for; nothing is counted here."""

    def __init__(self, use_response_times_cache: bool = True, source: StatsSource | None = None) -> None:
        """use_response_times_cache makes no difference. source: None counts what is logged here, and nothing else."""
        self.use_response_times_cache = use_response_times_cache
        self.source = source or StatsSource()
        self.entries = EntriesDict(self)
        self.errors = ErrorsDict(self.source)
        self.total = StatsEntry(self, AGGREGATED, "", use_response_times_cache, Recorded(self.source, None))
        self.history: list[dict[str, Any]] = []
        """Points of the charts; what `update_stats_history` adds to."""

    @property
    def num_requests(self) -> int:
        return self.total.num_requests

    @property
    def num_none_requests(self) -> int:
        return self.total.num_none_requests

    @property
    def num_failures(self) -> int:
        return self.total.num_failures

    @property
    def last_request_timestamp(self) -> float | None:
        return self.total.last_request_timestamp

    @property
    def start_time(self) -> float:
        """Unix time from which on requests are counted: when the test began, or the last reset."""
        return self.total.start_time

    def get(self, name: str, method: str) -> StatsEntry:
        """The row of an endpoint. One that had no request has zeros, and is in no table."""
        return self.entries[name, method]

    def log_request(self, method: str, name: str, response_time: float | None, content_length: float) -> None:
        """Record a request that something else than a session made. response_time in ms, content_length in bytes."""
        self.source.log_request((method, name), response_time, content_length)

    def log_error(self, method: str, name: str, error: BaseException | str | None) -> None:
        """Record that the request which was just logged has failed. Without one, this is a request without a time."""
        self.source.log_error((method, name), error)

    def reset_all(self) -> None:
        """Count anew from now on; endpoints come back with their next request. What is kept of the test, and shown by
        its report, does not change."""
        self.source.reset()
        self.history = []

    def clear_all(self) -> None:
        """The same."""
        self.reset_all()

    def serialize_stats(self) -> list[StatsEntryDict]:
        """All rows but the total, as plain values."""
        return [entry.serialize() for entry in self.entries.values()]

    def serialize_errors(self) -> dict[str, dict[str, Any]]:
        return {key: error.serialize() for key, error in self.errors.items()}


class EntriesDict(Mapping[tuple[str, str], StatsEntry]):
    """{(name, method): StatsEntry} of the endpoints that had a request; any other has an entry with zeros."""

    def __init__(self, stats: RequestStats) -> None:
        self._stats = stats
        self._entries: dict[tuple[str, str], StatsEntry] = {}
        """Those that were asked for."""

    def __getitem__(self, key: tuple[str, str]) -> StatsEntry:
        entry = self._entries.get(key)
        if entry is None:
            name, method = key
            numbers = Recorded(self._stats.source, (method, name))
            entry = StatsEntry(self._stats, name, method, self._stats.use_response_times_cache, numbers)
            self._entries[key] = entry
        return entry

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return ((name, method) for method, name in self._stats.source.endpoints())

    def __len__(self) -> int:
        return len(self._stats.source.endpoints())

    def __contains__(self, key: object) -> bool:
        return key in list(self)

    def get(self, key: tuple[str, str], default: Any = None) -> Any:
        """The entry, or the default for an endpoint without a request."""
        return self[key] if key in self else default  # noqa: SIM401 - `self[key]` is there for any key

    def copy(self) -> dict[tuple[str, str], StatsEntry]:
        return dict(self)

    def __repr__(self) -> str:
        return repr(self.copy())
