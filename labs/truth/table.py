"""Lines for people, as Markdown, which also reads well on a terminal."""

from collections.abc import Sequence

from benches.table import table

from .line import Line, Verdict

HEAD = ("case", "figure", "truth", "reported", "tolerance", "verdict")


def render(lines: Sequence[Line]) -> str:
    """All lines, and the number that pass."""
    rows = [(line.case, line.quantity, line.truth, line.reported, line.tolerance, line.verdict.value) for line in lines]
    return f"{table(HEAD, rows, words=len(HEAD))}\n\n{summary(lines)}\n"


def folded(lines: Sequence[Line]) -> list[Line]:
    """The same, with the hundreds of equal counts as one line."""
    equal = [line for line in lines if line.case.startswith("counts") and line.verdict is Verdict.HOLDS]
    if not equal:
        return list(lines)
    runs = len({line.case for line in equal})
    one = Line(f"counts, {runs} runs", f"{len(equal)} counts", "…", "…", "equal", Verdict.HOLDS)
    return [one, *(line for line in lines if line not in equal)]


def summary(lines: Sequence[Line]) -> str:
    counts = {verdict: sum(line.verdict == verdict for line in lines) for verdict in Verdict}
    return ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count) + "."
