"""The results as Markdown, which is also readable on a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from . import grpc
from .bars import Bar
from .nginx import LARGE_BYTES, ORDER, SMALL_BYTES
from .others import QUIET_CPUS
from .results import Results
from .turns import WINDOW_SECONDS

TITLES = {
    "/small": f"{SMALL_BYTES} bytes",
    "/large": f"{LARGE_BYTES:,} bytes",
    "/orders": f"JSON, {len(ORDER)} bytes",
    grpc.PATH: f"call, {grpc.REPLY_BYTES} bytes",
    "/echo": "message",
    "/events": "event",
}


def render(results: Results, bars: Sequence[Bar]) -> str:
    """Everything, in the order: costs, arrivals, idle users, many users, instructions, bars, what is missing."""
    blocks = [header(results), *doubt(results), table(COST_HEAD, cost_rows(results), words=2)]
    if results.open:
        blocks.append(table(OPEN_HEAD, open_rows(results)))
    if results.idle:
        blocks.append(table(("idle users", "users", "KiB per user"), idle_rows(results)))
    if results.scale:
        blocks.append(table(SCALE_HEAD, scale_rows(results)))
    if results.instructions is not None:
        blocks.append(f"Native loop: {results.instructions:,.0f} instructions per exchange (callgrind).")
    if bars:
        blocks.append(table(("bar", "measured", "limit", "verdict"), bar_rows(bars), words=4))
    blocks += [f"Not measured: {line}" for line in results.missing]
    return "\n\n".join(blocks) + "\n"


COST_HEAD = ("generator", "reply", "users", "µs CPU / request", "of it workers", "× wrk", "requests/s", "peak MiB")
OPEN_HEAD = (
    "open model", "arrivals/s", "achieved", "lag p50", "lag p99", "lag max", "delay p99, ms", "µs CPU / request",
    "of it coordinator",
)  # fmt: skip
SCALE_HEAD = (
    "many users", "users", "KiB per user", "MiB in all", "requests/s", "µs CPU / request", "lag p99, ms", "errors",
    "sources",
)  # fmt: skip


def header(results: Results) -> str:
    machine = results.machine
    versions = ", ".join(sorted(set(results.versions.values())))
    return (
        f"`{results.command}` on {results.started}: {machine['cpu']}, {machine['cpus']} CPUs, "
        f"{machine['system']}, Linux {machine['kernel']}, Python {machine['python']}, commit {machine['commit']}; "
        f"{versions}. Medians of windows of {WINDOW_SECONDS:g} s in turns, others of {results.window:g} s."
    )


def doubt(results: Results) -> list[str]:
    """A warning if unrelated work used the machine."""
    others = results.others_cpus()
    if others <= QUIET_CPUS:
        return []
    return [f"**Doubtful:** other work took {others:.2f} CPUs meanwhile. Costs are too high, and ratios uncertain."]


def cost_rows(results: Results) -> Iterator[tuple[str, ...]]:
    keys = [key for costs in results.groups for key in costs]
    for name, path, users in sorted(keys, key=lambda key: (list(TITLES).index(key[1]), key[2])):
        cost = results.cost(name, path, users)
        # Only locustfiles place orders: compare a realistic one with the minimal cost of any request.
        wrk = results.ratio((name, path, users), ("wrk", "/small" if path == "/orders" else path, users))
        if cost:
            ratio = f"{wrk.value:.2f}" if wrk else "–"
            rate, peak = f"{cost.requests_per_second:,.0f}", f"{cost.peak_mb:,.0f}"
            workers = f"{cost.workers_us:.2f}" if cost.workers_us else "–"
            yield name, TITLES[path], f"{users:,}", f"{cost.cpu_us:.2f}", workers, ratio, rate, peak


def idle_rows(results: Results) -> Iterator[tuple[str, ...]]:
    for name, idle in results.idle.items():
        yield name, f"{idle.users:,}", f"{idle.kib_per_user:.1f}"


def open_rows(results: Results) -> Iterator[tuple[str, ...]]:
    for name, rate in sorted(results.open):
        if cost := results.open_cost(name, rate):
            times = (cost.lag_p50_ms, cost.lag_p99_ms, cost.lag_max_ms, cost.delay_p99_ms)
            costs = (cost.cpu_us, cost.coordinator_us)
            yield (
                name,
                f"{rate:,}",
                f"{cost.achieved:.1%}",
                *(f"{each:.3f}" for each in times),
                *map("{:.2f}".format, costs),
            )


def scale_rows(results: Results) -> Iterator[tuple[str, ...]]:
    for (name, users), cost in results.scale.items():
        memory = f"{cost.kib_per_user:.1f}", f"{cost.resident_mb:,.0f}"
        pace = f"{cost.requests_per_second:,.0f}", f"{cost.cpu_us:.1f}", f"{cost.lag_p99_ms:.3f}"
        yield name, f"{users:,}", *memory, *pace, f"{cost.errors:,}", f"{cost.sources}"


def bar_rows(bars: Sequence[Bar]) -> Iterator[tuple[str, ...]]:
    for bar in bars:
        sign = "≥" if bar.at_least else "≤"
        interval = " [{:.2f}, {:.2f}]".format(*bar.interval) if bar.interval else ""
        yield bar.what, f"{bar.measured:.2f}{interval} {bar.unit}", f"{sign} {bar.limit:g}", bar.verdict


def table(head: Sequence[str], rows: Iterable[tuple[str, ...]], words: int = 1) -> str:
    """A Markdown table, also aligned as plain text: the first `words` columns left, figures right."""
    lines = [tuple(head), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]

    def row(cells: Sequence[str]) -> str:
        padded = [
            cell.ljust(width) if column < words else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * (width + 1) + ("-" if column < words else ":") for column, width in enumerate(widths)]
    return "\n".join([row(lines[0]), f"|{'|'.join(rule)}|", *map(row, lines[1:])])
