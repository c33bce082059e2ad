"""A run as JSON. Its fields are those of `run_fields`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from plimsoll.record import FAILURES
from plimsoll.record.facts import RunFacts
from plimsoll.report.text import dumps
from plimsoll.stats.generator import by_machine
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.summary import EndpointSummary, summarise, summarise_total
from plimsoll.stats.validity import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll._engine import Histogram
    from plimsoll.record import CaughtException, Failure
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.render import run_fields as fields
    from plimsoll.report.sources import Described, Labelled, OutputRequest, RunSource
    from plimsoll.stats.generator import GeneratorView, MachineFigures
    from plimsoll.stats.latency.milliseconds import Milliseconds
    from plimsoll.stats.latency.omission import Omission
    from plimsoll.stats.view import EndpointView, RunView

SCHEMA: Final = "plimsoll.run"
RUNS_SCHEMA = "plimsoll.runs"
VERSION: Final = 3

PERCENTILES = ("50", "60", "70", "75", "80", "90", "95", "99", "99.9", "99.99", "100")


def run_json(source: RunSource, request: OutputRequest) -> str:
    return dumps(document(source.view, source.run, source.assessment), indent=2) + "\n"


def document(view: RunView, run: Described | None, assessment: Assessment) -> fields.RunFields:
    """Everything that is known of a run. run: None for one that was not kept."""
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "run": _description(run) if run else None,
        "validity": _validity(assessment),
        "thresholds": [each.to_dict() for each in assessment.thresholds],
        "omission": _omission(assessment.omission) if assessment.omission else None,
        "warmup_s": view.warmup,
        "times_of": view.times_of,
        "duration_s": view.duration,
        "total": _endpoint(summarise_total(view), view.total),
        "endpoints": [_endpoint(row, each) for row, each in zip(summarise(view), view.endpoints, strict=True)],
        "failures": [_failure(each) for each in view.failures],
        "exceptions": [_exception(each) for each in view.exceptions],
        "generator": _generator(view.generator),
        "machines": [
            _machine(each) for each in by_machine(view.generator, run.facts if run else RunFacts(), view.duration)
        ],
    }


def runs_document(runs: Sequence[tuple[Labelled, RunView]]) -> dict[str, Any]:
    """A list of runs, each with its totals."""
    return {
        "schema": RUNS_SCHEMA,
        "version": VERSION,
        "runs": [
            {
                **_description(run),
                "tags": list(run.tags),
                "note": run.note,
                "valid": judge(view, run.manifest, run.facts, run.status).valid,
                "duration_s": view.duration,
                "total": _row(summarise_total(view)),
            }
            for run, view in runs
        ],
    }


def _description(run: Described) -> fields.DescriptionFields:
    return {
        "id": run.id,
        "status": run.status,
        "started": run.started,
        "ended": run.ended,
        "experiment": run.experiment,
        "manifest": run.manifest.to_json(),
        "notes": run.notes,
        "facts": run.facts.to_json(),
    }


def _validity(assessment: Assessment) -> fields.ValidityFields:
    validity = assessment.validity
    return {
        "valid": validity.valid,
        "clean": not assessment.unclean,
        "unclean": list(assessment.unclean),
        "checks": [
            {
                "name": check.name,
                "state": check.state,
                "value": check.value,
                "limit": check.limit,
                "text": check.text,
            }
            for check in validity.checks
        ],
    }


def _omission(omission: Omission) -> fields.OmissionFields:
    return {
        "warning": omission.warning,
        "rate": omission.rate,
        "interval_s": omission.interval,
        "recorded_ms": _by_percent(omission.recorded),
        "modelled_ms": _by_percent(omission.modelled),
        "stalls": omission.stalls,
        "missed": omission.missed,
    }


def _by_percent(values: dict[float, float]) -> dict[str, float]:
    return {f"{100 * quantile:g}": value for quantile, value in values.items()}


def _endpoint(row: EndpointSummary, view: EndpointView) -> fields.EndpointFields:
    return {
        **_row(row),
        "completed": view.completed,
        "unanswered": view.unanswered,
        "overdue": view.overdue,
        "dropped": view.dropped,
        "bytes_out": row.counts.bytes_out,
        "bytes_in": row.counts.bytes_in,
        "bytes_body": row.counts.bytes_body,
        "hops": row.counts.hops,
        "connected": row.counts.connected,
        "connect_sum": row.counts.connect_sum,
        "service_ms": _latency(row.service),
        "outcomes": {
            each.outcome: {
                "count": each.count,
                "failure": each.outcome in FAILURES,
                "time_ms": _latency(Latency.of_response([each])),
            }
            for each in sorted(view.outcomes.values(), key=lambda each: each.outcome)
        },
        "per_second": {
            "requests": view.requests_by_second.tolist(),
            "failures": view.failures_by_second.tolist(),
        },
    }


def _row(row: EndpointSummary) -> fields.RowFields:
    return {
        "method": row.method,
        "name": row.name,
        "requests": row.requests,
        "failures": row.failures,
        "rps": row.rps,
        "failures_per_s": row.failures_per_s,
        "average_size": row.average_size,
        "retries": row.retries,
        "response_ms": _latency(row.response),
    }


def _latency(latency: Latency) -> fields.TimesFields:
    quantiles = {percent: latency.quantile(float(percent) / 100) for percent in PERCENTILES}
    return {
        "count": latency.count,
        "censored": latency.censored,
        "waited": latency.waited,
        "overflow": latency.overflow,
        "mean": _value(latency.mean),
        "min": _value(latency.min),
        "max": _value(latency.max),
        "percentiles": {percent: _value(each) for percent, each in quantiles.items()},
        "at_least": [
            name for name, each in {"mean": latency.mean, **quantiles}.items() if each is not None and each.at_least
        ],
        "share": {
            "mean": _share(latency.mean),
            "max": _share(latency.max),
            "percentiles": {percent: _share(each) for percent, each in quantiles.items()},
            "unclean": [percent for percent, each in quantiles.items() if each and not each.is_clean],
        },
    }


def _failure(failure: Failure) -> fields.FailureFields:
    return {
        "method": failure.method,
        "name": failure.name,
        "outcome": failure.outcome,
        "message": failure.text,
        "example": failure.example if failure.is_varied else None,
        "count": failure.count,
        "first": failure.first,
        "last": failure.last,
    }


def _exception(exception: CaughtException) -> fields.ExceptionFields:
    return {
        "message": exception.message,
        "traceback": exception.traceback,
        "count": exception.count,
        "workers": sorted(exception.workers),
    }


def _machine(figures: MachineFigures) -> fields.MachineFields:
    return {
        "machine": figures.machine,
        "workers": figures.workers,
        "requests": figures.requests,
        "failures": figures.failures,
        "share": figures.share,
        "rps": figures.rps,
        "p50_ms": figures.p50,
        "p99_ms": figures.p99,
        "cpu": figures.cpu,
        "lag_p99_ms": figures.lag_p99,
    }


def _generator(generator: GeneratorView) -> fields.GeneratorFields:
    return {
        "workers": generator.workers,
        "lag_ms": _durations(generator.lag),
        "delay_ms": _durations(generator.delay),
        "cpu_max": generator.cpu_max,
        "user_stamps": generator.user_stamps,
        "rejected_stamps": generator.rejected_stamps,
        "offered": generator.offered,
        "dropped": generator.dropped,
        "exhausted": generator.exhausted,
        "sent": generator.begun,
        "users_by_second": _by_second(generator.users_by_second()),
        "silence_ms_by_second": _by_second(generator.silence_by_second()),
        "in_flight_by_second": _by_second(generator.in_flight_by_second()),
        "waiting_by_second": _by_second(generator.waiting_by_second()),
        "offered_by_second": _by_second(generator.offered_by_second()),
    }


def _by_second(values: dict[int, int]) -> dict[str, int]:
    return {str(second): value for second, value in values.items()}


def _durations(histogram: Histogram) -> fields.LatenessFields:
    if not histogram.count:
        return {"count": 0, "mean": None, "percentiles": dict.fromkeys(PERCENTILES)}
    values: fields.ByPercent = {percent: histogram.value_at(float(percent) / 100) / 1000 for percent in PERCENTILES}
    return {"count": histogram.count, "mean": histogram.mean / 1000, "percentiles": values}


def _share(duration: Milliseconds | None) -> float | None:
    return None if duration is None else duration.share


def _value(duration: Milliseconds | None) -> float | None:
    return None if duration is None else duration.value
