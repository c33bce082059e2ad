"""Findings about how numbers were made: ORDER, TIES, STEP, LITTLE, GEN, RETRANS, REPLAY, NAMES, CORRECTED, CAP, LINK,
CONNECT and TOKENS."""

from __future__ import annotations

from plimsoll.record import OTHERS
from plimsoll.say.durations import ms, range_of_ms
from plimsoll.say.findings.said import Said, said
from plimsoll.say.names import at, folded_names, lead, named, naming_hint, several
from plimsoll.say.numbers import amount, count, counted, counted_users, number, percent, whole_percent
from plimsoll.stats.findings.caps import NEAR, CeilingCap, FullLink, OpenFilesCap, SharedCap
from plimsoll.stats.findings.connections import MANY, ManyConnections
from plimsoll.stats.findings.generators import (
    ACHIEVED,
    AGAIN,
    AGAIN_TIMES,
    CPU,
    LATE_MS,
    LATE_SHARE,
    LEAST_AGAIN,
    SAME_MIX,
    SENT,
    CorrectedTimes,
    FoldedNames,
    LossyMachine,
    ReplayedLog,
    SaturatedGenerator,
)
from plimsoll.stats.findings.littles_law import BrokenLaw, LawHolds, UserPause
from plimsoll.stats.findings.rounding import COARSE, CoarseSteps, Disorder, EqualPercentiles, MaximaAsPercentiles
from plimsoll.stats.findings.tokens import TokensByChunk
from plimsoll.stats.generator import LEAST_SECONDS, LINK_FULL
from plimsoll.stats.little import IMPOSSIBLE, MISSING

ORDER = "min ≤ p50 ≤ … ≤ p99 ≤ max, within one step of the tool's rounding: otherwise one of the numbers is wrong"
TIES = (
    "Locust takes the value at rank n − int(n · q) from the top: its p99 is the maximum of up to 100 requests, its p95 "
    "of up to 20, and p95 < p99 needs at least 21"
)
STEP = (
    "two times that differ by no more than the tool's rounding count as equal; steps above "
    f"{COARSE * 100:.0f} % are reported"
)
LITTLE = (
    "r = X · (R + Z) / N, with the users that were there on average while they were being started, is within "
    f"1 − R_max/T − 0.02 … 1.02 (0.05 for a mean guessed from p50 and p95): above {IMPOSSIBLE} the numbers are "
    f"impossible, below {MISSING} users, timeouts or failures are unaccounted for. Open model: r = X · R / requests in "
    "flight, if enough of them were counted"
)
GENERATOR = (
    f"the generator began at least {ACHIEVED * 100:.0f} % of the arrivals, or nothing is compared; it sent 99 % of the "
    f"requests at most {LATE_MS:g} ms or {LATE_SHARE * 100:.0f} % of the target's p50 late, and used at most "
    f"{CPU * 100:.0f} % of a core"
)
NAMES = (
    f'no request is counted as "{OTHERS[1]}": names get rows of their own, up to --max-names, in the order of their '
    "first requests; with several workers a row may lack requests of its name that another worker counted as others"
)
CORRECTED = (
    "a correction for coordinated omission is right for one requester that waits for each reply; arrivals at a rate "
    "need none when latency counts from the intended time, and the correction adds requests that never were"
)
LINK = (
    f"in most of the measured seconds of a run, of at least {LEAST_SECONDS}, requests or responses are at least "
    f"{LINK_FULL * 100:.0f} % of the speed that the network interface on the way to the target says it has; what "
    "TCP/IP adds is not in them, and runs with workers on other machines are left out"
)
REPLAY = (
    f"at least {whole_percent(SENT)} of the requests of the log are sent, and at most {whole_percent(SAME_MIX)} of "
    "them would have to be of other endpoints to have the mix of the log; 99 % of them are sent within the stated time "
    "after the one that the log gives them"
)
AGAIN_RULE = (
    f"a machine sends at least {LEAST_AGAIN} TCP segments again, at least one for each {1 / AGAIN:.0f} requests, and "
    f"{AGAIN_TIMES} times as many for each request as the other machines: what is lost at the target, or on the common "
    "way to it, is alike for all"
)
FILES = (
    "arrivals per second × the longest time is how many connections may have been open at once; if that is above the "
    "limit of open files, the limit may have made the failures and latencies"
)
TIMEOUT = (
    "p99 is the same at half or more of the endpoints, or lies within 2 % of 5, 10, 30 or 60 s with nothing beyond: "
    "requests end when a time limit does, not when the target is done"
)
CONNECTIONS = (
    f"at least {MANY * 100:.0f} % of the requests, without the first one of each user, open a connection: a target and "
    "a client that keep connections open them once"
)
TOKENS = (
    "tokens are those of the usage that the server sends; without it each chunk with content counts as one, although "
    "a chunk may have several tokens"
)
FIND_LIMIT = "Find the time limit (client, proxy, database); beyond it the real times are not known."
INCLUDE_USAGE = '"stream_options": {"include_usage": true}'


@said.register
def disorder(finding: Disorder) -> Said:
    (low, less), (high, more) = finding.low, finding.high
    return Said(
        f"{lead(finding.subject)}{low} {ms(less)} is above {high} {ms(more)}, which no set of requests can give.",
        ORDER,
        "Look the row up where it came from: a digit is missing, or two cells are swapped.",
        {f"{low}_ms": less, f"{high}_ms": more},
    )


@said.register
def maxima(finding: MaximaAsPercentiles) -> Said:
    rows = [f"{named(run)} ({requests})" for run, requests in finding.rows]
    return Said(
        f"The p99 of {several(rows)} is the single largest of at most 100 requests.",
        TIES,
        "Longer runs: a p99 needs 368 requests for an interval at all.",
        {f"requests of {named(run)}": requests for run, requests in finding.rows},
    )


@said.register
def ties(finding: EqualPercentiles) -> Said:
    return Said(
        f"p50, p95 and p99 are the same for {several([named(run) for run, _ in finding.rows])}: one or two requests, "
        "or times that all round alike.",
        TIES,
        "The table tells no counts; do not compare these percentiles.",
        {f"p50_p95_p99_ms of {named(run)}": time for run, time in finding.rows},
    )


@said.register
def step(finding: CoarseSteps) -> Said:
    return Said(
        f"{finding.tool if finding.tool != 'unknown' else 'The table'} tells its percentiles in steps of up to "
        f"{whole_percent(finding.step)} ({ms(finding.step_ms)} at {ms(finding.at_ms)}): smaller differences cannot be "
        "seen.",
        STEP,
        "Compare only what differs by more.",
    )


@said.register
def law_broken(finding: BrokenLaw) -> Said:
    meaning = {
        "impossible": "the numbers cannot be of one and the same run",
        "missing": "users were missing, or requests were not counted (timeouts, failures)",
        "doubtful": "more than the edges of the run explain",
        "holds": "",
    }[finding.word]
    in_flight = f"{counted(finding.users, 'request')} in flight"
    return Said(
        f"{lead(finding.subject)}throughput × latency accounts for {percent(finding.ratio)} of "
        f"{in_flight if finding.is_open else counted_users(finding.users)}: {meaning}.",
        LITTLE,
        "Check that users, duration, counts and mean latency are of the same run, and that users do not pause.",
    )


@said.register
def pause(finding: UserPause) -> Said:
    return Said(
        f"{lead(finding.subject)}users pause {range_of_ms(1000 * end for end in finding.pause_s)} between two requests "
        f"(users / throughput − latency{at(finding.level)}).",
        LITTLE,
        "Give the pause with --think, so that the other levels can be checked.",
    )


@said.register
def law_holds(finding: LawHolds) -> Said:
    cut = unchecked = were = ""
    if finding.is_cut_off:
        verb = "was" if finding.is_known else "may have been"
        cut = f"; the {percent(finding.deficit or 0.0)} that is missing {verb} cut off at the end of the runs"
    if finding.unknown:
        unchecked = f"; {counted(finding.unknown, 'other')} could not be checked"
        were = f" that {'was' if finding.checked == 1 else 'were'} checked"
    if finding.with_own_work:
        more = counted(finding.with_own_work, "more run")
        unchecked = f"; in {more} users spent part of their time outside requests{unchecked}"
    return Said(
        f"Little's law holds in {len(finding.ratios)} of {counted(finding.checked, 'run')}{were}: users, throughput "
        f"and latency fit together{cut}{unchecked}.",
        LITTLE,
        "Users hardly pause, so read throughput and mean latency as one result, not as two."
        if finding.never_pause
        else "",
    )


@said.register
def generator(finding: SaturatedGenerator) -> Said:
    reasons = []
    if finding.achieved is not None:
        reasons.append(f"{percent(finding.achieved)} of the arrivals were begun")
    if finding.lag_p99_ms is not None:
        reasons.append(f"1 % of the requests left more than {ms(finding.lag_p99_ms)} late")
    if finding.cpu is not None:
        reasons.append(f"it used {whole_percent(finding.cpu)} of a core")
    what = "was the limit" if finding.achieved is not None else "may have added to the times"
    return Said(
        f"{lead(finding.subject)}the load generator {what}: {'; '.join(reasons)}.",
        GENERATOR,
        "More workers, a lower rate, or a machine of its own for the generator.",
    )


@said.register
def replay(finding: ReplayedLog) -> Said:
    late = "" if finding.lag_p99_ms is None else f", 99 % of them at most {ms(finding.lag_p99_ms)} after their time"
    is_log = finding.weight == "insight"
    return Said(
        f"{lead(finding.subject)}{count(finding.sent)} of {counted(int(finding.logged), 'request')} of the log were "
        f"sent{late}; their mix differs from the log's by {percent(finding.mix_difference)}.",
        REPLAY,
        "" if is_log else "Let the run reach its end, with enough users at a time (max_users) and generators.",
    )


@said.register
def lossy_machine(finding: LossyMachine) -> Said:
    per_thousand, of_others = number(1000 * finding.for_each_request), number(1000 * finding.of_others)
    return Said(
        f"{lead(finding.subject)}{finding.machine} sent {number(finding.retransmissions)} TCP segments again, "
        f"{per_thousand} for each 1000 requests, and the other machines {of_others}: its network loses packets, and "
        "its latencies contain the waits for them.",
        AGAIN_RULE,
        f"Look at the network of {finding.machine}: errors and drops of its interface, limits of a virtual machine. Or "
        "leave it out of the run.",
    )


@said.register
def names(finding: FoldedNames) -> Said:
    who = "This run" if finding.runs is None else counted(finding.runs, "run")
    return Said(folded_names(finding.names, finding.requests, who), NAMES, naming_hint(finding.pattern))


@said.register
def corrected(finding: CorrectedTimes) -> Said:
    return Said(
        f"The percentiles of {counted(finding.runs, 'run')} at a given rate were corrected for coordinated omission "
        "afterwards: they count requests that were never sent, so how far they are off is not known.",
        CORRECTED,
        "Record latency from the intended send time: then nothing is omitted.",
    )


@said.register
def files(finding: OpenFilesCap) -> Said:
    return Said(
        f"{lead(finding.subject)}{number(finding.rate_per_s)}/s for up to {ms(1000 * finding.max_s)} may have needed "
        f"{number(finding.connections)} connections at once, more than the {number(finding.limit)} files that may be "
        "open: a cap on resources cannot be excluded.",
        FILES,
        "Raise the limit on all machines and run it again before calling it the target's limit.",
    )


@said.register
def shared_limit(finding: SharedCap) -> Said:
    return Said(
        f"{lead(finding.subject)}p99 is {ms(finding.p99_ms)} at {finding.endpoints} of {finding.of} endpoints, which "
        "looks like a time limit that they share, not like what each takes.",
        TIMEOUT,
        FIND_LIMIT,
    )


@said.register
def ceiling(finding: CeilingCap) -> Said:
    limit = finding.limit_ms
    return Said(
        f"{lead(finding.subject)}p99 is {ms(finding.p99_ms)} and nothing took more than {ms(limit * (1 + NEAR))}: "
        f"requests may have ended at a time limit of {ms(limit)}.",
        TIMEOUT,
        FIND_LIMIT,
    )


@said.register
def connections(finding: ManyConnections) -> Said:
    mean = f" of a mean of {ms(finding.mean_ms)}" if finding.mean_ms else ""
    return Said(
        f"{lead(finding.subject)}{percent(finding.share)} of the requests open a connection of their own, which takes "
        f"{ms(finding.connecting_ms)}{mean}.",
        CONNECTIONS,
        "Keep connections open: look for `Connection: close` or a limit on kept connections at the target, and for "
        "users who begin a new session with each request.",
    )


@said.register
def tokens(finding: TokensByChunk) -> Said:
    _, name = finding.where.endpoint or ("", "")
    some = "in some responses " if finding.is_some else ""
    return Said(
        f"{name}: {some}the server sent no usage, so {number(finding.chunks)} chunks are counted as tokens; "
        f"{INCLUDE_USAGE} in the body of the request gives real counts.",
        TOKENS,
    )


@said.register
def full_link(finding: FullLink) -> Said:
    what = {"received": "it receives responses at", "sent": "it sends requests at"}[finding.direction]
    return Said(
        f"{lead(finding.subject)}the network interface {finding.interface} of the load generator is full: {what} "
        f"{amount(finding.used_mbit_s)} of {number(finding.mbit_s)} Mbit/s ({finding.seconds} of "
        f"{counted(finding.of_seconds, 'second')}), so the target may be able to do more.",
        LINK,
        "Send the load from several machines, or through a faster interface; then run it again.",
    )
