"""`plimsoll run`: Locust's options, read from where Locust reads them."""

from __future__ import annotations

import json
import os
import secrets
import sys
from pathlib import Path
from typing import Any

import click

from plimsoll.cli.options import store_option
from plimsoll.cli.run_command import RunCommand
from plimsoll.cli.run_options import NOT_YET, OPTIONS
from plimsoll.errors import UsageError
from plimsoll.run import locustfile
from plimsoll.run.describe import describe, ratio_lines
from plimsoll.run.options import UnknownOption
from plimsoll.run.plan import RunPlan


@click.command(
    cls=RunCommand,
    params=OPTIONS,
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  plimsoll run                                           locustfile.py here, one user, until Ctrl-C
  plimsoll run -f shop.py -H http://127.0.0.1:8000 -u 50 -r 5 -t 2m
  plimsoll run -f shop.py Buyer -u 8 -t 30s -s 10s       only the class Buyer; running tasks may finish for 10 s
  plimsoll run -f shop.py -u 2000 --processes -1 --csv results/shop
  plimsoll run http://127.0.0.1:8000/ -u 50 -t 10s       no locustfile: one URL, users without Python

Options are also read from LOCUST_… variables, ~/.locust.conf, ./locust.conf and [tool.locust] of ./pyproject.toml.
The exit code is 0, or 1 after failures, 2 for what cannot be run, 3 when a worker was lost.""",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[URL | CLASS…]", envvar="LOCUST_USER_CLASSES")
@store_option
@click.pass_context
def run(ctx: click.Context, /, arguments: tuple[str, ...], **given: Any) -> None:
    """Load a service with the users of a locustfile, or with one URL, and keep the run."""
    try:
        ctx.exit(_run(tuple(ctx.meta.get("settings", ())) + arguments, given))
    except UnknownOption as unknown:
        known = [name for parameter in ctx.command.params for name in parameter.opts]
        raise click.NoSuchOption(str(unknown), possibilities=known, ctx=ctx) from unknown


def _run(arguments: tuple[str, ...], given: dict[str, Any]) -> int:
    plan = make_plan(arguments, given)
    if given["list_classes"] or given["show_task_ratio"] or given["show_task_ratio_json"]:
        _print_description(plan, given)
        return 0
    # Not before: what only prints need not import a database.
    from plimsoll.run.perform import Outputs, perform

    if not given["headless"]:
        click.echo("plimsoll: there is no web page yet; this run goes on without one, like --headless", err=True)
    json_file = given["json_file"]
    outputs = Outputs(
        store=given["store"],
        name=given["name"],
        csv=given["csv"],
        csv_full_history=given["csv_full_history"],
        json=given["as_json"],
        json_file=f"{json_file.removesuffix('.json')}.json" if json_file else None,
        only_summary=given["only_summary"],
    )
    return perform(plan, outputs, ["plimsoll", *sys.argv[1:]])


def make_plan(arguments: tuple[str, ...], given: dict[str, Any]) -> RunPlan:
    """The plan that a command line describes. Raises PlimsollError."""
    url = next((each for each in arguments if each.startswith(("http://", "https://"))), None)
    if url and len(arguments) > 1:
        other = next(each for each in arguments if each != url)
        raise UnknownOption(other) if other.startswith("-") else UsageError(f"a URL and {other!r} do not go together")
    if url:
        from plimsoll.run.address import origin_of

        origin_of(url)
    if given["csv_full_history"] and not given["csv"]:
        raise UsageError("--csv-full-history needs --csv")
    return RunPlan(
        locustfiles=() if url else tuple(str(path) for path in locustfile.find(given["locustfile"])),
        url=url,
        arguments=() if url else _user_classes(arguments),
        host=given["host"],
        users=given["users"],
        spawn_rate=given["spawn_rate"],
        run_time=given["run_time"],
        stop_timeout=given["stop_timeout"],
        processes=_processes(given["processes"]),
        tags=given["tags"],
        exclude_tags=given["exclude_tags"],
        equal_weights=given["equal_weights"],
        reset_stats=given["reset_stats"],
        seed=given["seed"] if given["seed"] is not None else secrets.randbits(32),
        loglevel=given["loglevel"].upper(),
        logfile=given["logfile"] and str(Path(given["logfile"]).absolute()),
        skip_log_setup=given["skip_log_setup"],
        exit_code_on_error=given["exit_code_on_error"],
        options=(
            ("csv_prefix", given["csv"]),
            ("stats_history_enabled", given["csv_full_history"]),
            ("only_summary", given["only_summary"]),
            ("print_stats", given["print_stats"]),
            ("json", given["as_json"]),
            ("json_file", given["json_file"]),
            ("config", given["config"]),
        ),
    )


def _user_classes(arguments: tuple[str, ...]) -> tuple[str, ...]:
    for each in arguments:
        if each.endswith(".py"):
            raise UsageError(f"{each}: a locustfile is named with -f: plimsoll run -f {each}")
        if each.partition("=")[0] in NOT_YET:
            raise UsageError(f"{each.partition('=')[0]} is an option of Locust that is not supported yet")
    return arguments


def _processes(number: int) -> int:
    if number == -1:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if number < 1:
        raise UsageError(f"--processes {number}: a number of processes, or -1 for one per core")
    return number


def _print_description(plan: RunPlan, given: dict[str, Any]) -> None:
    if plan.url:
        raise UsageError("a run without a locustfile has no user classes to describe")
    description = describe(plan.locustfiles, plan.arguments)
    if given["list_classes"]:
        click.echo("Available Users:")
        click.echo("\n".join(f"    {name}" for name in description["classes"]))
    elif given["show_task_ratio_json"]:
        ratios = {"per_class": description["per_class"], "total": description["total"]}
        click.echo(json.dumps(ratios, indent=4))
    else:
        lines = ["Task ratio per User class", *ratio_lines(description["per_class"]), ""]
        click.echo("\n".join([*lines, "Total task ratio", *ratio_lines(description["total"])]))
