"""Limits on a run and their sources: allowed hosts, caps, and a header that identifies the sender.

A run is limited by its options and by the machine's limits file. The stricter limit counts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from plimsoll._engine import AllowedHosts
from plimsoll.errors import UsageError
from plimsoll.say.durations import format_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

HEADER = "X-Load-Test"
"""The request header that identifies the sender."""


_VALUES: dict[str, Callable[[float], str]] = {
    "max_rate": lambda value: f"{value:.12g}/s",
    "max_users": lambda value: f"{value:.0f}",
    "max_run_time": format_duration,
}


@dataclass(frozen=True, slots=True)
class HostPatterns:
    """A list of allowed hosts, in the format of `_engine.AllowedHosts`."""

    patterns: tuple[str, ...]
    file: str = ""
    """The limits file that sets them; "" for an option."""

    @property
    def place(self) -> str:
        """As in "192.0.2.1 is not in PLACE"."""
        return f"allow_hosts of {self.file}" if self.file else "the allowed hosts; allow it with --allow-hosts"


@dataclass(frozen=True, slots=True)
class Cap:
    """An upper limit."""

    value: float
    file: str = ""


@dataclass(frozen=True, slots=True)
class GuardRails:
    """All limits of a run."""

    hosts: tuple[HostPatterns, ...] = ()
    """Each must allow a connection; () allows all."""
    max_rate: Cap | None = None
    """Requests per second of the whole run."""
    max_users: Cap | None = None
    max_run_time: Cap | None = None
    """Seconds."""
    identify_file: str = ""
    """The limits file that requires the identifying header; "" for none."""

    def joined(self, others: GuardRails) -> GuardRails:
        """The limits of both."""
        caps = {name: _stricter(getattr(self, name), getattr(others, name)) for name in _VALUES}
        hosts = tuple(dict.fromkeys((*self.hosts, *others.hosts)))
        return GuardRails(hosts=hosts, identify_file=self.identify_file or others.identify_file, **caps)

    @property
    def of_options(self) -> GuardRails:
        """Without those of a limits file."""
        caps = {name: None if (cap := getattr(self, name)) and cap.file else cap for name in _VALUES}
        return replace(self, hosts=tuple(each for each in self.hosts if not each.file), identify_file="", **caps)

    def said(self, name: str) -> str:
        """A cap as it was written: "--max-rate 500/s" or "max_rate = 500/s (/etc/plimsoll/limits.toml)"."""
        cap: Cap = getattr(self, name)
        value = _VALUES[name](cap.value)
        return f"{name} = {value} ({cap.file})" if cap.file else f"--{name.replace('_', '-')} {value}"

    def lines(self) -> list[str]:
        """Each as it was written."""
        hosts = [
            f"allow_hosts = {', '.join(each.patterns)} ({each.file})" if each.file
            else f"--allow-hosts {','.join(each.patterns)}"
            for each in self.hosts
        ]  # fmt: skip
        caps = [self.said(name) for name in _VALUES if getattr(self, name) is not None]
        return [*hosts, *caps, *([f"require_identify ({self.identify_file})"] if self.identify_file else ())]

    def allowed_hosts(self) -> AllowedHosts | None:
        """For an engine; None allows everything. Raises UsageError for an invalid host pattern."""
        try:
            return AllowedHosts([(each.patterns, each.place) for each in self.hosts]) if self.hosts else None
        except ValueError as error:
            raise UsageError(f"allowed hosts: {error}") from error

    def check_users(self, users: int, what: str) -> None:
        """what: the source of the number. Raises UsageError."""
        if self.max_users is not None and users > self.max_users.value:
            raise UsageError(f"{what}: more than {self.said('max_users')}")

    def check_rate(self, rate: float, what: str) -> None:
        """rate: requests per second. Raises UsageError."""
        if self.max_rate is not None and rate > self.max_rate.value * (1 + 1e-9):
            raise UsageError(f"{what}: more than {self.said('max_rate')}")

    def check_run_time(self, seconds: float) -> None:
        """Raises UsageError."""
        if self.max_run_time is not None and seconds > self.max_run_time.value:
            raise UsageError(f"a run of {format_duration(seconds)}: more than {self.said('max_run_time')}")

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a message or a manifest."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> GuardRails:
        """The inverse of `to_dict`, after a format that has only lists."""
        plain = {each.name: data[each.name] for each in fields(cls) if each.name in data}
        plain["hosts"] = tuple(HostPatterns(tuple(each["patterns"]), each["file"]) for each in plain["hosts"])
        caps = {name: Cap(**plain[name]) if plain.get(name) else None for name in _VALUES}
        return cls(**(plain | caps))


NO_RAILS = GuardRails()


def split_hosts(values: Iterable[str]) -> tuple[str, ...]:
    """The patterns of a repeatable option, which may contain commas. Raises UsageError."""
    patterns = tuple(part.strip() for value in values for part in value.split(","))
    try:
        AllowedHosts([(patterns, "")])
    except ValueError as error:
        raise UsageError(f"--allow-hosts {error}") from error
    return patterns


def header_value(contact: str, run: str | None) -> str:
    """The value of `HEADER`. contact: the value of --identify. run: its id, if it is stored."""
    return f"plimsoll {f'run={run} ' if run else ''}contact={contact}"


def check_contact(contact: str) -> str:
    """Raises UsageError for text that a header cannot contain."""
    if not contact.strip() or not contact.isascii() or not contact.isprintable():
        raise UsageError(f"--identify {contact!r}: a contact in plain ASCII is needed, as in load@example.com")
    return contact.strip()


def _stricter(one: Cap | None, other: Cap | None) -> Cap | None:
    if one is None or other is None:
        return one or other
    return other if other.value < one.value else one
