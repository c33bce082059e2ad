"""What can be observed, and its notation: a row for each kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from plimsoll.doors import added
from plimsoll.errors import UsageError
from plimsoll.observe import owners
from plimsoll.observe.processes import Processes
from plimsoll.observe.prometheus import RangeQuery
from plimsoll.observe.scrape import Scrape
from plimsoll.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.observe.sampler import Probe

GROUP = "plimsoll.observers"
"""The entry-point group through which other packages add kinds."""
Touches = Literal["reads", "runs", "connects", "listens"]
"""reads: what the kernel knows of processes. runs: a program that knows. connects: to a server. listens: at a port."""

OTLP_PORT = 4318
"""The default port of SDKs."""
_LABEL = re.compile(r"([A-Za-z_][\w.-]*)=(.+)", re.DOTALL)


class ObservedKind(NamedTuple):
    """A kind of observation."""

    begins: tuple[str, ...]
    """Prefixes of its texts."""
    example: str
    help: str
    open: Callable[[str, str], Probe | RangeQuery]
    """Arguments: the label, "" for none, and the text. Raises UsageError for an invalid text."""
    touches: Touches
    """What it takes on this machine, or beyond it."""


def opened(text: str) -> Probe | RangeQuery:
    """text: as in `KINDS`, with an optional prefix `label=`. Raises UsageError."""
    label, what, kind = _parts(text)
    try:
        return kind.open(label, what)
    except UsageError as error:
        raise UsageError(f"--observe {redact(text)}: {error}") from error


def touches(text: str) -> Touches:
    """What observing this takes. text: as for `opened`. Raises UsageError."""
    return _parts(text)[2].touches


def _parts(text: str) -> tuple[str, str, ObservedKind]:
    """The label, "" for none, the rest, and its kind. Raises UsageError."""
    label, what = "", text.strip()
    if (found := _LABEL.fullmatch(what)) is not None:
        label, what = found[1], found[2]
    kinds = (*KINDS, *added(GROUP, ObservedKind, ()).values())
    for kind in kinds:
        if what.startswith(kind.begins):
            return label, what, kind
    known = ", ".join(kind.example for kind in kinds)
    raise UsageError(f"--observe {redact(text)}: not known; there are {known}")


def _pid(label: str, text: str) -> Probe:
    number, slash, rest = text.removeprefix("pid:").partition("/")
    if not number.isdigit() or (slash and rest != "children"):
        raise UsageError("a pid is a number: pid:1234")
    return Processes(label or f"pid {number}", owners.Tree(int(number), itself=not slash))


def _name(label: str, text: str) -> Probe:
    name = _rest(text)
    return Processes(label or name, owners.Program(name))


def _container(label: str, text: str) -> Probe:
    name = _rest(text)
    return Processes(label or name, owners.Container(name))


def _unit(label: str, text: str) -> Probe:
    name = _rest(text)
    return Processes(label or name, owners.Unit(name))


def _postgres(label: str, text: str) -> Probe:
    # Imported here because psycopg is optional.
    from plimsoll.observe.postgres import Postgres

    return Postgres(text, label)


def _scrape(label: str, text: str) -> Probe:
    url, _, patterns = text.partition("#")
    wanted = [each for each in map(str.strip, unquote(patterns).split(",")) if each]
    return Scrape(label or _host(url), url, wanted)


def _prometheus(label: str, text: str) -> RangeQuery:
    url, _, expression = text.removeprefix("prometheus+").partition("#")
    if not expression.strip():
        raise UsageError("say which query, after #: prometheus+http://127.0.0.1:9090#rate(http_requests_total[1m])")
    return RangeQuery(label or _host(url), url, expression.strip())


def _otlp(label: str, text: str) -> Probe:
    from plimsoll.observe.otlp import Receiver

    host, _, port = text.removeprefix("otlp").removeprefix(":").rpartition(":")
    if port and not (port.isdigit() and int(port) < 65536):
        raise UsageError("say at which port: otlp:4318, or otlp:0.0.0.0:4318 for other machines")
    return Receiver(label or "traces", host.strip("[]") or "127.0.0.1", int(port) if port else OTLP_PORT)


def _rest(text: str) -> str:
    kind, _, name = text.partition(":")
    if not name:
        raise UsageError(f"say which one: {kind}:NAME")
    return name


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or url
    except ValueError as error:
        raise UsageError(f"not a URL: {error}") from error


KINDS = (
    ObservedKind(("pid:",), "pid:1234", "a process and all that it started", _pid, "reads"),
    ObservedKind(("name:",), "name:nginx", "all processes of a program", _name, "reads"),
    ObservedKind(("container:",), "container:web", "a container of docker or podman", _container, "runs"),
    ObservedKind(("unit:",), "unit:nginx.service", "a systemd unit", _unit, "runs"),
    ObservedKind(
        ("postgresql://", "postgres://"), "postgresql://user@host/database", "a PostgreSQL database from its own "
        "statistics", _postgres, "connects",
    ),
    ObservedKind(
        ("prometheus+http://", "prometheus+https://"), "prometheus+http://host:9090#QUERY", "a query to a Prometheus "
        "server, asked when the run is over", _prometheus, "connects",
    ),
    ObservedKind(
        ("otlp",), "otlp:4318", "a receiver for the traces and metrics of OpenTelemetry SDKs", _otlp, "listens",
    ),
    ObservedKind(
        ("http://", "https://"), "http://host:9100/metrics#PATTERN", "metrics as Prometheus scrapes them; PATTERN, as "
        "in http_*,process_*, chooses", _scrape, "connects",
    ),
)  # fmt: skip
"""The first kind with a matching prefix counts."""
