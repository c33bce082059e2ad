"""Three questions about a run, also in its first seconds: is the target healthy, is the generator reliable, what is the
bottleneck. Each answer is the cause that leads, with its numbers; `plimsoll.say.headline` has the sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.headline.bottleneck import Bottleneck, bottleneck
from plimsoll.stats.headline.generator import GeneratorReliability, generator
from plimsoll.stats.headline.target import TargetHealth, target
from plimsoll.stats.validity import judge_so_far

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.latency.milliseconds import Latency
    from plimsoll.stats.thresholds.verdict import ThresholdResult
    from plimsoll.stats.validity import Validity
    from plimsoll.stats.view import RunView


@dataclass(frozen=True, slots=True)
class RunDiagnosis:
    target: TargetHealth
    generator: GeneratorReliability
    bottleneck: Bottleneck


def diagnose(
    view: RunView,
    manifest: Manifest,
    facts: RunFacts,
    *,
    thresholds: Sequence[ThresholdResult] = (),
    validity: Validity | None = None,
    current: Latency | None = None,
) -> RunDiagnosis:
    """manifest: `model`, `users_kind`, `max_users` and `times_of` are read from it, if present. facts: as in
    `validity.judge`. thresholds: their results so far. validity: None while the run is in progress. current: response
    times of the last seconds; None if unknown, as for a run that is over."""
    judged = judge_so_far(view, manifest, facts) if validity is None else validity
    health = target(view, manifest, thresholds, current, judged)
    return RunDiagnosis(health, generator(view, manifest, judged), bottleneck(view, manifest, judged, health.slow))
