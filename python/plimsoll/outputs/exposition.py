"""Metrics as text: the format that Prometheus scrapes, version 0.0.4."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.errors import UsageError
from plimsoll.outputs.metrics import RunMetrics
from plimsoll.outputs.output import Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.outputs.kinds import OutputTarget
    from plimsoll.outputs.metrics import Labels, MetricSample, OutputMetric
    from plimsoll.outputs.output import OutputEvent, OutputRun, OutputSecond

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class ScrapedMetrics(Output):
    """What the page's server shows at /metrics. It stays there after the run, until the next one begins."""

    current: RunMetrics | None = None
    """Those of the last run of this process that has this output."""

    def __init__(self, target: OutputTarget) -> None:
        """Raises UsageError without a page."""
        if not target.has_page:
            raise UsageError(
                "this run has no page whose /metrics Prometheus could scrape; send them: prometheus=http://host:9090"
            )

    def open(self, run: OutputRun) -> None:
        ScrapedMetrics.current = self._metrics = RunMetrics(run)

    def second(self, second: OutputSecond) -> None:
        self._metrics.add(second)

    def event(self, event: OutputEvent) -> None:
        self._metrics.add_event(event)


def shown() -> str | None:
    """What /metrics answers; None while no run of this process has this output."""
    return None if ScrapedMetrics.current is None else exposition(ScrapedMetrics.current.families())


def exposition(families: Iterable[tuple[OutputMetric, Sequence[MetricSample]]]) -> str:
    lines: list[str] = []
    for metric, samples in families:
        lines += (f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.type}")
        lines += (
            f"{metric.name}{sample.suffix}{{{_labels(sample.labels)}}} {_number(sample.value)}" for sample in samples
        )
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Labels) -> str:
    return ",".join(f'{name}="{value.translate(_ESCAPED)}"' for name, value in labels)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else repr(value)
