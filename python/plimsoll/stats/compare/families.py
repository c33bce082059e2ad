"""Many comparisons at once: how p-values share one rate of false alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """The p-values adjusted, in the order given: of those at most 0.05, one in twenty is a false alarm on average.

    Benjamini and Hochberg, JRSS B 57, 1995. It holds for independent tests and for those that depend on each other
    positively, as endpoints of the same runs do. Raises ValueError for what is no probability.
    """
    from scipy.stats import false_discovery_control

    if not ps:
        return []
    return [float(each) for each in false_discovery_control(ps, method="bh")]
