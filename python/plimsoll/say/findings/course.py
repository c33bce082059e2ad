"""Findings about the course of a run: STALL, COLD, NONSTATIONARY, BIMODAL, OVERLOAD, DURATION, FLOOR."""

from __future__ import annotations

from plimsoll.say.durations import ms, rough_ms, seconds_text
from plimsoll.say.findings.said import Said, said
from plimsoll.say.names import at, lead, named, several
from plimsoll.say.numbers import counted, number, percent, signed_percent
from plimsoll.stats.capacity.backlog import EXCESS, LEAST_SECONDS, SHORT_EXCESS
from plimsoll.stats.findings.bimodal import (
    DECADE,
    LEAST_APART_MS,
    LEAST_COUNT,
    LEAST_SHARE,
    SCORE,
    WIDE,
    MixedEndpoints,
    TwoModes,
)
from plimsoll.stats.findings.durations import DIFFER, UnequalDurations, WithinChance
from plimsoll.stats.findings.overload import GrowingBacklog, LeftUnanswered
from plimsoll.stats.findings.stalls import DEVIATIONS as STALL_DEVIATIONS
from plimsoll.stats.findings.stalls import LEAST, REGULAR, SCALE, RegularStalls
from plimsoll.stats.findings.steady import DEVIATIONS, DRIFTS, SUDDEN, ColdStart, Unsettled
from plimsoll.stats.latency.warmup import BATCH, COLD, SHORT_RATIO, TREND
from plimsoll.stats.study import TOTAL

STALL = (
    f"a second is stalled when its maximum is above the median of all by {STALL_DEVIATIONS:g} · {SCALE} · MAD and "
    f"above twice the median; {LEAST} or more of them whose intervals vary by at most {REGULAR * 100:.0f} % are "
    "periodic (by chance: 0.5 %)"
)
WARMING = (
    f"the first seconds are slower than any second of the run's second half, and on average {COLD:g} times as slow as "
    f"the rest; if they are fewer than {BATCH}, {SUDDEN:g} times, in the median of their requests and by a test of "
    f"ranks, or by {DEVIATIONS:g} deviations of the other seconds where only means are known"
)
SETTLED = (
    f"MSER-5 would cut off more than half of the run's batches of {BATCH} s, these have a trend (Mann–Kendall, "
    f"p < {TREND:g}), and the median of the last third differs from that of the first by {DRIFTS:g} times or more: "
    f"there is no steady state that a number could be of. A run of less than 30 s: the means of its six parts all go "
    f"in one direction, by {SHORT_RATIO:g} times or more, under a load that does not change"
)
MODES = (
    f"in bins of {DECADE:g} decades, smoothed, the lower of two peaks is at least {SCORE:g} times the valley between "
    f"them, with at least {LEAST_SHARE * 100:g} % and {LEAST_COUNT} requests on each side, and "
    f"the peaks are {LEAST_APART_MS:g} ms apart unless one is of failures: percentiles in between are of neither kind"
)
MIXED = "endpoints whose times do not overlap at all are two populations: a percentile of both moves with their mix"
BACKLOG = (
    f"requests in flight and arrivals that wait for a user grow by at least {EXCESS * 100:.0f} % of the arrivals per "
    "second, certainly (95 %, Theil–Sen) in the whole run and in its second half: a queue below its capacity comes to "
    f"rest. In a run of less than {LEAST_SECONDS} s, in every second and by {SHORT_EXCESS * 100:.0f} %, while the "
    "replies per second do not grow"
)
LEFT = f"requests whose responses did not come after the load: more than {EXCESS * 100:.0f} % of the arrivals"
LENGTHS = (
    f"runs at one level that are compared last equally long, within {DIFFER * 100:.0f} %: what grows or warms up "
    "during a run is otherwise not the same; a difference up to the longest response time is a run's wait for its end"
)
COUNTING = (
    "if successful requests came at random, counts n₁ and n₂ alone would scatter the ratio by "
    "exp(±1.96 · √(1/n₁ + 1/n₂)); runs scatter more than that, so one run each cannot show a difference within it"
)
WAITS_MS = (
    (40.0, "TCP's delayed acknowledgement"),
    (200.0, "TCP's shortest retransmission timeout"),
    (1_000.0, "a lost SYN, or a retry or a poll once a second"),
    (5_000.0, "a DNS query's timeout, or a time limit of 5 s with a retry"),
)
"""Distances between modes with well-known causes, which stay hypotheses."""
NEAR = 0.15
"""Tolerance for such a distance: the resolution of the peaks is a bin."""
OTHERS = "a cache that is missed, a cold start, a lock, a pause of the target"


@said.register
def stalls(finding: RegularStalls) -> Said:
    return Said(
        f"{lead(finding.subject)}the target stalls about every {finding.interval_s:.3g} s"
        f"{in_runs(finding.runs, finding.of)}: hypothesis: something that runs by the clock, as garbage collection, a "
        "checkpoint or a scheduled job.",
        STALL,
        "Look at the target's logs and its garbage collector at these seconds.",
    )


@said.register
def cold(finding: ColdStart) -> Said:
    return Said(
        f"{_lead(finding)}the first {finding.seconds:.0f} s are {finding.excess:.2g} times as slow as the rest"
        f"{in_runs(finding.runs, finding.of)}.",
        WARMING,
        f"Leave them out: add {finding.seconds:.0f} s of warm-up.",
    )


@said.register
def unsettled(finding: Unsettled) -> Said:
    first, last = finding.ends_ms
    return Said(
        f"{_lead(finding)}latency never settles{in_runs(finding.runs, finding.of)}: it goes from {ms(first)} to "
        f"{ms(last)} during the run.",
        SETTLED,
        "Look for what fills up, keep the data from growing, or run longer.",
    )


def _lead(finding: ColdStart | Unsettled) -> str:
    return lead(finding.subject, "all requests together" if finding.where.endpoint == TOTAL else "")


def in_runs(runs: float, of: float) -> str:
    """ " in 3 of 5 runs"; "" for a single run."""
    return f" in {runs:.0f} of {of:.0f} runs" if of > 1 else ""


@said.register
def two_modes(finding: TwoModes) -> Said:
    is_all = finding.where.endpoint == TOTAL
    (low, high), share = finding.modes_ms, percent(finding.above)
    fast, slow = _range(low, finding.low_range_ms), _range(high, finding.high_range_ms)
    first, who, second = {
        "low": (fast, "the requests that failed", slow),
        "high": (slow, "the requests that failed", fast),
        None: (slow, f"{share} of the requests", fast),
    }[finding.failed]
    advice = "Look at failed and successful requests apart: percentiles of both describe neither."
    if finding.failed is None:
        advice = "Compare the endpoints one by one." if is_all else _causes(finding)
    return Said(
        f"{lead(finding.subject, 'all endpoints together' if is_all else '')}latencies are of two kinds, {first} for "
        f"{who} and {second} for the others.",
        MODES,
        advice,
    )


def _range(mode: float, ends: tuple[float, float]) -> str:
    if _is_narrow(ends):
        return f"around {rough_ms(mode)}"
    return f"mostly between {rough_ms(ends[0])} and {rough_ms(ends[1])}"


def _is_narrow(ends: tuple[float, float]) -> bool:
    return ends[1] <= WIDE * ends[0]


def _causes(finding: TwoModes) -> str:
    """Possible causes, by the distance of the modes, if they have one."""
    apart = finding.modes_ms[1] - finding.modes_ms[0]
    has_distance = _is_narrow(finding.low_range_ms) and _is_narrow(finding.high_range_ms)
    known = [name for wait, name in WAITS_MS if has_distance and abs(apart / wait - 1) <= NEAR]
    return f"Find out what the slower ones have in common. Hypotheses: {', '.join((*known, OTHERS))}."


@said.register
def mixed(finding: MixedEndpoints) -> Said:
    failing = ", where most requests of one of the two fail" if finding.is_failed else ""
    return Said(
        f"{lead(finding.subject)}percentiles of all together mix {several(finding.fast)} (none above "
        f"{ms(finding.fast_max_ms)}) with {several(finding.slow)} (none below {ms(finding.slow_min_ms)}){failing}.",
        MIXED,
        "Compare the endpoints one by one.",
    )


@said.register
def backlog(finding: GrowingBacklog) -> Said:
    served = finding.served_per_s
    excess = f" by {percent(finding.backlog_per_s / served)}" if served else ""
    return Said(
        f"{lead(finding.subject)}arrivals exceed the {number(served)} requests/s that the target serves{excess}: the "
        f"backlog grows by {number(finding.backlog_per_s)} requests/s.",
        BACKLOG,
        f"Offer less than {number(served)} requests/s: these latencies only tell how long the run was.",
    )


@said.register
def left(finding: LeftUnanswered) -> Said:
    return Said(
        f"{lead(finding.subject)}{number(finding.unanswered)} of {counted(finding.requests, 'request')} had no "
        f"response when the run ended: {number(finding.arrivals_per_s)} arrivals/s are more than the target serves.",
        LEFT,
        "Offer less: these latencies only tell how long the run was.",
    )


@said.register
def durations(finding: UnequalDurations) -> Said:
    short = [f"{named(run)} {seconds_text(seconds)}" for run, seconds in finding.short]
    longest = seconds_text(max(seconds for _, _, seconds in finding.seconds))
    return Said(
        f"Runs{at(finding.level)} differ in length: {several(short)}, others up to {longest}"
        f"{' (requests / rate)' if finding.is_derived else ''}.",
        LENGTHS,
        "Give all the same time.",
        {f"seconds of {variant} #{repeat}": seconds for variant, repeat, seconds in finding.seconds},
    )


@said.register
def floor(finding: WithinChance) -> Said:
    low, high = (signed_percent(end, ".2g") for end in finding.interval)
    return Said(
        f"{named(finding.subject)} against {finding.where.against}: throughput differs by "
        f"{signed_percent(finding.ratio, '.2g')}, no more than chance makes of such counts ({low} to {high}).",
        COUNTING,
        "Repeat both, in turns, before saying that one is faster.",
    )
