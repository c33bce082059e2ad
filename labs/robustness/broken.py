"""Finds the guarantees that a run has broken."""

from collections.abc import Iterator
from typing import Any

from .promise import Promise
from .protocols import HTTP
from .scene import Observation
from .trial import Trial

END_S = 1.0
"""The load may end this much later than it should, plus the time in which the machine itself was stopped."""
UNSTAMPED_S = 1.0
"""The same for targets that know only when they have read something, not when the kernel had it."""
PEAK_BYTES = 400 << 20
NONE_FAIL = {False: frozenset[int](), True: frozenset({0})}
"""Further exit codes, by whether the target fails no request on purpose."""
UNWRITTEN = "run.json: Input/output error"
"""What a command says that could not write its report to a file."""
UNSENT = ("connect", "tls", "dropped")
"""Outcomes of requests that did not reach the target."""


def broken(trial: Trial, seen: Observation) -> Iterator[str]:
    """A sentence for each."""
    promise = trial.disturbance.promise
    if seen.exit_code is None:
        yield "the command did not end"
    elif seen.exit_code not in (codes := promise.exit_codes | NONE_FAIL[trial.protocol != HTTP]):
        expected = " or ".join(map(str, sorted(codes)))
        yield f"the exit code is {seen.exit_code}, and should be {expected}"
    if "Traceback" in seen.words or "panicked" in seen.words:
        yield "a traceback is shown"
    if "Traceback" in seen.show_words:
        yield "`plimsoll show` shows a traceback"
    if seen.left:
        yield f"{len(seen.left)} of its processes did not end"
    if seen.peak_bytes > PEAK_BYTES:
        yield f"a process took {seen.peak_bytes >> 20} MiB; at most {PEAK_BYTES >> 20}"
    yield from _load_end(trial, promise, seen)
    yield from _records(trial, promise, seen)


def _load_end(trial: Trial, promise: Promise, seen: Observation) -> Iterator[str]:
    end = seen.arrivals[0] + trial.seconds
    if promise.ends_with == "moment":
        end = min(end, seen.moment + promise.load_ends_after)
    late = seen.arrivals[-1] - end
    if late > END_S + seen.stall + (UNSTAMPED_S if trial.protocol != HTTP else 0.0):
        yield f"the load ended {late:.1f} s late"


def _records(trial: Trial, promise: Promise, seen: Observation) -> Iterator[str]:
    # The rules of a failing disk hold for the report's file, too; the command says so then, and prints the report.
    if promise.has_report and seen.report is None and UNWRITTEN not in seen.words:
        yield "there is no report"
    if promise.has_store and seen.stored is None:
        yield f"the store has no run that can be read: {seen.show_words.strip()}"
    found = len(seen.arrivals)
    for name, document in (("the report", seen.report), ("the store", seen.stored)):
        if document is None:
            continue
        least, most = messages(document) if trial.protocol == "ws" else received(document, promise)
        is_valid = document["validity"]["valid"]
        if promise.is_invalid and not any(each["state"] == "failed" and each["text"] for each in _checks(document)):
            yield f"{name} does not say that the run is invalid"
        lost = 0 if is_valid else _may_be_lost(name, promise, seen)
        if not least <= found <= most + lost:
            called = "is called valid" if is_valid else f"may lose {lost} requests"
            yield f"{name} {called}, and speaks of {least} to {most} requests; the target received {found}"


def _checks(document: dict[str, Any]) -> list[dict[str, Any]]:
    """None if the run is called valid."""
    validity = document["validity"]
    return [] if validity["valid"] else list(validity["checks"])


def _may_be_lost(name: str, promise: Promise, seen: Observation) -> int:
    """Requests that may be missing in a document of an invalid run. Exit code 2 means that the run reported an
    incomplete store."""
    if name == "the store" and seen.exit_code == 2:
        return len(seen.arrivals)
    before, after = promise.loses
    return sum(seen.moment - before <= each <= seen.moment + after for each in seen.arrivals) if before else 0


def received(document: dict[str, Any], promise: Promise) -> tuple[int, int]:
    """The minimum and maximum number of requests that the target has received, if this document is right."""
    outcomes = {name: int(each["count"]) for name, each in document["total"]["outcomes"].items()}
    most = sum(outcomes.values()) - sum(outcomes.get(name, 0) for name in UNSENT)
    unsure = outcomes.get("unanswered", 0)
    if promise.may_fail_unsent:
        unsure = most - outcomes.get("success", 0)
    return most - unsure, most + int(document["total"].get("retries", 0))


def messages(document: dict[str, Any]) -> tuple[int, int]:
    """The same of messages of WebSockets, each of which is answered."""
    rows = {each["method"]: each for each in document["endpoints"]}
    sent, answered = rows.get("message out"), rows.get("WS receive")
    most = int(sent["requests"]) if sent else 0
    least = int(answered["outcomes"].get("success", {"count": 0})["count"]) if answered else 0
    return least, most
