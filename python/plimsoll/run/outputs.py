"""Where the results of a run go."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

STDOUT = "-"


@dataclass(frozen=True, slots=True)
class Outputs:
    """Where the results go, besides the store."""

    store: str | None = None
    name: str | None = None
    secret: frozenset[str] = frozenset()
    """Options of the locustfile whose values are kept nowhere."""
    thresholds: tuple[str, ...] = ()
    csv: str | None = None
    csv_full_history: bool = False
    json: bool = False
    """Locust's JSON on stdout; the tables then go to stderr."""
    json_file: str | None = None
    summary: str | None = None
    """The file of all that is known of the run, as JSON; "-" is stdout, and the tables then go to stderr."""
    html: str | None = None
    junit: str | None = None
    hlog: str | None = None
    exchanges: str | None = None
    """The Parquet file of every exchange."""
    only_summary: bool = False

    def files(self) -> list[tuple[str, str]]:
        """(format, path) of what is written once the run is over."""
        wanted = {
            "locust.json": self.json_file,
            "run.json": self.summary,
            "html": self.html,
            "run.junit": self.junit,
            "hlog": self.hlog,
        }
        return [(format, path) for format, path in wanted.items() if path]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a message."""
        return {**asdict(self), "secret": sorted(self.secret), "thresholds": list(self.thresholds)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Outputs:
        """The inverse of `to_dict`."""
        return cls(**{**data, "secret": frozenset(data["secret"]), "thresholds": tuple(data["thresholds"])})
