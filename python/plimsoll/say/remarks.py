"""Why a comparison has no verdict, the remarks that belong to a verdict, warnings of a study, notes of its runs,
and the caveats of a trend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.findings import said
from plimsoll.say.numbers import counted, number, percent_reached
from plimsoll.stats.compare.comparison import Remark
from plimsoll.stats.compare.pairs import LEAST
from plimsoll.stats.compare.trend import ENOUGH, FEW_AFTER
from plimsoll.stats.latency.ranks import above, comparable_requests, least_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from plimsoll.stats.analysis import Analysis
    from plimsoll.stats.compare.comparison import Comparison, Reason
    from plimsoll.stats.compare.evidence import Refusal
    from plimsoll.stats.compare.trend import DetectedChanges
    from plimsoll.stats.study import Trial


SERVICE_TIMES = (
    "Compared times are service times (what the target took) where the generator has too large a share of the response "
    "times."
)


def times_of_dominant(operation: str, endpoint: tuple[str, str]) -> str:
    """What the times of an operation are of, whose requests mix fast and slow ones."""
    of = f" of {operation}" if operation else ""
    return (
        f"Times{of} are those of {' '.join(filter(None, endpoint))}, which users wait for most: percentiles of all "
        "requests together mix fast and slow ones."
    )


def reason_text(comparison: Comparison | Refusal) -> str:
    """Why there is no verdict; "" if there is one."""
    return _reason(comparison.reason) if comparison.reason is not None else ""


def _reason(reason: Reason) -> str:
    return remark_text(reason) if isinstance(reason, Remark) else said(reason).statement


def remark_text(remark: Remark) -> str:
    """Without a full stop."""
    match remark.id, remark.names, remark.values:
        case "not run", (variant, *level), _:
            return f"{variant} was not run{f' at {level[0]}' if level else ''}"
        case "no common repeat", _, _:
            return "none of the runs belong to the same repeat"
        case "run invalid", (why,), _:
            return why
        case "no endpoint", (variant, endpoint), _:
            return f"{variant} has no {endpoint}"
        case "failures not known", (variant,), _:
            return f"how many failed is not known of {variant}"
        case "not timed", (variant, metric), _:
            return f"the {metric}, as nothing was timed, is not known of {variant}"
        case "not known", (variant, metric), _:
            return f"the {metric} is not known of {variant}"
        case "not known of both", _, _:
            return "it is not known of both in the same repeat"
        case "failure counts not known", _, _:
            return "it is not known how many requests failed"
        case "zero", _, _:
            return "a value of 0 has no ratio"
        case "few requests", _, (quantile, requests, is_counted):
            return _few_requests(quantile, int(requests), "" if is_counted else "≈")
        case "few pairs", _, (pairs,):
            return (
                f"{pairs:.0f} pairs are too few to know how far runs differ by chance; it takes {LEAST}, or A/A runs "
                "of this bench"
            )
        case "pairs left out", _, (pairs, of):
            why = f": {_reason(remark.reason)}" if remark.reason is not None else ""
            return f"{pairs:.0f} of {of:.0f} pairs left out{why}"
        case "runs left out", _, (runs,):
            return f"{counted(runs, 'run')} without a partner left out"
        case "not interleaved", _, _:
            return "not interleaved: what else changed between the runs is in the difference"
        case "service times", _, _:
            return "service times are compared: the generator has too large a share of the response times"
        case "still warming up", _, (seconds,):
            return f"{seconds:g} s more than the declared warm-up left out: some run was still getting faster"
        case "full machine", _, (busy, cores, target):
            return (
                f"by how much is not known: this machine was full, with {number(round(busy, 2))} of "
                f"{counted(cores, 'core')} busy, of which the target used {number(round(target, 2))}"
            )
        case "requests not known", _, _:
            return "how many requests it rests on is not known"
        case "history", _, (spread, freedom):
            return f"with the bench's A/A history: spread {100 * spread:.2g} %, {freedom:g} degrees of freedom"
        case "signs disagree", _, (p,):
            return f"the exact test by signs does not confirm it (p={p:.2g})"
        case "wider", _, (share,):
            return f"the interval is wider by the generator's share, up to {percent_reached(share)}"
        case "better length", _, (seconds,):
            return f"runs of about {seconds:.0f} s would tell most in the same time"
        case "rounding step", _, _:
            return "within one rounding step"
        case "given up on", _, _:
            return "it lies among requests that were given up on: the true value is greater in at least one run"
        case "look", _, (look, looks, alpha):
            return f"look {look:.0f} of {looks:.0f}, declared beforehand: p must be below {alpha:.2g}"
        case "family", _, (comparisons,):
            return f"apart by itself, but not as one of {comparisons:.0f} comparisons"
    raise ValueError(f"no sentence for {remark}")


def _few_requests(quantile: float, requests: int, about: str) -> str:
    tail = above(requests, quantile) if requests else 0
    rests = "the single largest" if tail == 1 else f"the {tail} largest" if tail else "none"
    return (
        f"p{quantile * 100:.10g} rests on {rests} of {about}{requests} requests; {least_requests(quantile):_} are "
        f"needed, {comparable_requests(quantile):_} to compare well"
    ).replace("_", "\u00a0")


def run_notes(trial: Trial) -> Iterator[str]:
    """Without a full stop."""
    yield from trial.notes
    if trial.is_stopped:
        yield "it was stopped before its time was up"


def warnings(analysis: Analysis) -> Iterator[str]:
    """Those of the study, and one about a bench that calls identical systems different too often."""
    yield from analysis.study.warnings
    rate = analysis.alarms
    if rate is not None and not rate.is_kept:
        yield (
            f"The bench calls identical systems different: {rate.rejected} of {rate.compared} A/A comparisons, at "
            f"least {100 * rate.low:.2g} % where 5 % are allowed. Its verdicts are not to be trusted before that is "
            "understood."
        )


def caveats(result: DetectedChanges) -> Iterator[str]:
    """Sentences about how certain the changes are."""
    if result.values < ENOUGH:
        runs = _there_are(result.values)
        yield f"{runs}; at least {ENOUGH} are needed to tell a change from what runs differ by anyway."
    if result.left_out:
        are, them = ("is", "it") if result.left_out == 1 else ("are", "them")
        yield (
            f"{result.left_out} of {result.values} runs {are} far from those around {them}, and left out of the steps."
        )
    for change in result.changes:
        if change.index + change.runs == result.values and change.runs < FEW_AFTER:
            last = "run" if change.runs == 1 else f"{change.runs} runs"
            yield f"The last change rests on the last {last} only: it may be an outlier."


def _there_are(runs: int) -> str:
    if not runs:
        return "There are no runs"
    return f"There {'is' if runs == 1 else 'are'} {counted(runs, 'run')}"
