"""The headline of a run: whether the target is healthy, whether the generator is reliable, what the bottleneck is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.headline.bottleneck import bottleneck_judgement
from plimsoll.say.headline.generator import generator_judgement
from plimsoll.say.headline.judgement import JudgementTone, RunHeadline, RunJudgement
from plimsoll.say.headline.target import target_judgement

if TYPE_CHECKING:
    from plimsoll.stats.headline import RunDiagnosis

__all__ = ["JudgementTone", "RunHeadline", "RunJudgement", "headline"]


def headline(diagnosis: RunDiagnosis) -> RunHeadline:
    return RunHeadline(
        target_judgement(diagnosis.target),
        generator_judgement(diagnosis.generator),
        bottleneck_judgement(diagnosis.bottleneck),
    )
