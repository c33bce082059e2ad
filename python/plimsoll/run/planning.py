"""From the values of options to a plan, and to where its results go."""

from __future__ import annotations

import os
import re
import secrets
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plimsoll.errors import UnknownOptionError, UsageError
from plimsoll.load import origins
from plimsoll.load.engine_check import refusal
from plimsoll.load.guard_rails import Cap, GuardRails, HostPatterns, check_contact, split_hosts
from plimsoll.load.levels import parse_rate
from plimsoll.load.limits_file import machine_rails
from plimsoll.load.mistakes import BadValueError, named
from plimsoll.load.options import LOAD_OPTIONS, load_from_options
from plimsoll.load.protocols.tls import check_authorities, check_own
from plimsoll.load.spec import NOTIFIED, Load
from plimsoll.load.targets import read_targets
from plimsoll.load.url import grpc_scenario, parse_objectives, socket_scenario, url_scenario
from plimsoll.run.guard import check_caps, check_identity
from plimsoll.run.limits import open_files, usable_cpus
from plimsoll.run.options import locustfiles
from plimsoll.run.options.command import DROPPED, run_words
from plimsoll.run.options.config import user_configs
from plimsoll.run.options.option import Kind
from plimsoll.run.options.table import defaults, output_options, run_options
from plimsoll.run.plan import DEFAULT_MAX_USERS, RunPlan
from plimsoll.run.planned import Outputs, PlannedRun, check_receivers
from plimsoll.run.transport.shipment import Shipment
from plimsoll.run.worker import source_addresses
from plimsoll.stats.thresholds.grammar import parse_threshold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from plimsoll.load.plan_file import PlanFile
    from plimsoll.run.options.command import RunWords

FOR_REQUESTS = ("method", "body", "stream")
FOR_SOCKETS = ("message", "subprotocol")
ONLY_SOCKETS = "goes with a WebSocket: plimsoll run ws://…"
FOR_CALLS = ("proto", "proto_path")
ONLY_CALLS = "goes with a call of gRPC: plimsoll run grpc://…"
FOR_TLS = ("cacert", "cert", "key")
FOR_URLS = ("headers", *FOR_REQUESTS, *FOR_SOCKETS, *FOR_CALLS)
FINISH_S = 10.0
"""Seconds that native users of the closed model have to finish, unless the run says; Locust's users get none."""
WAITING_S = 30.0
"""Seconds that the open model waits for responses after its last arrival, unless the run says."""
AS_GIVEN = (
    "tags", "exclude_tags", "equal_weights", "insecure", "http2", "reset_stats", "skip_log_setup", "exit_code_on_error",
    "exit_code_on_invalid", "strict", "times_of", "max_body", "max_decoded_body", "max_body_memory",
    "max_names", "no_connect_backoff", "trace_share", "on_worker_loss", "ship", "env",
)  # fmt: skip
"""Fields of a plan that are the values of the options of the same name."""
_HOST = re.compile(r"[\w.-]+:\d+(/|$)|\w[\w-]*(\.[\w-]+)+/|localhost(/|$)|[\w.-]+\.(com|org|net|io|dev|local|test)$")
_PLAN_FIELDS = frozenset(each.name for each in fields(RunPlan))


@dataclass(frozen=True, slots=True)
class RunInput:
    """Who does something: native users with a scenario, or the users of locustfiles."""

    scenario: dict[str, Any] | None = None
    source: str | None = None
    locustfiles: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    plan: PlanFile | None = None

    def with_outputs_of_plan(self, is_kept: Callable[[str], bool]) -> RunInput:
        """With those outputs of its plan that are to be kept."""
        if self.plan is None:
            return self
        return replace(self, plan=replace(self.plan, out=tuple(filter(is_kept, self.plan.out))))


def make_plan(arguments: tuple[str, ...], given: Mapping[str, Any]) -> tuple[RunPlan, RunInput]:
    """The plan that a command line describes, and what it runs. given: a value for each option of `run`, by name.
    Raises PlimsollError."""
    source = read_source(arguments, given)
    return plan_of(source, given), source


def plan_of(what: RunInput, given: Mapping[str, Any]) -> RunPlan:
    """Raises PlimsollError."""
    load = load_from_options(what.plan, **{name: given[name] for name in LOAD_OPTIONS})
    rails = _rails(given).joined(machine_rails())
    processes = _processes(given["processes"])
    _check_master(given)
    _check(what, load, given)
    users = given["users"] or 1
    timeout = FINISH_S if what.scenario is not None else 0.0
    if load is not None and load.model == "open":
        timeout = WAITING_S
    file = what.plan
    stop_timeouts = (given["stop_timeout"], file.stop_timeout if file else None, timeout)
    run_times = (given["run_time"], file.run_time if file else None)
    shared = (given["users_per_connection"], file.users_per_connection if file else None, 1)
    seeds = (given["seed"], file.seed if file else None, secrets.randbits(32))
    plan = RunPlan(
        locustfiles=what.locustfiles,
        scenario=what.scenario and _scenario(what.scenario, given),
        source=what.source,
        load=_bounded(load, processes, rails),
        arguments=what.arguments,
        host=given["host"] if what.locustfiles else None,
        users=users,
        spawn_rate=given["spawn_rate"] or (float(users) if what.scenario is not None else 1.0),
        # A load has its own end.
        run_time=next((each for each in run_times if each is not None), None) if load is None else None,
        stop_timeout=next(each for each in stop_timeouts if each is not None),
        processes=processes,
        joined=given["master"],
        source_addresses=source_addresses.parse(given["source_address"]) if given["source_address"] else (),
        users_per_connection=next(each for each in shared if each is not None),
        seed=next(each for each in seeds if each is not None),
        loglevel=given["loglevel"].upper(),
        logfile=_absolute(given["logfile"]),
        log_exchanges=given["log_exchanges"] is not None,
        rails=rails,
        identify=None if given["identify"] is None else check_contact(given["identify"]),
        slo=parse_objectives(given["slo"]) if what.locustfiles else {},
        traceparent=given["traceparent"] or given["trace_share"] is not None,
        options=_options(given),
        **{name: given[name] for name in AS_GIVEN},
    )
    check_caps(plan)
    if plan.ship:
        Shipment.of(plan, Path.cwd())
    return plan


def _rails(given: Mapping[str, Any]) -> GuardRails:
    """Those of the options. Raises UsageError."""
    hosts, rate, run_time = split_hosts(given["allow_hosts"]), given["max_rate"], given["max_run_time"]
    with named("--max-rate"):
        max_rate = None if rate is None else Cap(parse_rate(rate))
    if run_time == 0:
        raise UsageError("--max-run-time must be longer than 0")
    return GuardRails(
        hosts=(HostPatterns(hosts),) if hosts else (),
        max_rate=max_rate,
        max_run_time=None if run_time is None else Cap(run_time),
    )


def planned_run(words: RunWords, source: RunInput, changes: Mapping[str, Any]) -> PlannedRun:
    """The run of a command line with some values changed. changes: by name of the option. It sends no message of its
    own: the experiment or the search that it is of does. Raises PlimsollError."""
    as_typed, workers = {**words.given, "notify": (), **changes}, None
    if words.places_workers:
        # Only here: few runs have one.
        from plimsoll.run.placers.request import PlacedWorkers, as_master

        words = as_master(words)
        workers = PlacedWorkers.of(words)
    given = {**words.given, "notify": (), **changes}
    source = source.with_outputs_of_plan(lambda text: not text.startswith(NOTIFIED))
    if given["worker"] or (given["master"] and workers is None):
        raise UsageError("--master and --worker are for `plimsoll run`: workers join one command")
    plan = plan_of(source, given)
    check_identity(plan)
    outputs = make_outputs(given, plan, source, words.secret)
    check_receivers(outputs, has_page=plan.has_page)
    command = ("plimsoll", "run", *run_words(words.arguments, as_typed))
    return PlannedRun(replace(plan, command=command), outputs, workers)


def _options(given: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """What parsed_options shows as it was given, by Locust's names; the rest is in fields of the plan."""
    return tuple(
        (each.dest, user_configs(given[each.value_name]) if each.kind is Kind.USER_CONFIG else given[each.value_name])
        for each in run_options()
        if each.locust and (each.locust.as_given or each.value_name not in _PLAN_FIELDS)
    )


def make_outputs(
    given: Mapping[str, Any], plan: RunPlan, source: RunInput, secret: frozenset[str] = frozenset()
) -> Outputs:
    """secret: options of the locustfile whose values are kept nowhere."""
    as_given = {each.name: given[each.name] for each in fields(Outputs) if each.name in given}
    changed = {
        "name": given["name"] or (source.plan.name if source.plan else None),
        "secret": secret,
        "thresholds": (*(source.plan.thresholds if source.plan else ()), *given["thresholds"]),
        "json": given["as_json"],
        "json_file": given["json_file"] and f"{given['json_file'].removesuffix('.json')}.json",
        "html": _filled_in(given["html"], plan),
        "exchanges": given["log_exchanges"],
        "out": (
            *(source.plan.out if source.plan else ()),
            *given["out"],
            *(f"{NOTIFIED}{url}" for url in given["notify"]),
        ),
    }
    return Outputs(**(as_given | changed))


def with_outputs(run: PlannedRun, given: Mapping[str, Any]) -> PlannedRun:
    """The run with the outputs that these options name, and no others. given: values of all `output_options`, by name.
    What the run is called, its thresholds and its store stay."""
    own = {"name": run.outputs.name, "thresholds": run.outputs.thresholds, "store": run.outputs.store}
    values = {**defaults(), **given, **own}
    shown = {each.dest: values[each.value_name] for each in output_options() if each.locust}
    plan = replace(
        run.plan,
        logfile=_absolute(values["logfile"]),
        log_exchanges=values["log_exchanges"] is not None,
        options=tuple((name, shown.get(name, value)) for name, value in run.plan.options),
    )
    return PlannedRun(plan, make_outputs(values, plan, RunInput(), run.outputs.secret))


def output_check(*, has_page: bool) -> Callable[[str], None]:
    """What raises UsageError for a text of `out` or `notify` in a file. has_page: whether its run has one."""

    def check(text: str) -> None:
        # Only here: most runs have no outputs.
        from plimsoll.outputs.kinds import check_output

        check_output(text, has_page=has_page)

    return check


def _absolute(path: str | None) -> str | None:
    return path and str(Path(path).absolute())


def _filled_in(path: str | None, plan: RunPlan) -> str | None:
    """A path with users, spawn rate and run time in it."""
    values = {"{u}": plan.users, "{r}": plan.spawn_rate, "{t}": plan.seconds}
    for place, value in values.items():
        path = path and path.replace(place, "" if value is None else f"{value:g}")
    return path


def refuse_not_here(arguments: tuple[str, ...]) -> None:
    """Raises UsageError for options that Locust itself dropped."""
    for each in arguments:
        name = each.partition("=")[0]
        if name in DROPPED:
            raise UsageError(DROPPED[name])


def read_source(arguments: tuple[str, ...], given: Mapping[str, Any]) -> RunInput:
    """Raises PlimsollError."""
    refuse_not_here(arguments)
    sources = _sources(arguments, named=given["locustfile"] is not None)
    if not sources:
        _refuse(given, FOR_SOCKETS, ONLY_SOCKETS)
        _refuse(given, FOR_CALLS, ONLY_CALLS)
        _refuse(given, FOR_URLS, "goes with a URL: plimsoll run http://…")
        _refuse(
            given, FOR_TLS, "goes with a URL: plimsoll run https://…; a locustfile sets self.client.verify and cert"
        )
        classes = _user_classes(arguments)
        found = tuple(str(path) for path in locustfiles.find(given["locustfile"] or locustfiles.DEFAULT))
        return RunInput(locustfiles=found, arguments=classes)
    source = sources[0]
    _refuse(given, ("otel",), "goes with a locustfile; --out otlp has the figures of all runs")
    if len(arguments) > 1:
        other = next(each for each in arguments if each is not source)
        if other.startswith("-"):
            raise UnknownOptionError(other)
        raise UsageError(f"{source} and {other} do not go together")
    if origins.is_grpc_url(source):
        _refuse(given, ("method", "stream", "slo"), f"goes with a request, not with {source}")
        _refuse(given, FOR_SOCKETS, f"{ONLY_SOCKETS}; the message of a call is given with -d")
        return RunInput(scenario=_grpc_scenario(source, given), source=source)
    _refuse(given, FOR_CALLS, f"{ONLY_CALLS}, not {source}; a plan has a field proto")
    if origins.is_socket_url(source):
        _refuse(
            given,
            (*FOR_REQUESTS, "slo", "http2"),
            f"goes with a request, not with a WebSocket; {source} takes --message TEXT",
        )
        return RunInput(scenario=_socket_scenario(source, given), source=source)
    if "://" in source:
        _refuse(given, FOR_SOCKETS, f"{ONLY_SOCKETS}, not {source}")
        return RunInput(scenario=_url_scenario(source, given), source=source)
    _refuse(given, FOR_URLS, f"goes with a URL, not with {source}")
    _refuse(given, FOR_TLS, f"goes with a URL, not with {source}; a target of a plan has fields verify and cert")
    path = str(Path(source).absolute())
    plan = None
    if source.endswith(".toml"):
        # Only here: pydantic, which reads plans, takes long to import.
        from plimsoll.load.plan_file import read_plan

        plan = read_plan(source, given["host"], check_output=output_check(has_page=not given["headless"]))
    scenario = plan.scenario if plan else read_targets(source, given["host"])
    if scenario is None:
        found = tuple(str(file) for file in locustfiles.find(given["locustfile"] or locustfiles.DEFAULT))
        return RunInput(source=path, locustfiles=found, plan=plan)
    _refuse(given, ("locustfile",), f"does not go with {source}, which has requests of its own")
    _refuse(given, ("slo",), f"goes with a URL or a locustfile, not with {source}; a step of a plan has a table slo")
    return RunInput(scenario=scenario, source=path, plan=plan)


def _sources(arguments: tuple[str, ...], named: bool) -> list[str]:
    """Those that say what to run. A word after an option that is not ours is that option's value; named: a locustfile
    is, so that at most a plan for it may be among them."""
    words = [
        each
        for place, each in enumerate(arguments)
        if not each.startswith("-") and not (place and _wants_value(arguments[place - 1]))
    ]
    return [each for each in words if (each.endswith(".toml") if named else locustfiles.is_source(each))]


def _wants_value(argument: str) -> bool:
    return argument.startswith("-") and "=" not in argument


def _socket_scenario(url: str, given: Mapping[str, Any]) -> dict[str, Any]:
    message, headers, protocols = given["message"], given["headers"], given["subprotocol"]
    return socket_scenario(url, message=message, headers=headers, protocols=protocols)


def _grpc_scenario(url: str, given: Mapping[str, Any]) -> dict[str, Any]:
    body = given["body"]
    from_file = body is not None and body.startswith("@")
    return grpc_scenario(
        url,
        protos=given["proto"],
        roots=given["proto_path"],
        message=None if from_file else body,
        message_file=body[1:] if from_file else None,
        headers=given["headers"],
    )


def _url_scenario(url: str, given: Mapping[str, Any]) -> dict[str, Any]:
    body = given["body"]
    from_file = body is not None and body.startswith("@")
    return url_scenario(
        url,
        method=given["method"] or ("GET" if body is None else "POST"),
        headers=given["headers"],
        body=None if from_file else body,
        body_file=body[1:] if from_file else None,
        stream=given["stream"],
        objectives=given["slo"],
    )


def _scenario(scenario: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The scenario with targets as the options have them. Raises UsageError."""
    changes = _tls(scenario, given) | ({"http2": True} if given["http2"] else {})
    if not changes:
        return scenario
    changed = {**scenario, "targets": [{**target, **changes} for target in scenario["targets"]]}
    if given["http2"] and (refused := refusal(changed)):
        raise UsageError(f"--http2: {refused[1]}")
    return changed


def _tls(scenario: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What options about certificates change in targets. Raises UsageError with the name of the option."""
    certificate, key = _path(given["cert"]), _path(given["key"])
    authorities = _path(given["cacert"])
    if key is not None and certificate is None:
        raise UsageError("--key goes with --cert FILE")
    if authorities is not None and given["insecure"]:
        raise UsageError("--cacert and --insecure do not go together: one says what to check, the other not to")
    if not any(target["url"].startswith("https:") for target in scenario["targets"]):
        _refuse(given, FOR_TLS, "goes with a URL with TLS: https://…, wss://… or grpcs://…")
    changes: dict[str, Any] = {"verify": False} if given["insecure"] else {}
    if authorities is not None:
        with named("--cacert"):
            changes["verify"] = check_authorities(authorities)
    if certificate is not None:
        try:
            changes["cert"] = check_own(certificate, key)
        except BadValueError as error:
            raise UsageError(f"--{error.field or 'cert'}: {error}") from error
    return changes


def _path(text: str | None) -> str | None:
    return None if text is None else str(Path(text).expanduser())


def _bounded(load: Load | None, processes: int, rails: GuardRails) -> Load | None:
    """With a maximum of users in the open model: unless said, what the limit of open files and the rails allow."""
    if load is None or load.model != "open" or load.max_users is not None:
        return load
    most = DEFAULT_MAX_USERS if rails.max_users is None else round(rails.max_users.value)
    return replace(load, max_users=min(DEFAULT_MAX_USERS, most, open_files(processes)))


def _check(what: RunInput, load: Load | None, given: Mapping[str, Any]) -> None:
    if given["csv_full_history"] and not given["csv"]:
        raise UsageError("--csv-full-history needs --csv")
    for text in given["thresholds"]:
        parse_threshold(text)
    targets = what.scenario["targets"] if what.scenario else ()
    if given["users_per_connection"] and not (given["http2"] or any(each.get("http2") for each in targets)):
        raise UsageError("--users-per-connection goes with --http2")
    if load is None:
        return
    if load.model == "open" and given["reset_stats"]:
        raise UsageError("--reset-stats is for the closed model; in the open model say --warmup 10s")
    if load.requests is not None and what.scenario is None:
        raise UsageError("--requests counts the requests of native users; for a locustfile say --iterations")


def _refuse(given: Mapping[str, Any], names: tuple[str, ...], why: str) -> None:
    for name in names:
        if given[name]:
            raise UsageError(f"--{name.removesuffix('s').replace('_', '-')} {why}")


def _user_classes(arguments: tuple[str, ...]) -> tuple[str, ...]:
    own = False
    for each in arguments:
        # The first option that is not ours is the locustfile's, and what follows may be its values.
        own = own or each.startswith("-")
        if not own and each.endswith(".py"):
            raise UsageError(f"{each}: a locustfile is named with -f: plimsoll run -f {each}")
        if not own and "://" in each:
            raise UsageError(f"{each} and -f do not go together; the target of a locustfile is named with -H {each}")
        if not own and any(mark in each for mark in "/.:"):
            raise UsageError(f"{each}: {'is a folder' if Path(each).is_dir() else 'no such file'}{_url_hint(each)}")
    return arguments


def _url_hint(word: str) -> str:
    """For what looks like a URL without its scheme: a host with a port, or a host with a dot and a path."""
    return f"; for a URL write http://{word}" if _HOST.match(word) else ""


def _check_master(given: Mapping[str, Any]) -> None:
    """Raises UsageError for what does not go with --master, and for what goes only with it or with --cluster."""
    if given["cluster"] is None:
        for name in ("nodes", "workers_per_node"):
            if given[name] not in (None, 1):
                raise UsageError(f"--{name.replace('_', '-')} goes with --cluster")
    if given["ship"] and not given["master"]:
        raise UsageError("--ship goes with --on, --master or --cluster: on this machine all files are where they are")
    if given["env"] and not given["master"]:
        raise UsageError("--env goes with --on, --master or --cluster: workers of this machine have its variables")
    for name in given["env"]:
        if "=" in name:
            raise UsageError(
                f"--env takes a name, and the value from here: export {name.partition('=')[0]}=…, --env "
                f"{name.partition('=')[0]}"
            )
        if name not in os.environ:
            raise UsageError(f"--env {name}: there is no such variable here")
    if not given["master"]:
        return
    if given["processes"] != 1:
        raise UsageError("--processes is for this machine; with --master each worker joins: plimsoll run --worker")


def _processes(number: int) -> int:
    if number == -1:
        return usable_cpus()
    if number < 1:
        raise UsageError(f"--processes {number}: a number of processes, or -1 for one per core")
    return number
