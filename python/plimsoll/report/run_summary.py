"""A whole run in a line: for lists of runs and trends, and cached so that the run need not be read again."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from plimsoll import __version__
from plimsoll.errors import StoreError
from plimsoll.say.validity import check_texts
from plimsoll.stats.latency.milliseconds import Milliseconds
from plimsoll.stats.table import total_of
from plimsoll.stats.validity import judge
from plimsoll.stats.view import RunView
from plimsoll.store.checks import DAMAGE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.view import RecordedRun
    from plimsoll.store import Store, StoredRun

RULES = 4
"""Increase it whenever the same record may give other numbers, or another verdict on the generator."""

QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999, "max": 1.0}


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The row "Aggregated" of a run, and the verdict on its generator."""

    requests: int
    failures: int
    unanswered: int
    """Requests without a response when their user was stopped."""
    rate: float
    """Completed requests per second."""
    duration: float
    """s measured."""
    times: dict[str, float | None]
    """Response times in ms: "mean" and those of `QUANTILES`. None if nothing was timed."""
    at_least: tuple[str, ...] = ()
    """Those of the times that are lower bounds."""
    shares: dict[str, float] = field(default_factory=dict)
    """ms of each time that the generator may have added."""
    reasons: tuple[str, ...] = ()
    """Why it is invalid."""

    @property
    def is_valid(self) -> bool:
        return not self.reasons

    def time(self, name: str) -> Milliseconds | None:
        value = self.times[name]
        return None if value is None else Milliseconds(value, name in self.at_least, self.shares.get(name, 0.0))

    @property
    def fail_ratio(self) -> float:
        """0…1."""
        return self.failures / self.requests if self.requests else 0.0

    @classmethod
    def of(cls, run: RecordedRun) -> Self:
        """Reads the run. Raises StoreError if that fails."""
        return cls.of_view(RunView.of(run), run.manifest, run.facts, run.status)

    @classmethod
    def of_view(cls, view: RunView, manifest: Manifest, facts: RunFacts, status: str) -> Self:
        """The same from a run already read."""
        total = total_of(view)
        times = {
            "mean": total.response_ms.mean,
            **{name: total.response_ms.quantile(q) for name, q in QUANTILES.items()},
        }
        return cls(
            requests=total.requests,
            failures=total.failures,
            unanswered=total.unanswered,
            rate=total.rps,
            duration=view.duration,
            times={name: None if time is None else time.value for name, time in times.items()},
            at_least=tuple(name for name, time in times.items() if time is not None and time.at_least),
            shares={name: time.share for name, time in times.items() if time is not None},
            reasons=tuple(check_texts(judge(view, manifest, facts, status).failed)),
        )

    @classmethod
    def unreadable(cls, reason: str) -> Self:
        """Of a run whose record cannot be read."""
        return cls(0, 0, 0, 0.0, 0.0, dict.fromkeys(("mean", *QUANTILES)), reasons=(reason,))

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "at_least": list(self.at_least), "reasons": list(self.reasons)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        return cls(**{**plain, "at_least": tuple(plain["at_least"]), "reasons": tuple(plain["reasons"])})


@cache
def rules() -> str:
    """The version of a summary's rules. Another release of Plimsoll counts as different."""
    return f"{__version__}/{RULES}"


def summarised(store: Store, runs: Sequence[StoredRun]) -> list[tuple[StoredRun, RunSummary]]:
    """From what is kept of those that are over; others are read. One that cannot be read does not hide the others."""
    kept = store.summaries.of(runs, lambda run: RunSummary.of(run).to_json(), rules())
    return [(run, RunSummary.from_json(kept[run.id]) if run.id in kept else _read(run)) for run in runs]


def _read(run: StoredRun) -> RunSummary:
    try:
        return RunSummary.of(run)
    except (StoreError, *DAMAGE) as error:
        return RunSummary.unreadable(str(error))
