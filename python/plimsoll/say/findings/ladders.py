"""Findings about throughput and latency over the load: SAT, PRE-KNEE, SERIAL, SHARED, RETRO, ELAST, USL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.durations import ms, range_of_ms
from plimsoll.say.findings.said import Said, said
from plimsoll.say.names import lead
from plimsoll.say.numbers import change, counted, counted_users, number, whole_percent
from plimsoll.stats.capacity import scaling
from plimsoll.stats.capacity.knee import KEEPS, LAGS
from plimsoll.stats.capacity.scaling import LEAST_R2, LEAST_RUNGS, LEAST_SIDE, MOST_ABOVE, MOST_RESIDUAL
from plimsoll.stats.findings.elasticity import SteepTail
from plimsoll.stats.findings.retrograde import FALLEN, LEAST_BEYOND, Collapse, OpenFall
from plimsoll.stats.findings.saturation import BeyondSaturation, NotSaturated, Saturation
from plimsoll.stats.findings.scaling_law import NoScalingLaw, ScalingLaw
from plimsoll.stats.findings.serial import ALONE, FLAT, PROPORTIONAL, SerialBottleneck, SharedBottleneck
from plimsoll.stats.findings.serial import LEAST_RUNGS as LEAST_SERIAL
from plimsoll.stats.little import BUSY

if TYPE_CHECKING:
    from plimsoll.stats.capacity.scaling import LawDoubt
    from plimsoll.stats.findings.finding import Evidence

SATURATION = (
    f"the knee of a · min(N, N_k), fitted up to the highest throughput of successful requests, lies between the last "
    f"level with at least {KEEPS * 100:.0f} % of a · N and the first with less than {LAGS * 100:.0f} %; a level "
    "beyond it lags by more than runs differ by chance (as their repeats do, or by 10 % where there is one run of each)"
)
BEYOND = (
    "more users than N* = (R_min + Z) · X_max must wait for one another; R_min is the fastest request of the lowest "
    f"level, its warm-up included. Levels that begin above N*, the second with less than {LAGS * 100:.0f} % of the "
    "throughput in proportion, show only the queue"
)
SERIAL = (
    f"over at least {LEAST_SERIAL} levels |d ln X / d ln N| ≤ {FLAT}, d ln R / d ln N within "
    f"{PROPORTIONAL[0]}…{PROPORTIONAL[1]}, and users spend at least {BUSY * 100:.0f} % of their time in requests: a "
    "slope of 1 is exact for a saturated closed queue"
)
SHARED = (
    "behind a queue that serves in order, the first request, in the warm-up too, meets an idle server and takes one "
    f"service time, 1/X; a fastest request of more than {ALONE:g}/X at every level rules that out"
)
FALL = (
    f"throughput of successful requests is at most {FALLEN * 100:.0f} % of its peak at {LEAST_BEYOND} or more levels "
    "beyond it, the 95 % intervals do not overlap (over runs, of the counts, or from the scatter of the levels below "
    "the knee), and p, adjusted for the choice of the peak and for all ladders looked at (Benjamini–Hochberg), is at "
    "most 5 %. With one run of each level, runs count as differing by 10 %"
)
ELASTICITY = (
    "e = Δ ln p99 / Δ ln load between two levels is at least 4; a queue with random arrivals (M/M/1) has "
    "e = ρ/(1 − ρ), so that is 80 % utilisation. In a closed loop users slow down with the target, so e is a flag only"
)
LAW = (
    f"σ and κ are published only with at least {LEAST_RUNGS} levels, {LEAST_SIDE} on each side of the peak, "
    f"R² ≥ {LEAST_R2}, no level further off than {MOST_RESIDUAL * 100:.0f} % of the highest throughput, no parameter "
    f"at its bound, the peak inside the ladder and at most {MOST_ABOVE * 100:.0f} % above a measured throughput, "
    f"and a κ that chance makes in less than {scaling.CHANCE * 100:.0f} % of ladders without a fall: otherwise other "
    "values fit as well"
)


@said.register
def saturation(finding: Saturation) -> Said:
    (low, high), knee = finding.bracket, finding.knee
    unit = " users" if finding.unit == "users" else " requests/s"
    where = "the knee is between them, at up to"
    if knee is not None:
        # Rounded, it must not look outside of its bracket.
        digits = 0 if low < round(knee) <= high else 3
        where = f"the knee is near {knee:.{digits}f}{unit}, at"
    return Said(
        f"{lead(finding.subject)}throughput follows the load up to {low:g}{unit} and lags at {high:g}{unit}: "
        f"{where} {number(finding.capacity_per_s)} {_requests(finding)}/s.",
        SATURATION,
        f"For a closer answer, add levels between {low:g} and {high:g}{unit}.",
    )


@said.register
def not_saturated(finding: NotSaturated) -> Said:
    return Said(
        f"{lead(finding.subject)}throughput follows the load at all levels up to {counted_users(finding.last)} "
        f"({number(finding.last_per_s)} {_requests(finding)}/s), so the capacity is above that.",
        SATURATION,
        "To find the capacity, add higher levels.",
    )


def _requests(finding: Saturation | NotSaturated) -> str:
    """The kind of requests in the throughput."""
    return "successful requests" if finding.has_failures else "requests"


@said.register
def beyond_saturation(finding: BeyondSaturation) -> Said:
    served = counted(float(f"{finding.most_users:.2g}"), "user")
    return Said(
        f"{lead(finding.subject)}all levels are beyond saturation: the lowest has {counted_users(finding.first_users)}"
        f", and at most {served} can be served without waiting for one another ({number(finding.rate_per_s)} "
        f"requests/s, the fastest in {ms(1000 * finding.min_s)}).",
        BEYOND,
        "Run 1, 2 and 4 users too: without them neither the unloaded latency nor a scaling law is known.",
    )


@said.register
def serial(finding: SerialBottleneck) -> Said:
    bounds, (first, last) = finding.capacity_interval_per_s, finding.loads
    interval = f" ({bounds[0]:.3g} to {bounds[1]:.3g})" if bounds is not None else ""
    return Said(
        f"{lead(finding.subject)}throughput stays at {finding.capacity_per_s:.3g} requests/s{interval} from "
        f"{first:.0f} to {counted_users(last)}: one bottleneck has {ms(1000 * finding.held_s)} for each request, and "
        f"every further user adds {ms(1000 * finding.s_per_user)} of waiting.",
        SERIAL,
        "More users measure only the queue: find what all requests wait for, and raise its capacity.",
    )


@said.register
def shared(finding: SharedBottleneck) -> Said:
    return Said(
        f"{lead(finding.subject)}even the fastest requests took "
        f"{range_of_ms(1000 * time for time in finding.min_s_per_user)} for each user there was: hypothesis: the "
        "bottleneck serves all requests at once, each the slower, and not one after another.",
        SHARED,
        "Limit how many requests are in progress: each of them then is faster.",
    )


@said.register
def collapse(finding: Collapse) -> Said:
    peak, last = finding.levels
    evidence: dict[str, Evidence] = {}
    if finding.q is None and not finding.has_counts:
        evidence["counts"] = "unknown: intervals are from the scatter of the levels below the knee"
    return Said(
        f"{lead(finding.subject)}throughput collapses beyond {peak}: from {number(finding.rates_per_s[0])} to "
        f"{number(finding.rates_per_s[-1])} requests/s at {last} ({change(finding.ratio)}).",
        FALL,
        "Limit what is in progress at the target: that keeps the throughput of the peak.",
        evidence,
    )


@said.register
def open_fall(finding: OpenFall) -> Said:
    (peak, last), (top, bottom) = finding.levels, finding.rates_per_s
    half_done = ""
    if finding.ratio_with_unfinished is not None:
        with_them, without = (whole_percent(1 - ratio) for ratio in (finding.ratio_with_unfinished, finding.ratio))
        if with_them != without:
            half_done = (
                f"; with the requests that the end of the run cut off counted as half done it falls {with_them}, "
                f"not {without}"
            )
    return Said(
        f"{lead(finding.subject)}that throughput falls from {peak} to {last} ({number(top)} to {number(bottom)} "
        f"requests/s) is not established{half_done}.",
        FALL,
        "Repeat the levels, with longer runs.",
    )


@said.register
def steep_tail(finding: SteepTail) -> Said:
    (lower, upper), (before, after) = finding.levels, finding.p99_ms
    of, others, meaning = "", "", ""
    if finding.known > 1:
        of = f" of {finding.label[0]}"
        others = f" ({len(finding.endpoints)} of {finding.known:.0f} endpoints grow so)"
    if finding.utilisation is not None:
        meaning = f", as in a queue at {whole_percent(finding.utilisation)} utilisation"
    return Said(
        f"{lead(finding.subject)}from {lower} to {upper} p99{of} grows from {ms(before)} to {ms(after)}: each 1 % more "
        f"load makes it {finding.elasticity:.3g} % longer{meaning}{others}.",
        ELASTICITY,
        f"Keep the load below {upper} where p99 matters.",
        {f"elasticity of {label}": elasticity for label, elasticity in finding.endpoints if label},
    )


@said.register
def scaling_law(finding: ScalingLaw) -> Said:
    return Said(
        f"{lead(finding.subject)}the universal scalability law fits (contention σ {finding.contention:.3g}, coherence "
        f"κ {finding.coherence:.3g}): throughput peaks at {number(finding.capacity_per_s)} requests/s with "
        f"{number(finding.peak)} requests in flight.",
        LAW,
    )


@said.register
def no_scaling_law(finding: NoScalingLaw) -> Said:
    doubts = "; ".join(map(law_doubt, finding.doubts))
    return Said(
        f"{lead(finding.subject)}the highest throughput is {number(finding.peak_per_s)} requests/s at {finding.level}; "
        f"no scalability law is fitted ({doubts}).",
        LAW,
        f"For a law, run at least {LEAST_RUNGS} levels, from 1 user to well beyond the peak.",
        {"refused": doubts},
    )


def law_doubt(doubt: LawDoubt) -> str:
    """Why the parameters of the law must not be published."""
    match doubt.id, doubt.values:
        case "levels", (levels,):
            return f"{counted(levels, 'level')}, at least {LEAST_RUNGS} are needed for three parameters"
        case "sides", (below, above):
            return (
                f"{counted(below, 'level')} below the peak and {above:.0f} above, at least {LEAST_SIDE} on each side "
                "are needed"
            )
        case "r2", (r2,):
            return f"R² is {r2:.3f}, at least {LEAST_R2} is needed"
        case "residual", (residual,):
            return (
                f"a level is {whole_percent(residual)} of the highest throughput off the curve, at most "
                f"{whole_percent(MOST_RESIDUAL)} is allowed"
            )
        case "bound", (value,):
            return f"{doubt.name} is at its bound of {value:.0f}"
        case "outside", (peak, low, high):
            return f"the peak of the curve, at {peak:.4g}, is outside the ladder of {low:g} to {high:g}"
        case "above", (above,):
            return (
                f"the peak of the curve is {above * 100:.1f} % above the highest throughput of a level, at most "
                f"{whole_percent(MOST_ABOVE)} is allowed"
            )
        case "no mean", _:
            return "the mean latency of all requests is not known, so it is not known how many are in flight"
        case "pauses", _:
            return "users pause an unknown time, so it is not known how many are in flight"
        case "no success", _:
            return "no request succeeds at one of the levels"
        case "no fall", (p,):
            return f"the runs at {doubt.name} are not shown to be below those of the peak (p = {p:.2g})"
        case _:
            return "the throughput beyond the peak may as well be flat"
