"""Metrics in the formats that Prometheus scrapes: OpenMetrics 1.0 if it is asked for, else version 0.0.4, both as text;
with native histograms also protobuf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from plimsoll.errors import UsageError
from plimsoll.outputs.metrics import RunMetrics, has_native
from plimsoll.outputs.output import Output
from plimsoll.outputs.protobuf_exposition import PARAMETERS, PROTOBUF, protobuf_exposition

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.metric_histogram import Labels, MetricSample
    from plimsoll.outputs.metrics import OutputMetric
    from plimsoll.outputs.output import OutputEvent, OutputRun, OutputSecond

PLAIN = "text/plain; version=0.0.4; charset=utf-8"
OPEN_METRICS = "application/openmetrics-text"
"""Has the traces of slow requests as exemplars."""
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class ScrapedMetrics(Output):
    """What the page's server shows at /metrics. It stays there after the run, until the next one begins."""

    current: RunMetrics | None = None
    """Those of the last run of this process that has this output."""

    def __init__(self, target: OutputTarget) -> None:
        """Setting: `histograms`. Raises UsageError, also without a page."""
        if not target.has_page:
            raise UsageError(
                "this run has no page whose /metrics Prometheus could scrape; send them: prometheus=http://host:9090"
            )
        if others := sorted(target.settings.keys() - {"histograms"}):
            raise UsageError(f"{others[0]} goes with a URL: prometheus=http://host:9090")
        self._has_native = has_native(target.settings)

    def open(self, run: OutputRun) -> None:
        ScrapedMetrics.current = self._metrics = RunMetrics(run, has_native=self._has_native)

    def second(self, second: OutputSecond) -> None:
        self._metrics.add(second)

    def event(self, event: OutputEvent) -> None:
        self._metrics.add_event(event)


def shown(accepted: str) -> tuple[bytes, str] | None:
    """What /metrics answers, and its content type; None while no run of this process has this output. accepted: the
    header Accept."""
    if (metrics := ScrapedMetrics.current) is None:
        return None
    match format_of(accepted, has_native=metrics.has_native):
        case "protobuf":
            kind = f"{PROTOBUF}; proto=io.prometheus.client.MetricFamily; encoding=delimited"
            return protobuf_exposition(*metrics.both_families()), kind
        case "openmetrics":
            return open_metrics(metrics.families()).encode(), f"{OPEN_METRICS}; version=1.0.0; charset=utf-8"
        case "plain":
            return exposition(metrics.families()).encode(), PLAIN


def format_of(accepted: str, *, has_native: bool) -> Literal["protobuf", "openmetrics", "plain"]:
    """The format that is accepted rather than the others; protobuf only with native histograms, which the others
    cannot have. accepted: the header Accept."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        kind, *parameters = (text.strip() for text in part.split(";"))
        weight = next((text[2:] for text in parameters if text.startswith("q=")), "1")
        is_other_version = any(text.startswith("version=") and text != "version=1.0.0" for text in parameters)
        if kind == PROTOBUF and not set(PARAMETERS) <= set(parameters):
            continue
        if kind != OPEN_METRICS or not is_other_version:
            weights[kind] = max(weights.get(kind, 0.0), _weight(weight))
    protobuf, text = (weights.get(kind, 0.0) for kind in (PROTOBUF, OPEN_METRICS))
    plain = weights.get("text/plain", 0.0)
    if has_native and protobuf > 0 and protobuf >= max(text, plain):
        return "protobuf"
    return "openmetrics" if text > plain else "plain"


def _weight(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0


def exposition(families: Iterable[tuple[OutputMetric, Sequence[MetricSample]]]) -> str:
    """The format of version 0.0.4."""
    lines: list[str] = []
    for metric, samples in families:
        lines += (f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.type}")
        lines += (
            f"{metric.name}{sample.suffix}{{{_labels(sample.labels)}}} {_number(sample.value)}" for sample in samples
        )
    return "".join(f"{line}\n" for line in lines)


def open_metrics(families: Iterable[tuple[OutputMetric, Sequence[MetricSample]]]) -> str:
    """OpenMetrics 1.0. The family of a counter has its name without _total."""
    lines: list[str] = []
    for metric, samples in families:
        family = metric.name.removesuffix("_total")
        lines += (f"# TYPE {family} {metric.type}", f"# HELP {family} {metric.help}")
        lines += (
            f"{metric.name}{sample.suffix}{{{_labels(sample.labels)}}} {_number(sample.value)}{_exemplar(sample)}"
            for sample in samples
        )
    return "".join(f"{line}\n" for line in (*lines, "# EOF"))


def _exemplar(sample: MetricSample) -> str:
    if (exemplar := sample.exemplar) is None:
        return ""
    return f' # {{trace_id="{exemplar.trace}"}} {exemplar.value_s!r} {exemplar.time:.3f}'


def _labels(labels: Labels) -> str:
    return ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in labels)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else repr(value)
