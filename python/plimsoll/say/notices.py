"""The sentences of a message that says how a run, an experiment or a comparison ended."""

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
