"""All comparisons of a study are one family: that any of them calls two identical systems different has a chance of at
most 1 in 20 per study, however many endpoints, levels and metrics there are.

The comparisons that the question is about have most of that chance, so that more endpoints hardly blunt them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.stats.compare.questions import Question

LEADING_PART = 0.8
"""Of the chance of a false alarm, for the leading comparisons; the others share the rest."""


def weights_of(questions: Sequence[Question]) -> list[float]:
    """The part of each comparison in the chance of a false alarm; together 1, or less where a group is empty.

    Those that lead are declared as primary; where nothing is declared, they are of all endpoints together, or of the
    only endpoint.
    """
    leads = [each.leads for each in questions]
    leading, others = leads.count(True), leads.count(False)
    part = LEADING_PART if leading and others else 1.0
    return [part / leading if each else ((1.0 - part) or 1.0) / others for each in leads]


def holm(ps: Sequence[float], weights: Sequence[float]) -> list[float]:
    """The adjusted p-values, in the given order: with those at most alpha, the chance that any of them is a false alarm
    is at most alpha, however they depend on one another.

    The weighted procedure of Holm, Scand. J. Stat. 6, 1979, section 4: by ascending p / w, each p is multiplied with
    the sum of the weights that are left, over its own. Raises ValueError for an invalid probability or weight.
    """
    if any(not 0 <= each <= 1 for each in ps):
        raise ValueError("a probability is from 0 to 1")
    if len(ps) != len(weights) or any(not each > 0 for each in weights):
        raise ValueError("each probability has a weight above 0")
    adjusted, left, most = [0.0] * len(ps), sum(weights), 0.0
    for place in sorted(range(len(ps)), key=lambda each: ps[each] / weights[each]):
        most = max(most, min(1.0, ps[place] * left / weights[place]))
        adjusted[place] = most
        left -= weights[place]
    return adjusted
