"""The sentences of messages: how a run, an experiment or a comparison ended, and what was not delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from plimsoll.say.numbers import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

NoticeVerdict = Literal["passed", "failed", "invalid"]

_OF_A_RUN: dict[NoticeVerdict, str] = {
    "passed": "passed",
    "failed": "failed",
    "invalid": "is invalid: its load was not the load that was asked for",
}


def run_notice_title(run: str, name: str, verdict: NoticeVerdict) -> str:
    """run: its id. name: of its scenario."""
    return f"Run {run} ({name}) {_OF_A_RUN[verdict]}."


def invalid_line(reason: str) -> str:
    return f"Invalid: {reason}."


def threshold_line(text: str, outcome: str, detail: str) -> str:
    return f"Threshold {text}: {outcome}. {detail}"


def study_notice_title(name: str, verdict: NoticeVerdict, regressions: int) -> str:
    """name: of the experiment, or of what is compared."""
    match verdict:
        case "failed":
            return f"{name}: {counted(regressions, 'certain regression')}."
        case "invalid":
            return f"{name} is invalid: what was asked about is unknown."
        case _:
            return f"{name}: no certain regression."


_OF_A_SEARCH: dict[NoticeVerdict, str] = {
    "passed": "the capacity is known",
    "failed": "the objective is not met at any load",
    "invalid": "the capacity is not known",
}


def search_notice_title(name: str, verdict: NoticeVerdict) -> str:
    """name: of the search for capacity."""
    return f"{name}: {_OF_A_SEARCH[verdict]}."


def comparison_lines(lines: Iterable[tuple[str, str]]) -> list[str]:
    """lines: what is compared, and what came of it."""
    return [f"{subject}: {result}" for subject, result in lines]


def undelivered_text(messages: int, reason: str, spans: int = 0) -> str:
    """messages: seconds and events that a receiver did not take. reason: why. spans: sampled and failed requests for
    which there was no room."""
    parts = []
    if messages:
        parts.append(f"{counted(messages, 'message')} not delivered: {reason}")
    if spans:
        requests, have = counted(spans, "sampled or failed request"), "has" if spans == 1 else "have"
        parts.append(f"{requests} {have} no span: of a second a worker keeps 200 sampled and 50 other failed ones")
    return "; ".join(parts)


def partly_written(written: int, samples: int) -> str:
    """written: of the samples of a message."""
    return f"the receiver has written {written} of {counted(samples, 'sample')}"
