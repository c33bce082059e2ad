"""RequestStats: the statistics of a test, `environment.stats`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plimsoll.locust.stats.entry import StatsEntry
from plimsoll.locust.stats.errors import ErrorsDict
from plimsoll.locust.stats.live_mapping import LiveMapping
from plimsoll.locust.stats.numbers import RecordedNumbers
from plimsoll.locust.stats.source import StatsSource
from plimsoll.stats.totals import AGGREGATED

if TYPE_CHECKING:
    from plimsoll.locust.stats.entry import StatsEntryDict


class RequestStats:
    """Every number is read from the source on access; nothing is counted here.

    Response times are those of successes and failures alike, also with `--times-of successes`.
    """

    def __init__(self, use_response_times_cache: bool = True, source: StatsSource | None = None) -> None:
        """use_response_times_cache has no effect. source: None counts only requests logged here."""
        self.use_response_times_cache = use_response_times_cache
        self.source = source or StatsSource()
        self.entries = EntriesDict(self)
        self.errors = ErrorsDict(self.source)
        self.total = StatsEntry(self, AGGREGATED, "", use_response_times_cache, RecordedNumbers(self.source, None))
        self.history: list[dict[str, Any]] = []
        """Points of the charts, added by `update_stats_history`."""

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
        """Unix time since which requests are counted: the start of the test, or the last reset."""
        return self.total.start_time

    def get(self, name: str, method: str) -> StatsEntry:
        """The row of an endpoint. Without requests it has zeros; it is in `entries` from now on."""
        return self.entries[name, method]

    def log_request(self, method: str, name: str, response_time: float | None, content_length: float) -> None:
        """Record a request that no session made. response_time in ms, content_length in bytes."""
        self.source.log_request((method, name), response_time, content_length)

    def log_error(self, method: str, name: str, error: BaseException | str | None) -> None:
        """Record that the request just logged has failed. Without one, this is a request without a time."""
        self.source.log_error((method, name), error)

    def reset_all(self) -> None:
        """Start counting again at zero; endpoints stay. The stored run does not change."""
        self.entries.refresh()
        self._begin_anew()

    def clear_all(self) -> None:
        """Start counting again at zero; endpoints disappear until their next request."""
        self._begin_anew()
        self.entries.clear()

    def _begin_anew(self) -> None:
        self.source.reset()
        self.history = []

    def serialize_stats(self) -> list[StatsEntryDict]:
        """All rows with requests except the total, as plain values."""
        return [entry.serialize() for entry in self.entries.values() if entry.num_requests or entry.num_failures]

    def serialize_errors(self) -> dict[str, dict[str, Any]]:
        return {key: error.serialize() for key, error in self.errors.items()}


class EntriesDict(LiveMapping[tuple[str, str], StatsEntry]):
    """{(name, method): StatsEntry} of the endpoints with requests, in the order of their first one. `[name, method]` of
    any other creates an entry with zeros."""

    def __init__(self, stats: RequestStats) -> None:
        self._stats = stats
        self._entries: dict[tuple[str, str], StatsEntry] = {}
        """The entries created so far."""

    def __getitem__(self, key: tuple[str, str]) -> StatsEntry:
        entry = self._entries.get(key)
        if entry is None:
            # Endpoints with earlier requests go first.
            self.refresh()
            entry = self._entries.get(key) or self._add(*key)
        return entry

    def __contains__(self, key: object) -> bool:
        return key in self._entries or key in self.refresh()

    def get(self, key: tuple[str, str], default: Any = None) -> Any:
        """The entry, or the default for an endpoint without one."""
        return self._entries.get(key) or self.refresh().get(key, default)

    def refresh(self) -> dict[tuple[str, str], StatsEntry]:
        """Create the entries of all endpoints with requests so far. They stay until `clear`."""
        for method, name in self._stats.source.endpoints():
            if (name, method) not in self._entries:
                self._add(name, method)
        return self._entries

    def clear(self) -> None:
        """Drop the entries: only endpoints with new requests get one."""
        self._entries = {}

    def _add(self, name: str, method: str) -> StatsEntry:
        numbers = RecordedNumbers(self._stats.source, (method, name))
        entry = StatsEntry(self._stats, name, method, self._stats.use_response_times_cache, numbers)
        self._entries[name, method] = entry
        return entry
