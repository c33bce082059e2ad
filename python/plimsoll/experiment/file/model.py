"""An experiment as it is written: the tables of experiment.toml."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, ValidationInfo, WithJsonSchema, model_validator

from plimsoll.errors import UsageError
from plimsoll.experiment.file.hooks_table import HooksTable, Words
from plimsoll.experiment.file.levels import LevelsTable
from plimsoll.experiment.placeholders import check
from plimsoll.experiment.spec import READY_TIMEOUT_S, Compare, Healthy, TargetFact
from plimsoll.load.mistakes import BadValueError, shown
from plimsoll.load.shapes.registry import shape_flags
from plimsoll.load.table import FILE_SCHEMA, Duration, Length, SeveralTexts, TomlTable, existing_file, one_or_more
from plimsoll.stats.metric import DELTA, Metric
from plimsoll.stats.study import TOLERANCE, Against
from plimsoll.stats.thresholds.slo import parse_cell_slo

DECIDED = {
    **dict.fromkeys(("-u", "--users", *shape_flags()), "[levels]"),
    "-r": "spawn_rate", "--spawn-rate": "spawn_rate", "-t": "run_time", "--run-time": "run_time", "--warmup": "warmup",
    "--processes": "processes", "-s": "stop_timeout", "--stop-timeout": "stop_timeout", "-f": "locustfile",
    "--locustfile": "locustfile", "-H": "target.url", "--host": "target.url", "-T": "tags", "--tags": "tags",
    "-E": "exclude_tags", "--exclude-tags": "exclude_tags", "--seed": "seed", "--spacing": "spacing",
    "--max-users": "max_users", "--store": "the option --store",
}  # fmt: skip
"""Options of `plimsoll run` that the experiment gives itself, and how they are said there."""
SHARED = {"--out": "out", "--notify": "notify"}
"""Options that are said for all runs at the top of the file."""
OURS = (
    "--headless",
    "--only-summary",
    "--summary",
    "--json",
    "--name",
    "--reset-stats",
    "--exit-code-on-invalid",
    "--strict",
)
"""Options that it needs for itself, or that would change what is measured."""

_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")


def _share(value: Any) -> float:
    """A share, from "5%" or 0.05."""
    if isinstance(value, str) and (match := _PERCENT.fullmatch(value.strip())):
        share = float(match[1]) / 100
    elif isinstance(value, int | float) and not isinstance(value, bool):
        share = float(value)
    else:
        raise BadValueError(f'{shown(value)} is not a share; valid are "5%" and 0.05')
    if not 0 <= share < 1:
        raise BadValueError(f"{shown(value)} is not below 100 %; 0.05 is 5 %")
    return share


def _difference(value: Any) -> float:
    share = _share(value)
    if share == 0:
        raise BadValueError("must be above 0: no number of runs tells any smaller difference")
    return share


def _file(value: Any, info: ValidationInfo) -> str:
    existing_file(value, info)
    return str(value)


def _path(value: Any) -> str:
    if not isinstance(value, str) or not value.startswith("/"):
        raise BadValueError(f'{shown(value)} is not a path of the target; it begins with "/"')
    return value


def _filled(value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise BadValueError(f"must be text in quotes, not {shown(value)}")
    return check(value)


def _observed(value: Any) -> bool | tuple[str, ...]:
    if isinstance(value, bool):
        return value
    named = one_or_more(value)
    if not all(isinstance(each, str) for each in named):
        raise BadValueError(
            f'must be true, false, or text as "name:nginx", or a list of such texts, not {shown(value)}'
        )
    return tuple(_filled(each) for each in named)


def _metric(value: Any) -> Metric:
    if not isinstance(value, str):
        raise BadValueError(f"must be text in quotes, not {shown(value)}")
    try:
        return Metric.parse(value)
    except UsageError as error:
        raise BadValueError(str(error)) from error


def _objective(value: Any) -> str:
    if not isinstance(value, str):
        raise BadValueError(f"must be text in quotes, not {shown(value)}")
    try:
        parse_cell_slo(value, "slo")
    except UsageError as error:
        raise BadValueError(str(error)) from error
    return value


def _as_path(value: Any) -> Any:
    """ "/ready" is short for { path = "/ready" }."""
    return {"path": value} if isinstance(value, str) else value


_PERCENTAGE = WithJsonSchema({"type": ["string", "number"], "title": "share", "examples": ["5%", 0.05]})
Share = Annotated[float, PlainValidator(_share), _PERCENTAGE]
Difference = Annotated[float, PlainValidator(_difference), _PERCENTAGE]
WrittenFile = Annotated[str, PlainValidator(_file), FILE_SCHEMA]
"""That of a file which can be read, as it was written."""
UrlPath = Annotated[str, PlainValidator(_path), WithJsonSchema({"type": "string", "pattern": "^/", "title": "path"})]
_TEXT = {"type": "string", "minLength": 1}
Filled = Annotated[str, PlainValidator(_filled), WithJsonSchema(_TEXT)]
"""Text with placeholders."""
Count = Annotated[int, Field(ge=1, le=2**31)]
Text = Annotated[str, Field(min_length=1)]


class HealthyTable(TomlTable):
    """healthy = "/ready", or { path = "/ready", within = "60s" }, or { command = [...] }, or { grpc = "" }"""

    path: UrlPath | None = None
    """Of the target; asked until it answers with a status below 400."""
    command: Words | None = None
    """A command that ends with 0 once the target is healthy."""
    grpc: str | None = None
    """A service that is asked by gRPC's protocol of health checks until it is SERVING; `""` is the whole server."""
    within: Length = READY_TIMEOUT_S
    """How long to wait for it."""

    @model_validator(mode="after")
    def _check(self) -> HealthyTable:
        given = self.given(("path", "command", "grpc"))
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; a target is asked in one way", given[1])
        return self

    @property
    def spec(self) -> Healthy:
        return Healthy(self.path, self.command, self.within, self.grpc)


class FactTable(TomlTable):
    """rows = "/_rows", or { path = "/_rows" }, or { command = [...] }"""

    path: UrlPath | None = None
    """Of the target; its body is the fact."""
    command: Words | None = None
    """A command; its output is the fact."""

    @model_validator(mode="after")
    def _check(self) -> FactTable:
        if (self.path is None) == (self.command is None):
            raise BadValueError("needs either a path or a command", "" if self.path is None else "command")
        return self

    def spec(self, name: str) -> TargetFact:
        return TargetFact(name, self.path, self.command)


HealthyField = Annotated[HealthyTable, BeforeValidator(_as_path)]
ObserveField = Annotated[
    bool | tuple[str, ...],
    PlainValidator(_observed),
    WithJsonSchema(
        {
            "anyOf": [{"type": "boolean"}, _TEXT, {"type": "array", "items": _TEXT}],
            "title": "boolean, text or list of texts",
        }
    ),
]
FactField = Annotated[FactTable, BeforeValidator(_as_path)]


class ExperimentTargetTable(TomlTable):
    """[target]: what all variants share."""

    url: Filled | None = None
    """The base URL of the target. `{port}` is a free port. A variant that has only a `url` of its own is already
    running: nothing is started."""
    start: Words | None = None
    """A command that runs the target in the foreground."""
    cwd: Filled | None = None
    """Where commands run; by default the file's folder, or `{source}`."""
    env: dict[str, Filled] = Field(default_factory=dict)
    """Environment variables of its commands."""
    git: Text | None = None
    """A ref that is checked out into `{source}`, where `start` then runs."""
    image: Text | None = None
    """A container image for docker or podman, instead of `start`."""
    container_port: Annotated[int, Field(ge=1, le=65535)] | None = None
    """The port on which the target listens in its container."""
    healthy: HealthyField | None = None
    """Load begins only after this: `"/ready"`, or a table."""
    data: dict[str, FactField] = Field(default_factory=dict)
    """Facts that are read before and after each run: `data.rows = "/rows"`."""
    build: FactField | None = None
    """The build that the target reports. If it is not the requested one, the cell fails."""
    stop_within: Length | None = None
    """The time from SIGTERM to SIGKILL."""
    observe: ObserveField | None = None
    """What is recorded of the target once a second. By default memory, CPU, threads, open files and disk of the
    processes that were started; `false`: nothing. A text or a list adds what
    [`--observe`](../guides/target.md) can observe: `"name:nginx"`, `"http://127.0.0.1:{port}/metrics"`."""
    postgres: Filled | None = None
    """The connection string of a database whose statistics are recorded as well."""


class VariantTable(ExperimentTargetTable):
    """[[variant]]: whatever it gives replaces what [target] says."""

    name: Text
    """Its name in reports."""
    changes: str = ""
    """What is different in it, in words, for the report."""
    hooks: HooksTable = HooksTable()
    """Its own hooks; each kind replaces the common one."""


class ScenarioTable(TomlTable):
    """[scenario]"""

    locustfile: WrittenFile | None = None
    """Its users are run."""
    plan: WrittenFile | None = None
    """A [plan](plan.md)."""
    url: UrlPath | None = None
    """A path of the target."""
    classes: SeveralTexts | None = None
    """Of the locustfile; by default all."""
    tags: SeveralTexts | None = None
    """Run only tasks with one of these tags."""
    exclude_tags: SeveralTexts | None = None
    """Leave out tasks with one of these tags."""
    arguments: SeveralTexts | None = None
    """More arguments for `plimsoll run`."""
    run_time: Length | None = None
    """How long each run is measured."""
    warmup: Duration | None = None
    """Before that; sent, but left out of results."""
    spawn_rate: Annotated[float, Field(gt=0, le=1e9)] | None = None
    """Users per second that are started."""
    processes: int | None = None
    """Worker processes; -1 is one per core."""
    stop_timeout: Duration | None = None
    """The time that running tasks have to finish at the end."""
    spacing: Literal["uniform", "poisson"] | None = None
    """Of the arrivals of a rate."""
    max_users: Count | None = None
    """Most users at a time, for rates."""

    @model_validator(mode="after")
    def _check(self) -> ScenarioTable:
        given = [name for name in ("locustfile", "plan", "url") if getattr(self, name) is not None]
        if len(given) > 1:
            raise BadValueError(f"contradicts {given[0]}; a scenario has one of locustfile, plan and url", given[1])
        if self.processes is not None and self.processes != -1 and self.processes < 1:
            raise BadValueError(f"must be at least 1, or -1 for one per core, not {self.processes}", "processes")
        for place, word in enumerate(self.arguments or ()):
            option = word.partition("=")[0]
            if option in DECIDED:
                raise BadValueError(f"{option} is said with {DECIDED[option]}", f"arguments[{place}]")
            if option in SHARED:
                message = f"{option} is said with {SHARED[option]}, at the top of the file"
                raise BadValueError(message, f"arguments[{place}]")
            if option in OURS:
                raise BadValueError(f"{option} cannot be given to the runs of an experiment", f"arguments[{place}]")
        return self


class OperationTable(ScenarioTable):
    """[[operation]]: whatever it gives replaces what [scenario] says."""

    name: Text
    """Its name in reports."""


MetricField = Annotated[Metric, PlainValidator(_metric), WithJsonSchema({"type": "string", "title": "metric"})]


Objective = Annotated[str, PlainValidator(_objective), WithJsonSchema({"type": "string", "title": "objective"})]


class CompareTable(TomlTable):
    """[compare]"""

    against: Annotated[list[Against], BeforeValidator(one_or_more)] = Field(
        default_factory=lambda: list(Compare().against), min_length=1
    )
    """`"baseline"` is the first variant; `"previous"` compares each with the one before."""
    metrics: Annotated[list[MetricField], BeforeValidator(one_or_more)] = Field(
        default_factory=lambda: list(Compare().metrics), min_length=1
    )
    """`p50`, `p99.9`, `mean`, `max`, `throughput`, `errors`, each perhaps with `of GET /path` or `of Aggregated`."""
    primary: Annotated[list[MetricField], BeforeValidator(one_or_more)] = Field(default_factory=list)
    """The metrics that the experiment is about, of these."""
    smallest: Difference = DELTA
    """The smallest difference that matters: `"5%"`."""
    errors: Share = TOLERANCE
    """The share of failures that counts as none: `"0.1%"`."""
    slo: Objective | None = None
    """What a load must keep to count as carried: `"p99 < 200ms, errors < 0.1%"`."""
    looks: Annotated[int, Field(ge=1, le=20)] = 1
    """How often the result is looked at before all repeats are there."""

    @model_validator(mode="after")
    def _check(self) -> CompareTable:
        for name in ("against", "metrics", "primary"):
            values = getattr(self, name)
            for place, each in enumerate(values):
                if each in values[:place]:
                    raise BadValueError("is there twice", f"{name}[{place}]")
        return self


class FullTable(TomlTable):
    """[full]: the same experiment at its whole length, run with `--full`; it replaces what the file says otherwise."""

    repeats: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Runs of each variant at each level."""
    budget: Length | None = None
    """What takes longer is not begun."""
    cool_down: Duration | None = None
    """The pause after each cell."""
    scenario: ScenarioTable = ScenarioTable()
    """What it gives replaces what `[scenario]` says."""
    target: ExperimentTargetTable = ExperimentTargetTable()
    """What it gives replaces what `[target]` says."""
    levels: LevelsTable | None = None
    """In place of `[levels]`."""


class ExperimentTable(TomlTable):
    """experiment.toml"""

    name: Text | None = None
    """By default the folder's."""
    question: str = ""
    """What it is to answer, for the report."""
    shape: Literal["auto", "ladder", "operations", "chain", "rates"] = "auto"
    """Of the report."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] = 1
    """Of the order of cells and of random choices of users."""
    repeats: Annotated[int, Field(ge=1, le=1000)] = 5
    """Runs of each variant at each level."""
    budget: Length | None = None
    """What takes longer is not begun."""
    cool_down: Duration = 1.0
    """The pause after each cell."""
    out: SeveralTexts = Field(default_factory=list)
    """Where figures of its runs go while they run, as [`--out`](../guides/outputs.md) of `plimsoll run` has it:
    `"influxdb=http://host:8086,db=load"`. The path of a file begins in the file's folder."""
    notify: SeveralTexts = Field(default_factory=list)
    """URLs that get the answer at the end, as [`--notify`](../guides/outputs.md#a-message-at-the-end) has it; those of
    `--notify` are added."""
    scenario: ScenarioTable = ScenarioTable()
    """What users do."""
    operation: Annotated[list[OperationTable], BeforeValidator(one_or_more)] = Field(default_factory=list)
    """Several scenarios: what a table gives replaces what `[scenario]` says."""
    levels: LevelsTable | None = None
    """How much load there is; without it, a plan's own phases are run."""
    compare: CompareTable = CompareTable()
    """What is compared."""
    target: ExperimentTargetTable = ExperimentTargetTable()
    """What all variants share."""
    hooks: HooksTable = HooksTable()
    """Commands around each run."""
    variant: Annotated[list[VariantTable], BeforeValidator(one_or_more), Field(min_length=1)]
    """What is compared: whatever a variant gives replaces what `[target]` says."""
    full: FullTable | None = None
    """The same experiment at its whole length."""

    @model_validator(mode="after")
    def _check(self) -> ExperimentTable:
        for kind in ("variant", "operation"):
            names = [each.name for each in getattr(self, kind)]
            for place, name in enumerate(names):
                if name in names[:place]:
                    raise BadValueError(f"{shown(name)} is another {kind}'s name, too", f"{kind}[{place}].name")
        if "/" in (self.name or "") or (self.name or "").strip() != (self.name or ""):
            raise BadValueError("must have no / in it, and no blank around it", "name")
        return self
