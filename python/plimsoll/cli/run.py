"""`plimsoll run`: Locust's options, read from where Locust reads them."""

from __future__ import annotations

import json
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import click

from plimsoll import __version__
from plimsoll.cli.parts.common import VERSION, ask_for_public_load, on_a_terminal
from plimsoll.cli.parts.workers import attach, await_workers, join_master, master_of, placed_workers
from plimsoll.errors import UnknownOptionError, UsageError
from plimsoll.locust.inspectuser import ratio_lines
from plimsoll.locust.script.describe import describe
from plimsoll.run.guard import MANY_USERS, Place, check_places, places_of
from plimsoll.run.options.command import RunCommand, run_parameters, words_of
from plimsoll.run.planned import check_receivers
from plimsoll.run.planning import make_outputs, make_plan, refuse_not_here
from plimsoll.run.program import refuse_elsewhere
from plimsoll.run.transport.spawning import end_unused, started_ahead

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from plimsoll.run.options.command import RunWords
    from plimsoll.run.plan import RunPlan
    from plimsoll.run.planned import Outputs
    from plimsoll.run.planning import RunInput


_ALIKE = 0.8
"""An option is offered instead of an unknown one if they are as alike as this; 1 is the same."""
_OTHER_TOOLS = {
    "--duration": "-t 30s",
    "--vus": "-u 10",
    "--concurrency": "-u 10",
    "--connections": "-u 10",
    "--rps": "--rate 100/s",
    "--qps": "--rate 100/s",
    "--latency": "--print-stats; every report has percentiles",
    "--num-requests": "--requests 1000",
    "--iterations-per-vu": "--iterations 10",
}
"""Options of k6, oha, hey, wrk, vegeta and ab, and how they are written here."""


@click.command(
    cls=RunCommand,
    params=run_parameters(),
    context_settings={"ignore_unknown_options": True},
    epilog="""\b
Examples:
  plimsoll run                                           locustfile.py here: the page asks for the rest
  plimsoll run shop.py -H http://127.0.0.1:8000 -u 50 -r 5 -t 2m --autostart --autoquit 0
  plimsoll run -f shop.py Buyer -u 8 -t 30s -s 10s --headless
                                                         only the class Buyer; running tasks may finish for 10 s
  plimsoll run -f shop.py -u 2000 --processes -1 --csv results/shop --headless
  plimsoll run http://127.0.0.1:8000/ -u 50 -t 10s       no locustfile: one URL, users without Python
  plimsoll run http://127.0.0.1:8000/ --rate 900/s -t 2m the open model: 900 arrivals per second
  plimsoll run grpc://127.0.0.1:50051/hello.Greeter/SayHello --proto hello.proto -d '{"name": "x"}'
                                                         a call of gRPC, again and again
  plimsoll run plan.toml --threshold 'p99 < 200ms'       a plan: flows, data, phases
  plimsoll run targets.txt --rate 100/s -t 30s           the targets of a vegeta file in turn
  plimsoll run -f shop.py --stages 30s:100/s,2m:900/s    a locustfile in the open model
  plimsoll run plan.toml --dry-run                       what would be sent where; nothing is
  plimsoll run plan.toml --allow-hosts '*.staging.example.com,10.0.0.0/8' --max-rate 500/s
                                                         no load on other hosts, and never more than that
  plimsoll run -f shop.py -H http://shop.test -u 9000 --on ssh:hosts.txt
                                                         workers on other hosts, started and ended by this command

While it runs there is a page at http://127.0.0.1:8089. With a locustfile it waits there for somebody to start a run,
and goes on serving afterwards; a URL, a plan or targets are run at once, and the process ends with the run.

Options are also read from PLIMSOLL_… and LOCUST_… variables, ~/.locust.conf, ./locust.conf and [tool.locust] of
./pyproject.toml. The exit code is 0, or 1 after failures or a threshold that does not hold, 2 for what cannot be run, 3
when the load was not the load asked for.""",
)
@click.version_option(__version__, "-V", "--version", prog_name="plimsoll", message=VERSION)
@click.pass_context
def run(ctx: click.Context, /, **_: Any) -> None:
    """Load a service with the users of a locustfile, with a plan, or with one URL, and keep the run."""
    try:
        ctx.exit(_run(words_of(ctx)))
    except UnknownOptionError as unknown:
        known = [name for parameter in ctx.command.params for name in parameter.opts]
        meant = get_close_matches(str(unknown).partition("=")[0], known, n=1, cutoff=_ALIKE)
        name = str(unknown).partition("=")[0]
        if name in _OTHER_TOOLS:
            raise click.UsageError(f"no such option: {name}; here it is {_OTHER_TOOLS[name]}", ctx) from unknown
        raise click.NoSuchOption(str(unknown), possibilities=meant, ctx=ctx) from unknown


def _run(words: RunWords) -> int:
    if words.places_workers:
        refuse_elsewhere("--cluster", words.given["cluster"])
        refuse_elsewhere("--on", words.given["on"])
        # Only here: few runs have one.
        from plimsoll.run.placers.request import as_master

        words = as_master(words)
    given = words.given
    if given["worker"] or given["attach"]:
        end_unused()
    if given["worker"]:
        refuse_not_here(words.arguments)
        return join_master(words)
    if given["attach"]:
        return attach(words)
    plan, source = make_plan(words.arguments, given)
    plan = replace(plan, command=("plimsoll", *sys.argv[1:]))
    if given["list_classes"] or given["show_task_ratio"] or given["show_task_ratio_json"]:
        _print_description(plan, given)
        return 0
    outputs = make_outputs(given, plan, source, words.secret)
    if given["dry_run"]:
        from plimsoll.cli.parts.dry_run import dry_run

        check_receivers(outputs, has_page=not given["headless"])
        return dry_run(plan, outputs.out, time.time(), given["summary"])
    with _workers_ahead(plan, outputs, given):
        return _perform(words, plan, source, outputs)


def _workers_ahead(plan: RunPlan, outputs: Outputs, given: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Within the block the workers of a run of this machine that begins at once are starting."""
    if plan.joined or not _begins_at_once(plan, given):
        end_unused()
        return nullcontext()
    count, is_native = plan.processes + plan.has_main_node, plan.scenario is not None
    return started_ahead(count, capture=outputs.shows_table, is_native=is_native)


def _begins_at_once(plan: RunPlan, given: Mapping[str, Any]) -> bool:
    """Nobody has to start it at its page."""
    return given["headless"] or given["autostart"] or not plan.locustfiles


def _perform(words: RunWords, plan: RunPlan, source: RunInput, outputs: Outputs) -> int:
    given = words.given
    # Not before: what only prints need not import what a run needs. Nor does a run without a page need a server.
    from plimsoll.run.perform import check_run, perform

    check_run(replace(plan, has_page=not given["headless"]), outputs)
    if plan.locustfiles and (given["master"] or not given["headless"]):
        # Before anybody waits for the run to begin.
        from plimsoll.locust.script.form import refuse_unknown_options

        refuse_unknown_options(plan)
    _ask(plan, given)
    with master_of(given) as master, placed_workers(words, master):
        if not given["headless"]:
            from plimsoll.cli.parts.run_page import run_with_page
            from plimsoll.server.control.run_requests import RunRequests

            return run_with_page(RunRequests(words, plan, source), given, master)
        if master is not None and given["on"] is None:
            await_workers(master, given)
        return perform(plan, outputs, master=master)


def _ask(plan: RunPlan, given: Mapping[str, Any]) -> None:
    """Before a run that begins at once; who starts one at the page is not asked here."""
    if given["yes"] or not on_a_terminal() or not _begins_at_once(plan, given):
        return
    hosts: list[Place] = []
    if plan.locustfiles and plan.host is None and plan.most_users > MANY_USERS:
        from plimsoll.locust.script.form import describe_form

        hosts = [Place(each.host) for each in describe_form(plan).classes if each.host]
    check_places(plan.rails, [*places_of(plan), *hosts])
    ask_for_public_load([plan], hosts, yes=False)


def _print_description(plan: RunPlan, given: Mapping[str, Any]) -> None:
    if plan.scenario is not None:
        raise UsageError("a run without a locustfile has no user classes to describe")
    description = describe(plan.locustfiles, plan.arguments, given["users"])
    if given["list_classes"]:
        click.echo("Available Users:")
        click.echo("\n".join(f"    {name}" for name in description["classes"]))
    elif given["show_task_ratio_json"]:
        ratios = {"per_class": description["per_class"], "total": description["total"]}
        click.echo(json.dumps(ratios, indent=4))
    else:
        for title, part in (("Task ratio per User class", "per_class"), ("Total task ratio", "total")):
            click.echo("\n".join([f"\n {title}", "-" * 80, *ratio_lines(description[part])]))
