"""The peers' figures as Markdown: two tables, and the commands that made them."""

from collections.abc import Iterator

from benches.table import table

from ..line import milliseconds
from .runs import Peers, Row
from .tools import QUANTILES

TITLES = {
    "fixed": "Every reply takes 5 ms. True: the target's record of that very run.",
    "freeze": (
        "The same, and everything stands still for the last second of every five. True: what clients see who do not "
        "wait for one another, 500 of them a second."
    ),
}


def render(peers: Peers) -> str:
    """For each case a table; then versions and commands; then what is missing."""
    blocks = []
    for case, title in TITLES.items():
        rows = [cells(row) for row in peers.rows if row.case == case]
        if rows:
            blocks += [title, table(head(), rows, words=len(head()))]
    blocks.append("\n".join(commands(peers)))
    blocks += [f"Not measured: {line}" for line in peers.missing]
    return "\n\n".join(blocks) + "\n"


def head() -> list[str]:
    names = [f"p{quantile * 100:g}" for quantile in QUANTILES]
    return ["ms", *(f"true {name}" for name in names), *(f"said {name}" for name in names), "requests", "warns"]


def cells(row: Row) -> tuple[str, ...]:
    true, reported = map(milliseconds, row.truth), map(milliseconds, row.figures.percentiles)
    return row.tool, *true, *reported, f"{row.received:,}", "yes" if row.figures.warning else "no"


def commands(peers: Peers) -> Iterator[str]:
    """One line for each tool; the same command serves both cases."""
    known: dict[str, str] = {}
    for row in peers.rows:
        known.setdefault(row.tool, row.command)
    for name, command in known.items():
        yield f"- {name} ({peers.versions[name]}): `{command}`"
