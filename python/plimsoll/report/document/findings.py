"""Findings with the charts in which they are seen."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from plimsoll.report.charts.highlight import highlighted
from plimsoll.report.document.blocks import Findings, NamedValue, ShownFinding
from plimsoll.report.document.pictures import is_only
from plimsoll.say import comparisons
from plimsoll.say.findings import evidence_of, said
from plimsoll.stats.study import TOTAL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.report.charts import Chart
    from plimsoll.report.document.pictures import ShownCharts
    from plimsoll.stats.findings.finding import Finding, Where

MOST_ALIKE = 3
"""Findings of one rule that are shown; further ones are folded away."""
MOST_CHARTS = 2
"""Of a finding."""

_LADDER = ("ladder_throughput", "ladder_latency")
_COURSE = ("course_rate", "course_times")
_EVIDENT = {
    "BIMODAL": ("histogram", "percentiles"),
    "CAP": ("percentiles", *_LADDER),
    "ERR": ("failures",),
    "LEAK": ("target",),
    **dict.fromkeys(("SAT", "RETRO", "SERIAL", "ELAST", "USL", "PRE-KNEE", "LITTLE", "GEN"), _LADDER),
    **dict.fromkeys(("COLD", "NONSTATIONARY", "STALL", "CRASH", "OVERLOAD"), _COURSE),
}
"""Kinds of charts in which a finding of a rule is seen, the best one first."""


def shown_findings(findings: Sequence[Finding], pictures: ShownCharts) -> Findings:
    """In the order of the analysis."""
    seen = Counter[tuple[str, str]]()
    shown: list[ShownFinding] = []
    folded: list[ShownFinding] = []
    for each in findings:
        seen[each.weight, each.id] += 1
        alike = seen[each.weight, each.id] > MOST_ALIKE
        (folded if alike else shown).append(_shown(each, pictures))
    return Findings(tuple(shown), tuple(folded))


def _shown(finding: Finding, pictures: ShownCharts) -> ShownFinding:
    evidence = tuple(
        NamedValue(name.replace("_", " "), comparisons.evidence({name: value}).removeprefix(f"{name} "))
        for name, value in evidence_of(finding).items()
    )
    text = said(finding)
    return ShownFinding(
        finding.id,
        finding.weight,
        comparisons.WEIGHTS[finding.weight],
        text.statement,
        text.advice,
        text.rule,
        comparisons.place(finding.where),
        evidence,
        _seen_in(finding, pictures),
    )


def _seen_in(finding: Finding, pictures: ShownCharts) -> tuple[str, ...]:
    """Names of charts with what the finding rests on highlighted; of plain ones where it cannot be."""
    kinds = _EVIDENT.get(finding.id, ())
    own = sorted((chart for chart in pictures.all if chart.kind in kinds), key=lambda chart: kinds.index(chart.kind))
    fitting = [chart for chart in own if _shows(chart, finding.where, own)]
    copies = [(chart, copy) for chart in fitting if (copy := highlighted(chart, finding)) is not None]
    if copies:
        return tuple(pictures.copy(chart, copy) for chart, copy in copies[:MOST_CHARTS])
    return tuple(pictures.plain(chart) for chart in fitting[:MOST_CHARTS])


def _shows(chart: Chart, where: Where, own: Sequence[Chart]) -> bool:
    """Whether it is a picture of that place. own: all of the kinds that could be."""
    if where.operation not in (None, chart.operation):
        return False
    if chart.trial and not (where.trial in (None, chart.trial) and where.variant in (None, chart.variant)):
        return False
    if chart.level and where.level is not None and str(where.level) != chart.level:
        return False
    if where.endpoint not in (None, TOTAL):
        return chart.endpoint in (None, where.endpoint)
    return chart.endpoint is None or not any(chart.endpoint) or is_only(chart, own)
