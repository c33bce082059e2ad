"""Studies in few words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plimsoll.say.findings import said
from plimsoll.stats.findings.finding import Finding
from plimsoll.stats.machine import MACHINE
from plimsoll.stats.study import PLIMSOLL, Course, Level, Measured, Series, Study, Trial

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from plimsoll.stats.findings import Rule


def level(value: float, unit: Any = "users") -> Level:
    return Level(unit, float(value))


def row(name: str = "GET /", **known: Any) -> Measured:
    """quantiles as p50=…, p99=…"""
    method, _, path = name.partition(" ")
    quantiles = {float(key[1:]) / 100: value for key, value in known.items() if key[0] == "p" and key[1:].isdigit()}
    rest = {key: value for key, value in known.items() if not (key[0] == "p" and key[1:].isdigit())}
    return Measured(method, path, quantiles=quantiles, **rest)


def run(users: float | None = None, *rows: Measured, variant: str = "a", **known: Any) -> Trial:
    """users: its level too, unless a level is given."""
    at = known.pop("level", level(users) if users is not None else None)
    name = known.pop("id", f"{variant}@{at}#{known.get('repeat', 0)}{known.get('operation', '')}")
    return Trial(id=name, variant=variant, level=at, users=users, endpoints=rows, **{"precision": PLIMSOLL, **known})


def study(*trials: Trial, **known: Any) -> Study:
    return Study("test", trials, **known)


def ladder(loads: Sequence[float], rates: Sequence[float], **known: Any) -> list[Trial]:
    """Runs of one variant with nothing but a rate."""
    return [
        run(users, total=Measured("", "Aggregated", rate=rate), **known)
        for users, rate in zip(loads, rates, strict=True)
    ]


def on_full_machine(trial: Trial, target_cores: float = 0.05) -> Trial:
    """The run on a machine whose 2 cores are busy."""
    seconds = np.arange(30.0)
    uses = {"app": target_cores, MACHINE: 2.0}
    observed = tuple(Series(source, "cpu", "cores", seconds, np.full(30, value)) for source, value in uses.items())
    return replace(trial, observed=observed, cores={"app": 2.0, MACHINE: 2.0})


def found(rule: Rule, of: Study, name: str | None = None) -> list[Finding]:
    findings = list(rule(of))
    for each in findings:
        assert said(each).statement.endswith(".") and not said(each).statement.endswith(".."), said(each).statement
        assert "rung" not in said(each).statement + said(each).rule + said(each).advice
        assert said(each).rule
    return [each for each in findings if name in (None, each.id)]


def course(
    means: Iterable[float] = (),
    *,
    maxima: Iterable[float] = (),
    sizes: Iterable[float] = (),
    requests: Iterable[int] = (),
    failures: Iterable[int] = (),
    warmup: int = 0,
) -> Course:
    """Second by second; what is not given is NaN, and one request without a failure."""
    given = [np.asarray(list(values), dtype=float) for values in (means, maxima, sizes)]
    seconds = max(len(values) for values in given)
    filled = [values if len(values) else np.full(seconds, np.nan) for values in given]
    counts = np.array(list(requests) or [1] * seconds, dtype=np.int64)
    failed = np.array(list(failures) or [0] * seconds, dtype=np.int64)
    return Course(counts, failed, filled[0], filled[1], filled[2], (None,) * seconds, slice(warmup, None))
