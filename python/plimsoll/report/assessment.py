"""What a run's numbers are worth: the one judgement that every report shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from plimsoll.stats.latency.omission import omission
from plimsoll.stats.thresholds.verdict import ThresholdResult
from plimsoll.stats.validity import judge, unclean_figures

if TYPE_CHECKING:
    from plimsoll.record.facts import RunFacts
    from plimsoll.record.manifest import Manifest
    from plimsoll.stats.latency.omission import Omission
    from plimsoll.stats.validity import Validity
    from plimsoll.stats.validity.lateness import UncleanFigure
    from plimsoll.stats.view import RunView


@dataclass(frozen=True, slots=True)
class Assessment:
    """Follows from what is stored of a run and from nothing else, so it is the same whenever it is asked for."""

    validity: Validity
    """Whether the load was the load that was asked for."""
    thresholds: tuple[ThresholdResult, ...] = ()
    """What was asked of the target."""
    omission: Omission | None = None
    """What the closed model did not see; None for the open one, and for a run too small to tell."""
    is_open: bool = False
    """Whether there were arrivals, and not users who take their time."""
    max_users: int | None = None
    """Most users that the open model might have, if that is known."""
    unclean: tuple[UncleanFigure, ...] = ()
    """The figures with too large a share of the generator."""


def assess(view: RunView, manifest: Manifest, facts: RunFacts, status: str) -> Assessment:
    """manifest, facts, status: of the run that the view is of. What they do not say is taken as unknown."""
    return Assessment(
        validity=judge(view, manifest, facts, status),
        thresholds=tuple(ThresholdResult.from_dict(threshold) for threshold in facts.thresholds or ()),
        omission=omission(view, manifest),
        is_open=manifest.is_open,
        max_users=manifest.max_users,
        unclean=unclean_figures(view, manifest),
    )
