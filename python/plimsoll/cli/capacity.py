"""`plimsoll capacity`."""

from __future__ import annotations

import shlex
import sys
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.parts.common import (
    INTERRUPTED,
    INVALID,
    ask_for_public_load,
    notify_function,
    say,
    store_option,
)
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.load.durations import parse_duration, parse_length
from plimsoll.load.shapes.registry import shape_flags
from plimsoll.report.writing import check_writable, replaced_file
from plimsoll.run.options.parameter import TableOption
from plimsoll.run.options.table import table_option
from plimsoll.say.durations import duration_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plimsoll.capacity.search import Settings
    from plimsoll.report.sources import StudySource
    from plimsoll.run.plan import RunPlan
    from plimsoll.stats.capacity.estimate import Capacity
    from plimsoll.stats.capacity.probe import CapacityProbe
    from plimsoll.stats.study import LoadUnit
    from plimsoll.store import Store

_TAKEN = ("-u", "--users", "-r", "--spawn-rate", "-t", "--run-time", *shape_flags())
_OVERHEAD = 2.0
"""Seconds that starting and reporting a run take, about."""
_RUNS = 10
"""Runs until the confirming ones, about."""


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  plimsoll capacity plan.toml --slo 'p99 < 200ms, errors < 0.1%'
  plimsoll capacity http://127.0.0.1:8000/ --slo 'p99 < 50ms' --from 100 --time 5s
  plimsoll capacity plan.toml --slo 'p99 < 200ms, errors < 0.1%' --resume      go on after Ctrl-C, a crash or a kill
  plimsoll capacity -f shop.py -H http://127.0.0.1:8000 --users --slo 'p95 of "GET /cart" < 300ms' --from 5 --to 500

The exit code is 0 when there is an answer, 1 when the objective is not met at any load, 2 for what cannot be run, 3
when the generator, not the target, was the limit (with --strict also when its share of a figure is too large), 130
when it was interrupted.""",
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
@click.option(
    "--name", metavar="NAME", help="What the search is called in the store (default: after what is searched)."
)
@click.option("--resume", is_flag=True, help="Go on with a search that was interrupted; its runs are not repeated.")
@click.option("--fresh", is_flag=True, help="Start over; runs of a search of this name no longer count.")
@click.option("--strict", is_flag=True, help="Exit with 3 also if the generator may have added too much to a figure.")
@click.option("--json", "json_file", metavar="FILE", help='Write all of it as JSON; "-" is stdout.')
@click.option("--md", metavar="FILE", help='Write it as Markdown; "-" is stdout.')
@click.option("--picture", metavar="FILE", help="Draw it: FILE.svg or FILE.png.")
@click.option("--notify", cls=TableOption, row=table_option("--notify"))
@store_option
@click.pass_context
def capacity(ctx: click.Context, /, words: tuple[str, ...], store: str | None, **given: Any) -> None:
    """Find the highest load at which a service meets an objective, as a range with its confidence.

    The load is doubled until the objective breaks, then halved, and then confirmed by runs around the place, in random
    order. The answer is fitted to all runs. Each run is stored like any other, and the search as an experiment. Other
    options are passed on to `plimsoll run`.
    """
    ctx.exit(_capacity(words, store, given))


def _capacity(words: tuple[str, ...], store: str | None, given: dict[str, Any]) -> int:
    from plimsoll.capacity.kept import KeptSearch, kept_file, runs_over, short_name, take_up
    from plimsoll.capacity.prober import Prober
    from plimsoll.capacity.search import search
    from plimsoll.redact import redact_options
    from plimsoll.run import interrupts
    from plimsoll.run.guard import check_places, places_of
    from plimsoll.run.manifest import plain_words, plan_files
    from plimsoll.run.options.command import read_words
    from plimsoll.stats.thresholds.slo import parse_slo
    from plimsoll.store import Store

    notify = notify_function(given["notify"])
    criteria = parse_slo(given["slo"])
    settings = _settings(given)
    _check(words, given)
    run = read_words(words)
    pauses = {name: parse_duration(given[name]) for name in ("warmup", "cool_down")}
    with Store.open(store) as opened, tempfile.TemporaryDirectory(prefix="plimsoll-capacity-") as folder:
        prober = Prober(run, settings, store, Path(folder), **pauses)
        settings = _within_limits(settings, prober.first.plan, is_given=given["most"] is not None)
        check_places(prober.first.plan.rails, places_of(prober.first.plan))
        ask_for_public_load([prober.planned(settings.most, 1, "last").plan], yes=run.given["yes"])
        files = plan_files(prober.first.plan)
        variant = short_name(prober.source.source or files[0])
        command = shlex.join(plain_words(redact_options(["plimsoll", *sys.argv[1:]], run.secret)))
        file = kept_file(settings, criteria, variant=variant, pauses=pauses, words=words, files=files, command=command)
        kept = take_up(opened, given["name"], f"capacity-{variant}", file, resume=given["resume"], fresh=given["fresh"])
        states = opened.experiments.states(kept.key)
        _announce(kept.name, settings, sum(pauses.values()), runs_over(states))
        measure = KeptSearch(opened, kept, settings, criteria, variant, prober, partial(_say_probe, settings.unit))
        is_finished = False
        try:
            with interrupts.orderly():
                search(settings, measure, say)
            is_finished = True
        except KeyboardInterrupt:
            states = opened.experiments.states(kept.key)
            if not runs_over(states):
                say("interrupted before the first run was over")
                return INTERRUPTED
        finally:
            opened.experiments.leave(kept.key, finished=is_finished)
        source, code = _report(opened, kept.name, given)
        if is_finished:
            notify(source, code)
    if not is_finished:
        say("interrupted: this is what is known so far; the same command with --resume goes on")
        return INTERRUPTED
    return code


def _announce(name: str, settings: Settings, pauses: float, done: int) -> None:
    """done: runs of earlier sessions."""
    if done:
        say(f"search {name} goes on after {done} runs")
        return
    runs = _RUNS + settings.confirm
    each = settings.seconds + pauses + _OVERHEAD
    say(f"search {name}: about {runs} runs of {duration_text(each)}: {duration_text(runs * each)}")


def _say_probe(unit: LoadUnit, probe: CapacityProbe) -> None:
    from plimsoll.say.numbers import quantity

    values = ", ".join(
        f"{each.criterion.subject} {quantity(each.value, each.criterion.unit, at_least=each.at_least)}"
        for each in probe.results
    )
    verdict = f"does not count: {probe.invalid[0]}" if probe.invalid else "met" if probe.passed else "broken"
    say(f"  {probe.load:>10.5g} {'users' if unit == 'users' else '/s':<5}  {values}  {verdict}")


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


def _within_limits(settings: Settings, plan: RunPlan, *, is_given: bool) -> Settings:
    """With no higher load than the guard rails allow. is_given: --to says how high. Raises UsageError if it is more."""
    from plimsoll.run.guard import requests_each

    name = "max_users" if settings.unit == "users" else "max_rate"
    cap = getattr(plan.rails, name)
    if cap is None:
        return settings
    each = requests_each(plan.scenario) if plan.scenario and name == "max_rate" else 1.0
    if settings.most * each <= cap.value:
        return settings
    if is_given:
        raise UsageError(f"--to {settings.most:g}: more than {plan.rails.said(name)}")
    return replace(settings, most=cap.value / each)


def _check(words: tuple[str, ...], given: dict[str, Any]) -> None:
    if given["resume"] and given["fresh"]:
        raise UsageError("--fresh contradicts --resume: start again, or go on")
    for word in words:
        if word == "--dry-run":
            raise UsageError("--dry-run: a search is not known beforehand; plimsoll run --dry-run describes one run")
        if word.partition("=")[0] in _TAKEN:
            raise UsageError(
                f"{word}: the search says how much load there is; --from and --to bound it, --time is its -t"
            )
    if not words:
        raise UsageError("capacity of what? Give a URL, a plan, or -f locustfile.py -H http://…")
    picture = given["picture"]
    if picture is not None and Path(picture).suffix not in (".svg", ".png"):
        raise UsageError(f"--picture {picture}: its name ends in .svg or .png")
    if picture is not None:
        from plimsoll.report.render.pictures import converter

        converter()
    for path in (given["json_file"], given["md"], picture):
        if path not in (None, "-") and not Path(path).resolve().parent.is_dir():
            raise UsageError(f"cannot write {path}: there is no folder {Path(path).resolve().parent}")
        check_writable(path)


def _report(store: Store, name: str, given: dict[str, Any]) -> tuple[StudySource, int]:
    """Print the answer and write the files that were asked for; the source of both, and the exit code."""
    from plimsoll.experiment.study import study_of
    from plimsoll.report import outputs
    from plimsoll.report.document.study import document_of
    from plimsoll.report.render.pictures import png, svg
    from plimsoll.report.render.terminal import shows_ansi
    from plimsoll.report.sources import OutputRequest, StudySource
    from plimsoll.stats.analysis import analyse
    from plimsoll.stats.capacity.estimate import capacity as answer_of

    study = study_of(store, name)
    assert study.search is not None
    source = StudySource(analyse(study))
    on_stdout = "-" in (given["json_file"], given["md"])
    request = OutputRequest(study.command, colour=shows_ansi(sys.stderr if on_stdout else sys.stdout))
    click.echo("\n" + outputs.text(source, "text", request), err=on_stdout, color=True, nl=False)
    for path, format in ((given["json_file"], "json"), (given["md"], "md")):
        if path == "-":
            click.echo(outputs.text(source, format, request), nl=False)
        elif path:
            outputs.write(source, format, path, request)
    if picture := given["picture"]:
        (chart,) = document_of(source).charts
        _write(picture, svg(chart).encode() if picture.endswith(".svg") else png(chart))
    say(f"stored as {name}: `plimsoll report {name}` shows it again")
    return source, _exit_code(answer_of(study.search.probes), study.search.probes, strict=given["strict"])


def _exit_code(found: Capacity, probes: Sequence[CapacityProbe], *, strict: bool) -> int:
    if found.ending == "unknown" or found.generator is not None:
        return INVALID
    if strict and not all(each.is_clean for each in probes if not each.invalid):
        return INVALID
    return 1 if found.ending == "unmet" else 0


def _write(path: str, content: bytes) -> None:
    try:
        with replaced_file(Path(path)) as file:
            file.write(content)
    except OSError as error:
        raise PlimsollError(f"cannot write {path}: {error.strerror}") from error
