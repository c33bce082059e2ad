"""An analysis as plain values: the JSON document "plimsoll.analysis", of which analysis.schema.json is the schema.

The fields and their units are in docs/formats.md; what is there stays until `VERSION` changes. What is not known is
null, and so is what is no finite number.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from importlib import resources
from typing import TYPE_CHECKING, Any

from plimsoll.report.document.footnotes import general
from plimsoll.report.gate import is_invalid, is_regression, regressions
from plimsoll.report.render.capacity_json import document as capacity_document
from plimsoll.report.text import dumps
from plimsoll.say.answer import answer_of
from plimsoll.say.answer.shape import changes_of, collected, shape_of
from plimsoll.say.comparisons import direction, verdict
from plimsoll.say.findings import evidence_of, said
from plimsoll.say.remarks import reason_text, remark_text, run_notes, warnings
from plimsoll.stats.cells import cells_of
from plimsoll.stats.metric import Metric
from plimsoll.stats.study import WORK_KINDS
from plimsoll.stats.target_side import observed_of, work_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plimsoll.report.sources import OutputRequest, StudySource
    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.cells import CellSummary, EndpointCell
    from plimsoll.stats.compare.comparison import Comparison, RunsNeeded
    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.study import GeneratorHealth, Level, Measured, Study, TargetWork, Trial

SCHEMA = "plimsoll.analysis"
VERSION = 1

PERCENTILES = ("50", "60", "70", "75", "80", "90", "95", "99", "99.9", "99.99")


def schema() -> dict[str, Any]:
    """The JSON Schema of `document`."""
    text = resources.files(__package__ or "").joinpath("analysis.schema.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def analysis_json(source: StudySource, request: OutputRequest) -> str:
    study = source.analysis.study
    if study.search is not None:
        return dumps(capacity_document(study, study.search), indent=2, allow_nan=False) + "\n"
    return dumps(document(source.analysis, request.command), indent=2, allow_nan=False) + "\n"


def document(analysis: Analysis, command: str = "") -> dict[str, Any]:
    """command: what made this very report."""
    study = analysis.study
    found: dict[str, Any] = _finite(
        {
            "schema": SCHEMA,
            "version": VERSION,
            "study": _study(analysis),
            "answer": list(answer_of(analysis)),
            "regressions": len(regressions(analysis)),
            "invalid": is_invalid(analysis),
            "findings": [_finding(finding) for finding in analysis.findings],
            "comparisons": [_comparison(comparison) for comparison in analysis.comparisons],
            "cells": [_cell(cell, _percents(study)) for cell in cells_of(study)],
            "trials": [_trial(trial, _percents(study)) for trial in study.trials],
            "notes": general(analysis, command),
        }
    )
    return found


def _finite(value: Any) -> Any:
    """What JSON can hold: infinity and NaN are null, a numpy number is a number."""
    if isinstance(value, dict):
        return {str(key): _finite(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    if hasattr(value, "item"):
        return _finite(value.item())
    return float(value) if math.isfinite(value) else None


def _percents(study: Study) -> tuple[str, ...]:
    """The usual ones, and those that the study compares."""
    asked = [metric.quantile for metric in (*study.metrics, *study.primary) if metric.quantile is not None]
    return tuple(sorted({*PERCENTILES, *(f"{100 * q:.10g}" for q in asked)}, key=float))


def _study(analysis: Analysis) -> dict[str, Any]:
    study = analysis.study
    return {
        "name": study.name,
        "question": study.question,
        "shape": shape_of(study),
        "source": study.source,
        "command": study.command,
        "variants": [_variant(study, name) for name in study.variants],
        "levels": [_level(level) for level in study.levels if level is not None],
        "operations": [operation for operation in study.operations if operation],
        "against": list(study.against),
        "metrics": [_metric(metric) for metric in study.metrics],
        "primary": [_metric(metric) for metric in study.primary],
        "delta": study.delta,
        "tolerance": study.tolerance,
        "interleaved": study.interleaved,
        "gap_s": study.gap,
        "looks": study.looks,
        "is_aa": study.is_aa,
        "about": dict(study.about),
        "warnings": list(warnings(analysis)),
        "skipped": [{"place": skipped.place, "text": skipped.text, "why": skipped.why} for skipped in study.skipped],
        "noise": [
            {
                "metric": noise.metric,
                **_endpoint(noise.endpoint),
                "level": _level(noise.level),
                "variance": noise.variance,
                "freedom": noise.freedom,
                "rejected": noise.rejected,
                "compared": noise.compared,
            }
            for noise in study.noise
        ],
    }


def _variant(study: Study, name: str) -> dict[str, Any]:
    trials = [trial for trial in study.trials if trial.variant == name]
    return {
        "name": name,
        "changes": changes_of(study).get(name, ""),
        "collected": dict(collected(study, name)),
        "work": [_work(work) for kind in WORK_KINDS for work in work_of(trials, kind)],
    }


def _work(work: TargetWork) -> dict[str, Any]:
    return {
        "kind": work.kind,
        "source": work.source,
        "name": work.name,
        "view": work.view,
        "calls": work.calls,
        "failed": work.failed,
        "total_ms": work.ms,
        "p50_ms": work.p50,
        "p95_ms": work.p95,
        "max_ms": work.max,
        "rows": work.rows,
    }


def _level(level: Level | None) -> dict[str, Any] | None:
    return None if level is None else {"unit": level.unit, "value": level.value}


def _endpoint(key: tuple[str, str]) -> dict[str, str]:
    """All together is ("", "Aggregated"), as in the document of a run."""
    method, name = key
    return {"method": method, "name": name or ("" if method else "Aggregated")}


def _metric(metric: Metric) -> dict[str, Any]:
    return {
        "text": metric.text,
        "kind": metric.kind,
        "quantile": metric.quantile,
        "endpoint": metric.endpoint,
        "delta": metric.delta,
        "unit": metric.unit,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    where, text = finding.where, said(finding)
    return {
        "id": finding.id,
        "weight": finding.weight,
        "statement": text.statement,
        "rule": text.rule,
        "evidence": evidence_of(finding),
        "advice": text.advice,
        "where": {
            "variant": where.variant,
            "against": where.against,
            "level": _level(where.level),
            "operation": where.operation,
            "endpoint": None if where.endpoint is None else _endpoint(where.endpoint),
            "trial": where.trial,
            "kinds": list(where.kinds),
        },
    }


def _comparison(comparison: Comparison) -> dict[str, Any]:
    return {
        "a": comparison.a,
        "b": comparison.b,
        "against": comparison.against,
        "operation": comparison.operation,
        "level": _level(comparison.level),
        **_endpoint(comparison.endpoint),
        "metric": _metric(comparison.metric),
        "primary": comparison.primary,
        "word": comparison.word,
        "verdict": verdict(comparison),
        "at_least": comparison.at_least,
        "better": comparison.better,
        "direction": direction(comparison),
        "reason": reason_text(comparison),
        "a_value": comparison.a_value,
        "b_value": comparison.b_value,
        "ratio": comparison.ratio,
        "low": comparison.low,
        "high": comparison.high,
        "difference": comparison.difference,
        "difference_low": comparison.difference_low,
        "difference_high": comparison.difference_high,
        "within_run": comparison.within_run,
        "pairs": comparison.pairs,
        "earlier": comparison.earlier,
        "interleaved": comparison.interleaved,
        "spread": comparison.spread,
        "p": comparison.p,
        "p_flip": comparison.p_flip,
        "q": comparison.q,
        "regression": is_regression(comparison),
        "resolves": comparison.resolves,
        "needed": _needed(comparison.needed),
        "requests": comparison.requests,
        "tail": comparison.tail,
        "design_effect": comparison.effect,
        "tool_step": comparison.step,
        "warmup_s": comparison.warmup,
        "checks": {"passed": comparison.checks[0], "of": comparison.checks[1]},
        "remarks": [remark_text(remark) for remark in comparison.remarks],
    }


def _needed(needed: RunsNeeded | None) -> dict[str, Any] | None:
    if needed is None:
        return None
    return {
        "pairs": needed.pairs,
        "minutes": needed.minutes,
        "powered_pairs": needed.powered,
        "longer_runs": needed.longer,
    }


def _cell(cell: CellSummary, percents: tuple[str, ...]) -> dict[str, Any]:
    return {
        "variant": cell.variant,
        "operation": cell.operation,
        "level": _level(cell.level),
        "trials": [trial.id for trial in cell.trials],
        "valid": len(cell.valid),
        "invalid": list(cell.reasons),
        "offered_per_s": cell.offered,
        "achieved": cell.achieved,
        "total": None if cell.total is None else _row(cell.total, percents),
        "endpoints": [_row(row, percents) for row in cell.endpoints],
        "observed": [asdict(series) for series in observed_of(cell.trials)],
    }


def _row(row: EndpointCell, percents: tuple[str, ...]) -> dict[str, Any]:
    return {
        **_endpoint(row.key),
        "requests": row.requests,
        "failures": row.failures,
        "unanswered": row.unanswered,
        "rps": row.rate,
        "successes_per_s": row.value(Metric("throughput")),
        "failures_per_s": row.failures_per_s,
        "average_size": row.size,
        "mean_ms": row.mean,
        "min_ms": row.min,
        "max_ms": row.max,
        "censored": row.censored,
        "percentiles_ms": {percent: row.quantile(float(percent) / 100) for percent in percents},
    }


def _trial(trial: Trial, percents: tuple[str, ...]) -> dict[str, Any]:
    return {
        "id": trial.id,
        "variant": trial.variant,
        "operation": trial.operation,
        "level": _level(trial.level),
        "repeat": trial.repeat,
        "order": trial.order,
        "model": trial.model,
        "users": trial.users,
        "offered_per_s": trial.offered,
        "think_s": trial.think,
        "duration_s": trial.duration,
        "ramp_s": trial.ramp,
        "warmup_s": trial.warmup,
        "invalid": list(trial.invalid),
        "crashed": trial.crashed,
        "notes": list(run_notes(trial)),
        "facts": dict(trial.facts),
        "scenario": trial.scenario,
        "precision": {
            "tool": trial.precision.tool,
            "digits": trial.precision.digits,
            "floor_ms": trial.precision.floor,
            "clock": trial.precision.clock,
            "times_of": trial.precision.times_of,
            "mergeable": trial.precision.mergeable,
        },
        "generator": _generator(trial.generator),
        "total": None if trial.total is None else _measured(trial.total, percents),
        "endpoints": [_measured(measured, percents) for measured in trial.endpoints],
        "slowest": [slow._asdict() for slow in trial.slowest],
    }


def _generator(generator: GeneratorHealth | None) -> dict[str, Any] | None:
    if generator is None:
        return None
    return {
        "lag_p99_ms": generator.lag_p99,
        "delay_p99_ms": generator.delay_p99,
        "cpu_max": generator.cpu_max,
        "achieved": generator.achieved,
        "dropped": generator.dropped,
        "in_flight": generator.in_flight,
        "open_files": generator.open_files,
    }


def _measured(measured: Measured, percents: tuple[str, ...]) -> dict[str, Any]:
    return {
        **_endpoint(measured.key),
        "requests": measured.requests,
        "failures": measured.failures,
        "unanswered": measured.unanswered,
        "rps": measured.rate,
        "successes_per_s": measured.successes_per_s,
        "average_size": measured.size,
        "timed": measured.timed,
        "mean_ms": measured.mean,
        "mean_success_ms": measured.mean_success,
        "mean_failure_ms": measured.mean_failure,
        "min_ms": measured.min,
        "max_ms": measured.max,
        "censored": measured.censored,
        "percentiles_ms": _quantiles(measured, percents),
        "share_ms": {percent: Metric("quantile", float(percent) / 100).share_of(measured) for percent in percents},
        "outcomes": dict(measured.outcomes),
        "kinds": [
            {"outcome": kind.outcome, "message": kind.message, "count": kind.count, "status": kind.status}
            for kind in measured.kinds
        ],
    }


def _quantiles(measured: Measured, percents: tuple[str, ...]) -> Mapping[str, float | None]:
    return {percent: measured.quantile(float(percent) / 100) for percent in percents}
