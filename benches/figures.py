"""The fields of a run's JSON (docs/formats.md) that the benches read."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Figures:
    """Without the run's warm-up. Times in ms; 0 if nothing was timed."""

    failures: int
    offered: int
    """Arrivals that were due; 0 in the closed model."""
    sent: int
    """Of these, those that were sent."""
    lag_p50_ms: float
    lag_p99_ms: float
    lag_max_ms: float
    delay_p99_ms: float

    @classmethod
    def read(cls, path: Path) -> "Figures":
        """From the file of --json-file."""
        document = json.loads(path.read_text())
        generator = document["generator"]
        lag, delay = (generator[name]["percentiles"] for name in ("lag_ms", "delay_ms"))
        return cls(
            failures=document["total"]["failures"],
            offered=generator["offered"],
            sent=generator["sent"],
            lag_p50_ms=_value(lag, "50"),
            lag_p99_ms=_value(lag, "99"),
            lag_max_ms=_value(lag, "100"),
            delay_p99_ms=_value(delay, "99"),
        )


def _value(percentiles: dict[str, Any], percent: str) -> float:
    return float(percentiles[percent] or 0.0)
