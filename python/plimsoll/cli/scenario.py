"""`plimsoll scenario`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli.parts.common import say
from plimsoll.cli.parts.scenario_files import (
    SUFFIXES,
    AccessLogs,
    check_free,
    check_output,
    write_files,
    write_mix,
    write_replay_plan,
)
from plimsoll.cli.parts.scenario_proof import minimised, proven
from plimsoll.errors import UsageError
from plimsoll.say.scenarios import file_not_written, scenario_made

if TYPE_CHECKING:
    from collections.abc import Callable

    from plimsoll.sources.draft import ScenarioDraft
    from plimsoll.sources.making import ScenarioFiles

_OWN_FLAGS = ("--prove", "--minimise", "--force")


class ScenarioCommand(click.Command):
    """Takes a command of curl as it is pasted: all words from `curl` on are one source."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        start = next((number for number, word in enumerate(args) if _is_curl(args, number)), None)
        if start is not None:
            # Options of this command may follow the pasted one. curl has no options with these names.
            own = [word for word in args[start:] if word in _OWN_FLAGS]
            words = [word for word in args[start:] if word not in _OWN_FLAGS]
            if len(words) > 2 and words[-2] in ("-o", "--output") and words[-1].endswith(SUFFIXES):
                # This option names the file of the scenario: a reply that curl saves has another suffix.
                own += words[-2:]
                words = words[:-2]
            args = [*args[:start], *own, "--", shlex.join(words)]
        return super().parse_args(ctx, args)


def _is_curl(args: list[str], number: int) -> bool:
    return args[number] in ("curl", "curl.exe") and (number == 0 or args[number - 1] not in ("-o", "--output"))


@click.command(
    cls=ScenarioCommand,
    epilog="""\b
Sources, detected by their contents:
  HAR recordings of browsers and proxies, one, or two of the same flow
  collections of Postman (2.0, 2.1), Insomnia (4, 5) and Bruno, and .http or .rest files of JetBrains and VS Code
  descriptions of APIs in JSON or YAML (OpenAPI 3, Swagger 2), and test plans of JMeter (.jmx)
  commands of curl: typed, in a file, or from the standard input ("Copy as cURL" of a browser)
  access logs of nginx, Apache, Traefik, Caddy, Envoy, HAProxy, IIS, CloudFront, ALB: a mix of requests

\b
Examples:
  plimsoll scenario curl http://127.0.0.1:8000/todos/ -H 'Accept: application/json'
  plimsoll scenario -o plan.toml curl -X POST http://127.0.0.1:8000/todos/ --json '{"title": "x"}'
  plimsoll scenario commands.sh -o locustfile.py
  plimsoll scenario first.har second.har -o plan.toml --prove
  plimsoll scenario shop.postman_collection.json --set base=http://127.0.0.1:8000 -o plan.toml
  plimsoll scenario flow.har --hosts 'shop.test,*.shop.test' --assets
  plimsoll scenario access.log access.log.1.gz -H http://127.0.0.1:8000 -o mix.toml
  plimsoll scenario app.jsonl --log-format 'method=verb,path=http.url,status=code,time=ts' -o mix.toml
  plimsoll scenario access.log --replay --speed 2 -H http://127.0.0.1:8000 -o replay.toml
  wl-paste | plimsoll scenario - -o plan.toml""",
)
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True)
@click.option(
    "-o", "--output", metavar="FILE", help="A plan (.toml) or a locustfile (.py); by default a plan on stdout."
)
@click.option(
    "--hosts",
    metavar="PATTERNS",
    default="",
    help="Hosts of a recording to keep: 'shop.test,*.shop.test', or all; by default the site of the first request.",
)
@click.option("--assets", is_flag=True, help="Keep images, stylesheets, scripts and fonts of a recording.")
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    help="The value of a variable of the source: {{base}} in Postman and .http files, a parameter of OpenAPI.",
)
@click.option("-k", "--insecure", is_flag=True, help="The plan does not check the certificates of its targets.")
@click.option("-H", "--host", metavar="URL", help="Of an access log: the base URL of the target.")
@click.option(
    "--log-format",
    metavar="FORMAT",
    help="Of an access log that is not recognized: its format as nginx's log_format or Apache's LogFormat has it, or "
    "the keys of JSON lines: 'method=http.method,path=url.path,status=code,time=@timestamp'; also query, request, "
    "duration=KEY:ms, client, session.",
)
@click.option("--replay", is_flag=True, help="Of an access log: each of its requests again, at its time.")
@click.option(
    "--speed",
    type=click.FloatRange(min=0.001, max=1000),
    metavar="FACTOR",
    help="With --replay: 2 is twice as fast; 1 by default.",
)
@click.option(
    "--prove",
    is_flag=True,
    help="Replay it with one user, with a second one and with 10 at once: is each reply as recorded?",
)
@click.option(
    "--minimise",
    is_flag=True,
    help="Replay it without its static headers, and leave out those that it does not need; then --prove.",
)
@click.option("--force", is_flag=True, help="Replace files that exist.")
def scenario(
    sources: tuple[str, ...],
    output: str | None,
    hosts: str,
    assets: bool,
    given: tuple[str, ...],
    insecure: bool,
    host: str | None,
    log_format: str | None,
    replay: bool,
    speed: float | None,
    prove: bool,
    minimise: bool,
    force: bool,
) -> None:
    """Write a plan or a locustfile from recordings, commands of curl, and collections of requests.

    A value that a request sends and that an earlier reply had is taken from that reply. Credentials are not written
    into the file: a plan reads them from a file beside it, a locustfile from environment variables. What the source
    says and the scenario does not do is listed. With --prove the exit code is 1 if a step is not proven.
    """
    from plimsoll.sources.access_logs.reading import check_kinds, is_access_log, log_hint
    from plimsoll.sources.making import given_variables, make_draft, written
    from plimsoll.sources.selection import SelectionRules

    if output is not None:
        check_output(output)
    if log_format is None:
        check_kinds(sources)
    if log_format is not None or is_access_log(sources[0]):
        refused = {"--hosts": hosts, "--set": given, "--insecure": insecure, "--prove": prove, "--minimise": minimise}
        if word := next((name for name, value in refused.items() if value), None):
            raise UsageError(f"{word} is not for access logs, which have neither hosts nor variables nor replies")
        log = AccessLogs(sources, log_format, host, assets=assets)
        if replay:
            write_replay_plan(log, output, 1.0 if speed is None else speed, force=force)
        else:
            if speed is not None:
                raise UsageError("--speed is for --replay; the rate of a mix is in its [[phase]]")
            write_mix(log, output, force=force)
        return
    if replay or speed is not None:
        raise UsageError(f"{'--replay' if replay else '--speed'} is for access logs, and {sources[0]} is none")
    try:
        draft = make_draft(sources, SelectionRules(hosts, assets), given_variables(given))
    except UsageError as error:
        if hint := log_hint(sources[0]):
            raise UsageError(hint) from error
        raise
    if host is not None:
        raise UsageError("--host is for access logs; a recording has the hosts, and -H of plimsoll run replaces them")
    if insecure:
        draft.targets = [replace(item, connection=replace(item.connection, verify=False)) for item in draft.targets]
    tell = say if output is None else click.echo
    if minimise:
        check_free([Path(output)] if output else [], force=force)
        draft = minimised(draft, tell)

    def files_of(made: ScenarioDraft) -> ScenarioFiles:
        stem = Path(output).stem if output else "scenario"
        return written(made, stem, Path(output or "").parent, as_locustfile=bool(output and output.endswith(".py")))

    files = files_of(draft)
    if output is None:
        click.echo(files.text, nl=False)
    else:
        write_files(Path(output), files, force=force)
    _report(draft, files, output, tell)
    rewrite = None if output is None else lambda made: write_files(Path(output), files_of(made), force=True)
    if (prove or minimise) and not proven(draft, output, tell, None if minimise else rewrite):
        click.get_current_context().exit(1)


def _report(draft: ScenarioDraft, files: ScenarioFiles, output: str | None, tell: Callable[[str], None]) -> None:
    """What was made, what it needs, and what it does not do."""
    tell(scenario_made(len(draft.steps), draft.taken, draft.left_out))
    for note in files.notes:
        tell(f"note: {note}")
    if files.environment:
        tell(f"Set {', '.join(files.environment)} in the environment: credentials are not written.")
    for name in files.files:
        where = name if output is None else str(Path(output).with_name(name))
        if output is None:
            tell(file_not_written(where))
        elif credentials := draft.credentials_in(name):
            tell(f"Written: {where}, with {', '.join(credentials)}; keep it out of version control.")
        else:
            tell(f"Written: {where}")
    if output is not None:
        run = f"-f {output}" if output.endswith(".py") else output
        tell(f"Written: {output}. Run it: plimsoll run {run} --headless -u 1 --iterations 1")
