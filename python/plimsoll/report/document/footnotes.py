"""What must be known to read the tables of an analysis: written from what the numbers are, not by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.comparisons import WITHIN_RUN, WORDS
from plimsoll.say.durations import duration_text
from plimsoll.say.numbers import UNCLEAN, count, counted, short_percent, significant
from plimsoll.stats.cells import cells_of
from plimsoll.stats.latency.milliseconds import is_clean
from plimsoll.stats.metric import Metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison
    from plimsoll.stats.study import Precision, Study

MOST_SKIPPED = 10
_MARKED = tuple(Metric("quantile", q) for q in (0.5, 0.9, 0.95, 0.99))
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Footnotes:
    """Numbered notes to single numbers. The same text has one number, wherever it stands."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, text: str) -> str:
        """¹ for the first text, and so on."""
        return superscript(self._numbers.setdefault(text, len(self._numbers) + 1))

    def lines(self) -> list[str]:
        return [f"{superscript(number)} {text}" for text, number in self._numbers.items()]


def superscript(number: int) -> str:
    return str(number).translate(_SUPERSCRIPTS)


def general(analysis: Analysis, command: str = "") -> list[str]:
    """One sentence or two each: percentiles, clocks, warm-up, precision, repeats, intervals, cells that are invalid or
    were skipped, and what made it. command: what made this very report."""
    study = analysis.study
    return [
        *_percentiles(study),
        *_clocks(study),
        *_warmup(study),
        *_precision(study),
        *_repeats(study),
        *_requests(analysis.comparisons),
        *_verdicts(analysis),
        *_noise(study),
        *_shares(study),
        *_invalid(study),
        *_skipped(study),
        *_made(study, command),
    ]


def _tools(study: Study) -> list[Precision]:
    return list(dict.fromkeys(trial.precision for trial in study.trials))


def _percentiles(study: Study) -> Iterator[str]:
    if any(each.mergeable for each in _tools(study)):
        yield (
            "A percentile is the value at rank ⌈q·n⌉ of the n times of a run, taken from its histogram after all "
            "seconds and workers have been added up; percentiles are never averaged within a run."
        )
    tools = ", ".join(dict.fromkeys(each.tool for each in _tools(study) if not each.mergeable))
    if tools:
        yield f"Percentiles of {tools} are as that report has them; how they were taken is not known here."


_CLOCKS = {
    "due": "from when the request was due, so what it waited for the generator is in it (response time)",
    "sent": "from when the request was sent: what it waited before that is not in it",
    "corrected": "corrected afterwards for coordinated omission: part of them was modelled, not measured",
    "unknown": "from a moment that the source does not tell",
}
_SCOPES = {
    "all": "times of failed requests that had an answer are among them",
    "successes": "only those of successful requests",
    "unknown": "whether those of failed requests are among them is not known",
}


def _clocks(study: Study) -> Iterator[str]:
    for precision in _tools(study):
        yield f"Times of {precision.tool} count {_CLOCKS[precision.clock]}; {_SCOPES[precision.times_of]}."
    if study.trials and all(trial.model == "closed" for trial in study.trials):
        yield (
            "Closed model: users wait for their reply before they ask again, so a target that stalls is asked less. "
            "Independent clients would have seen more of it."
        )


def _warmup(study: Study) -> Iterator[str]:
    lengths = sorted({trial.warmup for trial in study.trials})
    if len(lengths) == 1 and lengths[0]:
        yield f"The first {duration_text(lengths[0])} of each run are left out of every number, as a warm-up."
    elif len(lengths) > 1:
        yield (
            f"Warm-up is left out of every number: {duration_text(lengths[0])} to {duration_text(lengths[-1])} at the "
            "beginning of each run."
        )


def _precision(study: Study) -> Iterator[str]:
    for precision in _tools(study):
        if precision.digits is None:
            continue
        smallest = f", and none finer than {precision.floor:g} ms" if precision.floor else ""
        yield (
            f"{precision.tool} tells {counted(precision.digits, 'significant digit')} of a time{smallest}; differences "
            "within one such step are none that it could see."
        )


def _repeats(study: Study) -> Iterator[str]:
    cells = cells_of(study)
    runs = [len(cell.valid) for cell in cells if cell.valid]
    if not runs or max(runs) < 2:
        if len(study.variants) > 1:
            what = (
                "has more than one valid run" if any(len(cell.trials) > 1 for cell in cells) else "is more than one run"
            )
            yield f"No cell {what}: how far two runs of the same lie apart is not known from them."
        return
    few = f"{min(runs)} to {max(runs)}" if min(runs) < max(runs) else str(runs[0])
    order = "; those of a repeat ran next to one another in random order" if study.interleaved else ""
    yield (
        f"Each cell is {few} runs{order}. Times and rates are geometric means over the runs, counts are added up, "
        "extremes are those of all runs."
    )


def _requests(comparisons: tuple[Comparison, ...]) -> Iterator[str]:
    """Of the highest percentile that is compared: on how few requests it rests."""
    quantiles = [each for each in comparisons if each.metric.quantile is not None and each.requests is not None]
    if not quantiles:
        return
    highest = max(each.metric.quantile or 0 for each in quantiles)
    known = [each.requests or 0 for each in quantiles if each.metric.quantile == highest]
    name = next(each.metric.text for each in quantiles if each.metric.quantile == highest)
    low, high = min(known), max(known)
    rests = f"{count(low)} to {count(high)}" if low < high else count(low)
    if not all(each.is_counted for each in quantiles if each.metric.quantile == highest):
        rests = f"about {rests}"
    tail = (1 - highest) * low
    yield (
        f"A {name} rests on {rests} requests a run, {'less than 1' if tail < 1 else f'about {tail:.0f}'} of them above "
        "it where they are fewest."
    )


def _verdicts(analysis: Analysis) -> Iterator[str]:
    comparisons = analysis.comparisons
    if not comparisons:
        return
    deltas = sorted({each.metric.delta for each in comparisons if each.metric.kind != "errors"})
    ends = (deltas or [analysis.study.delta])[:: max(1, len(deltas) - 1)]
    matters = " to ".join(dict.fromkeys(map(short_percent, ends)))
    shares = {each.metric.delta for each in comparisons if each.metric.kind == "errors"}
    failing = f", a share of failures from {short_percent(max(shares))}" if shares else ""
    yield (
        f"A difference matters from {matters} on{failing}. Intervals are 95 % confidence intervals of the ratio; the "
        "unit of evidence is the run, not the request. “No clear difference” means that nothing is certain, not that "
        "there is no difference; only “same” says that."
    )
    if any(each.within_run for each in comparisons):
        yield (
            f"The interval of {WORDS['one run']} ({WITHIN_RUN}) holds for these very runs and says nothing about the "
            "next ones."
        )
    if family := sum(each.q is not None for each in comparisons):
        leading = "primary metrics" if analysis.study.primary else "all endpoints together"
        yield (
            f"q is p adjusted for {counted(family, 'comparison')} (Holm; those of {leading} have four fifths of the "
            "chance of a false alarm). A difference is certain from q ≤ "
            "0.05 on: identical versions show one in at most 1 of 20 experiments."
        )
    if analysis.study.looks > 1:
        yield f"The result was to be looked at {analysis.study.looks} times; the limits of p allow for that."


def _noise(study: Study) -> Iterator[str]:
    compared = sum(each.compared for each in study.noise)
    if compared:
        rejected = sum(each.rejected for each in study.noise)
        yield (
            f"Of {count(compared)} comparisons of this bench with itself (A/A), {count(rejected)} called identical "
            f"systems different, {short_percent(rejected / compared)}; 5 % is what chance would do."
        )


def _shares(study: Study) -> Iterator[str]:
    shares = [
        metric.share_of(run)
        for trial in study.trials
        for run in (*trial.endpoints, *([trial.total] if trial.total is not None else []))
        for metric in _MARKED
        if not is_clean(metric.of(run) or 0.0, metric.share_of(run))
    ]
    if shares:
        yield (
            f"{UNCLEAN}: the generator may have added more than too little to matter to such a time, up to "
            f"{significant(max(shares), 2)} ms. Intervals of comparisons allow for it."
        )


def _invalid(study: Study) -> Iterator[str]:
    cells = [cell for cell in cells_of(study) if cell.reasons]
    if cells:
        runs = sum(bool(trial.invalid) for cell in cells for trial in cell.trials)
        yield (
            f"{counted(runs, 'run')} in {counted(len(cells), 'cell')} did not get the load that was asked for. They "
            "count only where the cell has no other run."
        )


def _skipped(study: Study) -> Iterator[str]:
    for each in study.skipped[:MOST_SKIPPED]:
        yield f"Left out, {each.place}: {' '.join(each.text.split())!r}: {each.why}."
    if len(study.skipped) > MOST_SKIPPED:
        yield f"Left out: {count(len(study.skipped) - MOST_SKIPPED)} more places; the JSON names all."


def _made(study: Study, command: str) -> Iterator[str]:
    if study.source:
        yield f"Source: {study.source}."
    if study.command:
        yield f"Measured by: {study.command}"
    if command:
        yield f"Report by: {command}"
