"""The outputs that there are, and the notation of `--out`: NAME[=URL][,key=value]."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from plimsoll.distribution import pip_install
from plimsoll.doors import members
from plimsoll.errors import UsageError
from plimsoll.load.mistakes import nearest
from plimsoll.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.outputs.output import Output

GROUP = "plimsoll.outputs"
"""The entry points by which another package adds an output: objects of `OutputKind`."""
WEBHOOK = "webhook"
"""The output that `--notify` stands for."""
_SETTING = re.compile(r",(?=[a-z_]+=)")


@dataclass(frozen=True, slots=True)
class OutputTarget:
    """A text of `--out`, in its parts."""

    kind: str
    url: str = ""
    """A URL, or the path of a file; "" if it is not given."""
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    has_page: bool = False
    """Whether the run has a page, whose server can show figures."""

    @property
    def name(self) -> str:
        """For messages. The path of a webhook is its secret."""
        where = "/".join(self.url.split("/")[:3]) if self.kind == WEBHOOK else self.url
        return f"output {self.kind}{f' ({redact(where)})' if where else ''}"


@dataclass(frozen=True, slots=True)
class OutputKind:
    """A kind of output."""

    example: str
    help: str
    open: Callable[[OutputTarget], Output]
    """Raises UsageError for a URL or a setting that it cannot use. It connects to nothing."""
    settings: tuple[str, ...] = ()
    """The keys that it knows."""


def opened(text: str, *, has_page: bool) -> tuple[OutputTarget, Output]:
    """text: as in `OUTPUTS`. has_page: whether the run has one. Raises UsageError that names the option."""
    target = replace(parse_target(text), has_page=has_page)
    try:
        return target, _opened(target)
    except UsageError as error:
        option = "--notify" if target.kind == WEBHOOK else f"--out {redact(text)}"
        raise UsageError(f"{option}: {error}") from error


def check_output(text: str, *, has_page: bool) -> None:
    """The same for a text of a file, where the message has its line. Raises UsageError without the text, which may have
    secrets."""
    _opened(replace(parse_target(text), has_page=has_page))


def _opened(target: OutputTarget) -> Output:
    """Raises UsageError."""
    kinds = members(GROUP, OutputKind, OUTPUTS)
    if (kind := kinds.get(target.kind)) is None:
        meant = nearest(target.kind, kinds)
        guess = f"; did you mean {meant}?" if meant else ""
        raise UsageError(f"there is no such output{guess}; there are {', '.join(sorted(kinds))}")
    if unknown := sorted(target.settings.keys() - set(kind.settings)):
        known = f"it has {', '.join(kind.settings)}" if kind.settings else "it has none"
        raise UsageError(f"no setting {unknown[0]}; {known}")
    return kind.open(target)


def parse_target(text: str) -> OutputTarget:
    """The parts of NAME[=URL][,key=value]."""
    head, *settings = _SETTING.split(text.strip())
    name, _, url = head.partition("=")
    pairs: dict[str, str] = {}
    for setting in settings:
        key, _, value = setting.partition("=")
        # The only setting that may be repeated: each has a line.
        pairs[key] = f"{pairs[key]}\n{value}" if key == "header" and key in pairs else value
    return OutputTarget(name, url, pairs)


# Each function imports what its output needs: most runs have none of them.


def _json_lines(target: OutputTarget) -> Output:
    from plimsoll.outputs.json_lines import JsonLines

    return JsonLines(target)


def _prometheus(target: OutputTarget) -> Output:
    from plimsoll.outputs.exposition import ScrapedMetrics
    from plimsoll.outputs.remote_write.output import RemoteWrite

    return RemoteWrite(target) if target.url else ScrapedMetrics(target)


def _influxdb(target: OutputTarget) -> Output:
    from plimsoll.outputs.line_protocol import InfluxLines

    return InfluxLines(target)


def _webhook(target: OutputTarget) -> Output:
    from plimsoll.outputs.webhook import Webhook

    return Webhook(target)


def _statsd(target: OutputTarget) -> Output:
    from plimsoll.outputs.statsd import StatsdLines

    return StatsdLines(target)


def _otlp(target: OutputTarget) -> Output:
    try:
        from plimsoll.outputs.otlp.output import OtlpOutput
    except ImportError as error:
        raise UsageError(f"install opentelemetry-proto: {pip_install('otlp')}") from error
    return OtlpOutput(target)


OUTPUTS = {
    "jsonl": OutputKind(
        "jsonl=run.jsonl", "a JSON object a line, one line a second, to a file, to stdout (-) or to a URL", _json_lines,
        ("header",),
    ),
    "prometheus": OutputKind(
        "prometheus=http://host:9090", "remote write to a Prometheus server or to what takes the same; without a URL "
        "the page's server has /metrics to be scraped", _prometheus,
        ("interval", "histograms", "version", "auth", "region", "header"),
    ),
    "influxdb": OutputKind(
        "influxdb=http://host:8086,db=load", "line protocol to InfluxDB of any version, to a file, or by UDP",
        _influxdb, ("db", "bucket", "org", "version", "token", "header"),
    ),
    "otlp": OutputKind(
        "otlp=http://host:4318", "metrics, events as logs and slow requests as spans by OpenTelemetry's protocol; "
        "without a URL: to that of OTEL_EXPORTER_OTLP_ENDPOINT", _otlp, ("interval", "protocol", "signals", "header"),
    ),
    "statsd": OutputKind(
        "statsd=host:8125", "counters and gauges by UDP", _statsd, ("prefix", "tags"),
    ),
    WEBHOOK: OutputKind(
        "webhook=http://host/path", "the verdict, once the run is over; the same as --notify", _webhook,
        ("template", "header"),
    ),
}  # fmt: skip
"""All kinds of outputs by name."""
