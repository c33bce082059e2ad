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
    """Every figure is read from the source when it is asked for; nothing is counted here.

    Response times are those of successes and failures alike, also with `--times-of successes`.
    """

    def __init__(self, use_response_times_cache: bool = True, source: StatsSource | None = None) -> None:
        """use_response_times_cache makes no difference. source: None counts what is logged here, and nothing else."""
        self.use_response_times_cache = use_response_times_cache
        self.source = source or StatsSource()
        self.entries = EntriesDict(self)
        self.errors = ErrorsDict(self.source)
        self.total = StatsEntry(self, AGGREGATED, "", use_response_times_cache, RecordedNumbers(self.source, None))
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
        """The row of an endpoint. One that had no request has zeros; it is among the `entries` from now on."""
        return self.entries[name, method]

    def log_request(self, method: str, name: str, response_time: float | None, content_length: float) -> None:
        """Record a request that something else than a session made. response_time in ms, content_length in bytes."""
        self.source.log_request((method, name), response_time, content_length)

    def log_error(self, method: str, name: str, error: BaseException | str | None) -> None:
        """Record that the request which was just logged has failed. Without one, this is a request without a time."""
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
        """All rows with requests but the total, as plain values."""
        return [entry.serialize() for entry in self.entries.values() if entry.num_requests or entry.num_failures]

    def serialize_errors(self) -> dict[str, dict[str, Any]]:
        return {key: error.serialize() for key, error in self.errors.items()}


class EntriesDict(LiveMapping[tuple[str, str], StatsEntry]):
    """{(name, method): StatsEntry} of the endpoints that had a request, in the order in which they were first seen. Any
    other gets an entry with zeros when it is asked for as `[name, method]`."""

    def __init__(self, stats: RequestStats) -> None:
        self._stats = stats
        self._entries: dict[tuple[str, str], StatsEntry] = {}
        """The entries that code has read."""

    def __getitem__(self, key: tuple[str, str]) -> StatsEntry:
        entry = self._entries.get(key)
        if entry is None:
            # What had its first request before goes before it.
            self.refresh()
            entry = self._entries.get(key) or self._add(*key)
        return entry

    def __contains__(self, key: object) -> bool:
        return key in self._entries or key in self.refresh()

    def get(self, key: tuple[str, str], default: Any = None) -> Any:
        """The entry, or the default for an endpoint without one."""
        return self._entries.get(key) or self.refresh().get(key, default)

    def refresh(self) -> dict[tuple[str, str], StatsEntry]:
        """Make the entries of all endpoints that had a request by now. They stay until `clear`."""
        for method, name in self._stats.source.endpoints():
            if (name, method) not in self._entries:
                self._add(name, method)
        return self._entries

    def clear(self) -> None:
        """Forget them: only endpoints with requests from now on have one."""
        self._entries = {}

    def _add(self, name: str, method: str) -> StatsEntry:
        numbers = RecordedNumbers(self._stats.source, (method, name))
        entry = StatsEntry(self._stats, name, method, self._stats.use_response_times_cache, numbers)
        self._entries[name, method] = entry
        return entry
