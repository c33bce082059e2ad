"""Findings about a study besides comparisons. A new rule is a file with a function, and a line in `RULES`, or
in `STREAM_RULES`. Another package adds a `FindingRule` with an entry point."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from plimsoll.doors import added
from plimsoll.errors import UsageError
from plimsoll.record import STREAM_ROWS
from plimsoll.stats.findings.bimodal import bimodal
from plimsoll.stats.findings.caps import caps, full_link
from plimsoll.stats.findings.connections import connections
from plimsoll.stats.findings.durations import durations, floor
from plimsoll.stats.findings.elasticity import steep
from plimsoll.stats.findings.errors import claims, errors
from plimsoll.stats.findings.failing import survivors, unequal
from plimsoll.stats.findings.finding import FindingRule
from plimsoll.stats.findings.generators import corrected, generators, lossy_machines, names, replays
from plimsoll.stats.findings.lists import lists, plans
from plimsoll.stats.findings.littles_law import littles_law
from plimsoll.stats.findings.overload import overload
from plimsoll.stats.findings.payload import growth, payload
from plimsoll.stats.findings.retrograde import retrograde
from plimsoll.stats.findings.rounding import order, step, ties
from plimsoll.stats.findings.saturation import pre_knee, saturation
from plimsoll.stats.findings.scaling_law import scaling_law
from plimsoll.stats.findings.serial import serial
from plimsoll.stats.findings.stalls import stalls
from plimsoll.stats.findings.steady import steady
from plimsoll.stats.findings.target.leaks import crashes, leaks
from plimsoll.stats.findings.target.load import full, waits
from plimsoll.stats.findings.target.work import changed, grown
from plimsoll.stats.findings.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from plimsoll.stats.findings.finding import Finding
    from plimsoll.stats.study import Study, Trial

    Rule = Callable[[Study], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    order,
    littles_law,
    generators,
    lossy_machines,
    names,
    replays,
    steady,
    unequal,
    payload,
    lists,
    growth,
    bimodal,
    overload,
    saturation,
    pre_knee,
    serial,
    retrograde,
    steep,
    scaling_law,
    full,
    full_link,
    waits,
    grown,
    changed,
    errors,
    claims,
    survivors,
    caps,
    crashes,
    leaks,
    stalls,
    connections,
    plans,
    floor,
    durations,
    corrected,
    ties,
    step,
)
"""In display order among findings of the same weight."""

STREAM_RULES: tuple[Rule, ...] = (tokens,)
"""Those about the rows of streams; the others do not see them."""

GROUP = "plimsoll.findings"
"""The entry-point group through which other packages add rules."""

BLOCKING = ("ORDER", "LITTLE", "GEN", "NONSTATIONARY", "ERR", "PAYLOAD", "BIMODAL")
"""Ids of all findings that may block, for the number of passed checks in a verdict."""

_WEIGHTS = ("blocks", "warning", "insight")


def find(study: Study) -> tuple[Finding, ...]:
    """All findings of all rules: blocking ones first, then warnings, then insights. Raises UsageError for a rule of
    another package that fails."""
    requests = replace(study, trials=tuple(_of_requests(trial) for trial in study.trials))
    found = [finding for rule in RULES for finding in rule(requests)]
    found += [finding for rule in STREAM_RULES for finding in rule(study)]
    own = {rule.__name__ for rule in (*RULES, *STREAM_RULES)}
    for name, added_rule in added(GROUP, FindingRule, own).items():
        try:
            found += added_rule.find(study if added_rule.sees_streams else requests)
        except Exception as error:
            raise UsageError(f"the rule of finding {name} failed: {type(error).__name__}: {error}") from error
    return tuple(sorted(found, key=lambda finding: _WEIGHTS.index(finding.weight)))


def _of_requests(trial: Trial) -> Trial:
    """Without the rows of streams."""
    endpoints = tuple(each for each in trial.endpoints if each.method not in STREAM_ROWS)
    return trial if len(endpoints) == len(trial.endpoints) else replace(trial, endpoints=endpoints)
