"""`plimsoll capacity`."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.common import INTERRUPTED, INVALID, say, store_option
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.load.durations import duration_text, parse_duration, parse_length
from plimsoll.load.shapes import shape_flags

if TYPE_CHECKING:
    from plimsoll.capacity.search import Settings
    from plimsoll.stats.capacity.estimate import Capacity, CapacityProbe
    from plimsoll.stats.study import LoadUnit
    from plimsoll.stats.thresholds.grammar import Threshold

_TAKEN = ("-u", "--users", "-r", "--spawn-rate", "-t", "--run-time", *shape_flags())
_OVERHEAD = 2.0
"""Seconds that starting and reporting a run take, about."""
_RUNS = 18
"""Runs until the confirming ones, about."""


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  plimsoll capacity plan.toml --slo 'p99 < 200ms, errors < 0.1%'
  plimsoll capacity http://127.0.0.1:8000/ --slo 'p99 < 50ms' --from 100 --time 5s
  plimsoll capacity -f shop.py -H http://127.0.0.1:8000 --users --slo 'p95 of "GET /cart" < 300ms' --from 5 --to 500

The exit code is 0 when there is an answer, 1 when the objective is not met at any load, 2 for what cannot be run, 3
when the generator, not the target, was the limit.""",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[URL | PLAN | TARGETS | -f FILE] [OPTIONS OF run]")
@click.option("--slo", required=True, metavar="THRESHOLDS", help="The objective: 'p99 < 200ms, errors < 0.1%'.")
@click.option("--users", "by_users", is_flag=True, help="Look for users (closed model) instead of arrivals per second.")
@click.option("--from", "start", type=float, help="The load to try first (default: 10/s, or 1 user).")
@click.option("--to", "most", type=float, help="No load above this is tried (default: 100000/s, or 10000 users).")
@click.option("-t", "--time", "length", default="10s", show_default=True, help="Measured in each run.")
@click.option("--warmup", default="2s", show_default=True, help="At the beginning of each run, left out.")
@click.option("--cool-down", default="1s", show_default=True, help="Between runs.")
@click.option("--width", default="5%", show_default=True, help="Relative width at which halving ends.")
@click.option("--confirm", type=click.IntRange(6, 200), default=12, show_default=True, help="Confirming runs.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the order, and of the users.")
@click.option("--json", "json_file", metavar="FILE", help='Write all of it as JSON; "-" is stdout.')
@click.option("--md", metavar="FILE", help='Write it as Markdown; "-" is stdout.')
@click.option("--picture", metavar="FILE", help="Draw it: FILE.svg or FILE.png.")
@store_option
@click.pass_context
def capacity(ctx: click.Context, /, words: tuple[str, ...], store: str | None, **given: Any) -> None:
    """Find the highest load at which a service meets an objective, as a range with its confidence.

    The load is doubled until the objective breaks, then halved, and then confirmed by runs around the place, in random
    order. Each run is kept like any other. What follows is passed on to `plimsoll run`.
    """
    ctx.exit(_capacity(words, store, given))


def _capacity(words: tuple[str, ...], store: str | None, given: dict[str, Any]) -> int:
    from plimsoll.capacity.prober import Prober
    from plimsoll.capacity.search import search
    from plimsoll.run.options.command import read_words
    from plimsoll.stats.capacity.estimate import capacity as found_by
    from plimsoll.stats.thresholds.slo import parse_slo
    from plimsoll.store import Store

    criteria = parse_slo(given["slo"])
    settings = _settings(given)
    _check(words, given)
    run = read_words(words)
    warmup, cool_down = parse_duration(given["warmup"]), parse_duration(given["cool_down"])
    log = _SearchLog(settings, criteria)
    interrupted = False
    with Store.open(store) as opened, tempfile.TemporaryDirectory(prefix="plimsoll-capacity-") as folder:
        prober = Prober(
            run, settings, criteria, opened, store, Path(folder), warmup=warmup, cool_down=cool_down, tell=log.probe
        )
        each = settings.seconds + warmup + cool_down + _OVERHEAD
        runs = _RUNS + settings.confirm
        say(f"about {runs} runs of {duration_text(each)}: {duration_text(runs * each)}")
        try:
            search(settings, prober, say)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted and not log.probes:
        return INTERRUPTED
    found = found_by(log.probes, settings.unit)
    _report(found, log, given)
    if interrupted:
        say("interrupted: this is what is known so far")
        return INTERRUPTED
    return _exit_code(found, log.probes)


def _exit_code(found: Capacity, probes: list[CapacityProbe]) -> int:
    if found.high is None and not found.failed and any(each.invalid for each in probes):
        return INVALID
    return 1 if found.load is None else 0


@dataclass(slots=True)
class _SearchLog:
    """Prints a line for each run of the search, and keeps the runs in case it is interrupted."""

    settings: Settings
    criteria: tuple[Threshold, ...]
    probes: list[CapacityProbe] = field(default_factory=list)

    def probe(self, probe: CapacityProbe) -> None:
        from plimsoll.report.numbers import quantity

        self.probes.append(probe)
        unit = "users" if self.settings.unit == "users" else "/s"
        values = ", ".join(
            f"{each.criterion.subject} {quantity(each.value, each.criterion.unit, at_least=each.at_least)}"
            for each in probe.strains
        )
        verdict = f"invalid: {probe.invalid[0]}" if probe.invalid else "met" if probe.passed else "broken"
        say(f"  {probe.load:>10.5g} {unit:<5}  {values}  {verdict}")


def _settings(given: dict[str, Any]) -> Settings:
    from plimsoll.capacity.search import Settings

    unit: LoadUnit = "users" if given["by_users"] else "/s"
    start = given["start"] if given["start"] is not None else 1.0 if unit == "users" else 10.0
    most = given["most"] if given["most"] is not None else 10_000.0 if unit == "users" else 100_000.0
    if start <= 0:
        raise UsageError("--from: a load is above 0")
    if most < start:
        raise UsageError(f"--to {most:g} is below --from {start:g}")
    try:
        width = float(given["width"].removesuffix("%")) / 100
    except ValueError:
        width = 0.0
    if not 0 < width < 1 or not given["width"].endswith("%"):
        raise UsageError(f"--width {given['width']}: a share between 0% and 100%, as 5%")
    return Settings(
        unit=unit, start=start, most=most, seconds=parse_length(given["length"]), width=width,
        confirm=given["confirm"], seed=given["seed"],
    )  # fmt: skip


def _check(words: tuple[str, ...], given: dict[str, Any]) -> None:
    for word in words:
        if word.partition("=")[0] in _TAKEN:
            raise UsageError(
                f"{word}: the search says how much load there is; --from and --to bound it, --time is its -t"
            )
    if not words:
        raise UsageError("capacity of what? Give a URL, a plan, or -f locustfile.py -H http://…")
    picture = given["picture"]
    if picture is not None and Path(picture).suffix not in (".svg", ".png"):
        raise UsageError(f"--picture {picture}: its name ends in .svg or .png")
    for path in (given["json_file"], given["md"], picture):
        if path not in (None, "-") and not Path(path).resolve().parent.is_dir():
            raise UsageError(f"cannot write {path}: there is no folder {Path(path).resolve().parent}")


def _report(found: Capacity, log: _SearchLog, given: dict[str, Any]) -> None:
    from plimsoll.report.document.capacity import capacity_document
    from plimsoll.report.render.capacity_json import document as json_document
    from plimsoll.report.render.console import console
    from plimsoll.report.render.markdown import markdown
    from plimsoll.report.render.terminal import shows_ansi

    unit, criteria = log.settings.unit, log.criteria
    command = shlex.join(["plimsoll", *sys.argv[1:]])
    on_stdout = "-" in (given["json_file"], given["md"])
    document = capacity_document(found, log.probes, unit, criteria, command)
    colour = shows_ansi(sys.stderr if on_stdout else sys.stdout)
    click.echo(console(document, colour=colour), err=on_stdout, color=True)
    if given["json_file"]:
        content = json_document(found, log.probes, unit, criteria, command)
        _write(given["json_file"], (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
    if given["md"]:
        _write(given["md"], markdown(document).encode())
    if given["picture"]:
        _draw(found, log, given["picture"])


def _draw(found: Capacity, log: _SearchLog, path: str) -> None:
    from plimsoll.report.document.capacity import chart
    from plimsoll.report.render.pictures import png, svg

    picture = chart(found, log.probes, log.settings.unit, log.criteria)
    _write(path, svg(picture).encode() if path.endswith(".svg") else png(picture))


def _write(path: str, data: bytes) -> None:
    if path == "-":
        click.echo(data, nl=False)
        return
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise PlimsollError(f"cannot write {path}: {error.strerror}") from error
