"""Findings about the size of replies: PAYLOAD, PLAN."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.say.findings.said import Said, said
from plimsoll.say.names import named, row
from plimsoll.say.numbers import between, change, number, signed_percent
from plimsoll.stats.findings.lists import CutList, GrowingList, OtherPlan
from plimsoll.stats.findings.payload import CERTAIN, CHANCE, DIFFERS, LONGER_NUMBERS, GrowingReplies, OtherSizes

if TYPE_CHECKING:
    from plimsoll.stats.findings.finding import Evidence

SIZES = (
    f"mean sizes of replies that differ by more than {DIFFERS * 100:.0f} % mean that the variants did not do the same, "
    f"unless replies of random size or a random mix of requests explain it: the difference must be certain by "
    f"{DIFFERS * 100:.0f} % (t test at {CERTAIN * 100:.0f} %, at least {CHANCE} standard errors; between runs, or "
    "between the seconds of single ones)"
)
GROWTH = (
    f"mean size of replies in the last quarter of the run's whole seconds without failures more than "
    f"{DIFFERS * 100:.0f} %, {LONGER_NUMBERS} bytes and {CHANCE} standard errors above that in the first: then a "
    "variant that answers faster asks itself for more work"
)
LISTS = (
    "rows of a list = (size − 1) / (size of the reply to creating one + 1), derived from JSON; taken as confirmed when "
    "that is half of the rows created (within 10 %: the list grows from nothing) or always the same whole number (a "
    "limit)"
)
PLAN = "a plan's Limit says how many rows a query returns at most; replies that carry more were not made by that query"


@said.register
def sizes(finding: OtherSizes) -> Said:
    before, after = finding.bytes
    return Said(
        f"{row(finding.subject)}: replies of {finding.where.variant} have {number(after)} bytes, those of "
        f"{finding.where.against} {number(before)} ({change(finding.ratio)}): not the same work.",
        SIZES,
        "Make both return the same, with data of a fixed size that is reset before each run.",
    )


@said.register
def growth(finding: GrowingReplies) -> Said:
    first, last = finding.first_bytes, finding.last_bytes
    return Said(
        f"{named(finding.subject)}: replies grow during the run, from {number(first)} to {number(last)} bytes "
        f"({change(last / first)}), so requests become more work.",
        GROWTH,
        "Reset the data before each run, or bound what is returned; and compare per row.",
    )


@said.register
def growing_list(finding: GrowingList) -> Said:
    counts = [entry.rows for entry in finding.variants]
    compared = []
    evidence: dict[str, Evidence] = {"derived": "rows from sizes of replies"}
    for entry in finding.variants:
        evidence[f"rows of {entry.variant}"] = entry.rows
        evidence[f"expected rows of {entry.variant}"] = entry.expected
        evidence[f"ms_per_row of {entry.variant}"] = entry.ms_per_row
        if finding.baseline is not None and entry is not finding.baseline:
            per_row = entry.ms_per_row / finding.baseline.ms_per_row
            mean = entry.mean_ms / finding.baseline.mean_ms
            evidence[f"per_row_ratio of {entry.variant}"] = per_row
            evidence[f"mean_ratio of {entry.variant}"] = mean
            compared.append(f"{entry.variant} {signed_percent(per_row, '.0f')} (mean {signed_percent(mean, '.0f')})")
    against = (
        f"; per row, against {finding.baseline.variant}: {', '.join(compared)}" if finding.baseline and compared else ""
    )
    return Said(
        f"{named(finding.subject)} returns {between(f'{min(counts):.0f}', f'{max(counts):.0f}')} rows a reply (derived "
        f"from sizes): the list grows during the run, so a faster variant makes its own requests slower{against}.",
        LISTS,
        "Fill in a fixed number of rows and reset them before each run.",
        evidence,
    )


@said.register
def cut_list(finding: CutList) -> Said:
    first, previous = finding.against
    compared = [f"{change(finding.ratio_to_first)} bytes against {first}"]
    if previous != first:
        compared.append(f"{change(finding.ratio_to_previous)} bytes against {previous}")
    does = "changes the work" if finding.is_change else f"does not do the work of {first}"
    return Said(
        f"{finding.where.variant} {does}: {named(finding.subject)} returns {finding.rows:.0f} rows whatever was "
        f"created (derived from sizes; {', '.join(compared)}).",
        LISTS,
        "It is another request: compare it only with variants that return as many rows.",
    )


@said.register
def plan(finding: OtherPlan) -> Said:
    return Said(
        f"{named(finding.subject)}: the collected plan has a limit of {finding.plan_rows:.0f} rows, but replies carry "
        f"{finding.rows:.0f} (derived from their size): it is the plan of another query.",
        PLAN,
        "Collect the plan of the very statement that the service sends.",
    )
