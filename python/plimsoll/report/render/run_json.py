"""A run as JSON. Its fields are those of `run_fields`."""

from __future__ import annotations

from array import array
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar

from plimsoll.record.facts import RunFacts
from plimsoll.report.render.run_fields import (
    CheckFields,
    DescriptionFields,
    ExceptionFields,
    FailureFields,
    GeneratorFields,
    LatenessFields,
    OmissionFields,
    RunFields,
    ValidityFields,
)
from plimsoll.report.text import dumps
from plimsoll.say.validity import check_text, omission_lines, unclean_text
from plimsoll.stats.generator import by_machine
from plimsoll.stats.latency.milliseconds import Latency
from plimsoll.stats.table import PERCENTILES, Times, rows_of, total_of
from plimsoll.stats.validity import judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll._engine import Histogram
    from plimsoll.report.assessment import Assessment
    from plimsoll.report.sources import Described, Labelled, OutputRequest, RunSource
    from plimsoll.stats.generator import GeneratorView
    from plimsoll.stats.latency.omission import Omission
    from plimsoll.stats.view import RunView

SCHEMA: Final = "plimsoll.run"
RUNS_SCHEMA = "plimsoll.runs"
VERSION: Final = 3
_IN_LISTS = (
    "method", "name", "requests", "failures", "rps", "failures_per_s", "average_size", "retries", "response_ms",
)  # fmt: skip
"""What a list of runs has of the total of each."""

T = TypeVar("T")


def run_json(source: RunSource, request: OutputRequest) -> str:
    return dumps(document(source.view, source.run, source.assessment), indent=2) + "\n"


def document(view: RunView, run: Described | None, assessment: Assessment) -> dict[str, Any]:
    """Everything that is known of a run, as `RunFields` describes it. run: None for one that was not kept."""
    validity = assessment.validity
    checks = [_made(CheckFields, check, text=check_text(check)) for check in validity.checks]
    unclean = [unclean_text(figure) for figure in assessment.unclean]
    result: dict[str, Any] = plain(
        RunFields(
            schema=SCHEMA,
            version=VERSION,
            run=_description(run) if run else None,
            validity=_made(ValidityFields, validity, clean=not unclean, unclean=unclean, checks=checks),
            thresholds=list(assessment.thresholds),
            omission=_omission(assessment.omission) if assessment.omission else None,
            warmup_s=view.warmup,
            times_of=view.times_of,
            duration_s=view.duration,
            total=total_of(view),
            endpoints=rows_of(view),
            failures=[
                _made(
                    FailureFields, failure, message=failure.text, example=failure.example if failure.is_varied else None
                )
                for failure in view.failures
            ],
            exceptions=[
                _made(ExceptionFields, exception, workers=sorted(exception.workers)) for exception in view.exceptions
            ],
            generator=_generator(view.generator),
            machines=by_machine(view.generator, run.facts if run else RunFacts(), view.duration),
        )
    )
    return result


def runs_document(runs: Sequence[tuple[Labelled, RunView]]) -> dict[str, Any]:
    """A list of runs, each with its totals."""
    return {
        "schema": RUNS_SCHEMA,
        "version": VERSION,
        "runs": [
            {
                **plain(_description(run)),
                "tags": list(run.tags),
                "note": run.note,
                "valid": judge(view, run.manifest, run.facts, run.status).valid,
                "duration_s": view.duration,
                "total": {name: plain(getattr(total, name)) for name in _IN_LISTS},
            }
            for run, view in runs
            for total in (total_of(view),)
        ],
    }


def plain(value: Any) -> Any:
    """A value of a document as JSON has it."""
    if isinstance(value, Latency):
        value = Times.of(value)
    if is_dataclass(value):
        return {field_.name: plain(getattr(value, field_.name)) for field_ in fields(value)}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, array):
        return value.tolist()
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def _made(kind: type[T], source: object, **others: Any) -> T:
    """The attributes of the source that this kind has as fields, and the others."""
    names = (field_.name for field_ in fields(kind) if field_.name not in others)  # type: ignore[arg-type]
    return kind(**{name: getattr(source, name) for name in names}, **others)


def _description(run: Described) -> DescriptionFields:
    return _made(DescriptionFields, run, manifest=run.manifest.to_json(), facts=run.facts.to_json())


def _omission(omission: Omission) -> OmissionFields:
    recorded, modelled = (
        {f"{100 * quantile:g}": value for quantile, value in values.items()}
        for values in (omission.recorded, omission.modelled)
    )
    return _made(
        OmissionFields,
        omission,
        warning="\n".join(omission_lines(omission)) if omission.is_significant else None,
        interval_s=omission.interval,
        recorded_ms=recorded,
        modelled_ms=modelled,
    )


def _generator(generator: GeneratorView) -> GeneratorFields:
    by_second = {
        "users_by_second": generator.users_by_second(),
        "silence_ms_by_second": generator.silence_by_second(),
        "in_flight_by_second": generator.in_flight_by_second(),
        "waiting_by_second": generator.waiting_by_second(),
        "offered_by_second": generator.offered_by_second(),
    }
    texts = {name: {str(second): value for second, value in values.items()} for name, values in by_second.items()}
    lag, delay = _lateness(generator.lag), _lateness(generator.delay)
    return _made(GeneratorFields, generator, lag_ms=lag, delay_ms=delay, sent=generator.begun, **texts)


def _lateness(histogram: Histogram) -> LatenessFields:
    if not histogram.count:
        return LatenessFields(0, None, dict.fromkeys(PERCENTILES))
    values: dict[str, float | None] = {
        percent: histogram.value_at(float(percent) / 100) / 1000 for percent in PERCENTILES
    }
    return LatenessFields(histogram.count, histogram.mean / 1000, values)
