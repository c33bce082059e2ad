"""What is to be run: the one value that coordinator and workers share."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

from plimsoll.errors import UsageError

_DURATION = re.compile(r"(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?(?:(?P<seconds>\d+)s?)?")


@dataclass(frozen=True, slots=True)
class RunPlan:
    """A closed-model run. Times are in seconds."""

    locustfiles: tuple[str, ...] = ()
    """Files to import, absolute; empty for a run of native users against `url`."""
    url: str | None = None
    arguments: tuple[str, ...] = ()
    """The part of the command line that only the locustfile can explain: user classes and options of its own."""
    host: str | None = None
    users: int = 1
    spawn_rate: float = 1.0
    """Users per second."""
    run_time: float | None = None
    """None: until stopped."""
    stop_timeout: float = 0.0
    """How long a task may take to finish when its user is stopped."""
    processes: int = 1
    tags: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    equal_weights: bool = False
    """Whatever the classes and tasks say, give each the same chance."""
    reset_stats: bool = False
    """Forget the ramp-up: second 0 is when all users are there."""
    seed: int = 0
    loglevel: str = "INFO"
    logfile: str | None = None
    skip_log_setup: bool = False
    exit_code_on_error: int = 1
    options: tuple[tuple[str, Any], ...] = ()
    """Everything that `environment.parsed_options` shows besides, by Locust's names."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a message or a manifest."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunPlan:
        """The inverse of `to_dict`, after a format that knows lists only."""
        plain = {field.name: data[field.name] for field in fields(cls)}
        for name in ("locustfiles", "arguments", "tags", "exclude_tags"):
            plain[name] = tuple(plain[name])
        plain["options"] = tuple((name, value) for name, value in plain["options"])
        return cls(**plain)


def parse_duration(text: str) -> float:
    """Seconds in "20", "20s", "3m", "2h", "1h30m" or "3h30m10s". Raises UsageError."""
    match = _DURATION.fullmatch(text.strip())
    if not match or not any(match.groups()):
        raise UsageError(f"{text!r} is not a duration; valid are 20, 20s, 3m, 2h, 1h20m, 3h30m10s")
    hours, minutes, seconds = (int(part or 0) for part in match.group("hours", "minutes", "seconds"))
    return float(hours * 3600 + minutes * 60 + seconds)


def format_duration(seconds: float) -> str:
    """The shortest spelling that `parse_duration` reads, to whole seconds: 90 is "1m30s"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (rest, "s"))
    return "".join(f"{amount}{unit}" for amount, unit in parts if amount) or "0s"
