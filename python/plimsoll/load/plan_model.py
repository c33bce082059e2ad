"""A plan as it is written: its outermost table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    create_model,
    model_validator,
)

from plimsoll.load.auth.jwt import JwtTable
from plimsoll.load.auth.table import AuthTable, check_auth
from plimsoll.load.feeders import FeederTable
from plimsoll.load.mistakes import BadValueError, at, shown
from plimsoll.load.origins import split_target
from plimsoll.load.phases import PhaseTable
from plimsoll.load.protocols.row_certificates import RowCertificate, has_variable
from plimsoll.load.protocols.steps import STEPS, one_of
from plimsoll.load.protocols.tls import check_authorities, check_own
from plimsoll.load.spec import Limits
from plimsoll.load.step_model import StepTable, Think, variable_name
from plimsoll.load.table import (
    Duration,
    ExistingFile,
    Folder,
    HeadersTable,
    Length,
    SeveralTexts,
    TomlTable,
    existing_file,
    folder_of,
    one_or_more,
)

Count = Annotated[int, Field(ge=1, le=2**53)]


def _verify(value: Any, info: ValidationInfo) -> bool | str:
    return value if isinstance(value, bool) else check_authorities(str(existing_file(value, info)))


def _certificate(value: Any, info: ValidationInfo) -> str | list[str] | RowCertificate:
    files = value if isinstance(value, list) else [value]
    if len(files) > 2 or (isinstance(value, list) and len(files) < 2):
        raise BadValueError("must be one file with both, or [certificate, key]")
    if all(isinstance(file, str) for file in files) and any(has_variable(file) for file in files):
        return RowCertificate(tuple(files), folder_of(info))
    paths = [str(existing_file(file, info)) for file in files]
    try:
        return check_own(*paths)
    except BadValueError as error:
        # A plan has one field for both files.
        raise BadValueError(str(error)) from error


Verify = Annotated[
    bool | str, PlainValidator(_verify), WithJsonSchema({"type": ["boolean", "string"], "title": "true, false or file"})
]
"""Whether certificates are checked, or the PEM file to check them against."""
_ONE_OR_TWO = {
    "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}]
}
Certificate = Annotated[
    str | list[str] | RowCertificate,
    PlainValidator(_certificate),
    WithJsonSchema({**_ONE_OR_TWO, "title": "one or two files"}),
]


class PlanTargetTable(TomlTable):
    """[[target]]"""

    name: str | None = None
    """By which steps select it."""
    url: str
    """The base URL of paths."""
    verify: Verify = True
    """Whether certificates are checked, or the PEM file to check them against."""
    cert: Certificate | None = None
    """The client's own: a PEM file with certificate and key, or `[certificate, key]`. With columns of a feeder, as
    `"${people.cert}"`, each user has its own ([client certificates](../guides/plans.md#client-certificates))."""
    proxy: str | None = None
    """The URL of a proxy: `http://` (it forwards plain requests; everything else goes through a tunnel, `CONNECT`),
    `socks5://` or `socks5h://` ([proxies](../guides/plans.md#proxies))."""
    http2: bool | None = None
    """Whether its requests are HTTP/2; by default as the plan says."""
    headers: HeadersTable = Field(default_factory=dict)
    """Sent with each request to this target; a list for a header that is sent several times."""

    @model_validator(mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return {"url": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check(self) -> PlanTargetTable:
        if "?" in at("url", split_target, self.url)[0].path:
            raise BadValueError(f"{shown(self.url)} has a query; put it into the paths", "url")
        return self


Weight = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
WEIGHTED, IN_TURN = "weighted", "in_turn"


def _choice(value: Any) -> str:
    if value in (WEIGHTED, IN_TURN) or (isinstance(value, str) and all(value.partition("."))):
        return str(value)
    raise BadValueError(
        f'{shown(value)} is no way to choose; valid are "{WEIGHTED}", "{IN_TURN}" and "FEEDER.COLUMN", a column with '
        "names of flows"
    )


ChoiceOfFlows = Annotated[
    str,
    PlainValidator(_choice),
    WithJsonSchema({"anyOf": [{"enum": [WEIGHTED, IN_TURN]}, {"type": "string", "pattern": r"^[^.]+\..+$"}]}),
]


class Weighted(TomlTable):
    """A flow of its own: it has a weight."""

    weight: Weight = 1.0
    """How often it is chosen, compared with other flows."""


if TYPE_CHECKING:
    Step = StepTable

    class WeightedStep(Weighted, StepTable):
        """A step that is a flow of its own."""
else:
    Step = one_of(STEPS)
    WeightedStep = one_of([
        create_model(
            f"Weighted{step.__name__}", __base__=(Weighted, step),
            __doc__=(step.__doc__ or "").replace("[[flow.step]]", "[[request]]", 1),
        )
        for step in STEPS
    ])  # fmt: skip


class FlowTable(Weighted):
    """[[flow]]"""

    name: Annotated[str, Field(min_length=1)] | None = None
    """Its name."""
    think: Think | None = None
    """Pause after each of its steps, in place of the plan's."""
    step: Annotated[list[Step], Field(min_length=1), BeforeValidator(one_or_more)]
    """Its requests, in order. One pass is an iteration."""


class StopTable(TomlTable):
    """[stop]"""

    time: Length | None = None
    """End the run after this time. No phase may continue after it."""
    iterations: Count | None = None
    """End it after so many iterations, in any phase."""
    requests: Count | None = None
    """End it after so many requests, in any phase."""


class PlanTable(TomlTable):
    """plan.toml"""

    name: Annotated[str, Field(min_length=1)] | None = None
    """The name of the run in lists; by default the name of the file."""
    target: Annotated[list[PlanTargetTable], BeforeValidator(one_or_more)] = Field(default_factory=list)
    """The base URL of paths, or a table, or several. `-H` replaces the first one."""
    headers: HeadersTable = Field(default_factory=dict)
    """Sent with every request; a list for a header that is sent several times."""
    auth: AuthTable | None = None
    """Who sends the requests: `{ basic = ["user", "password"] }`, `{ bearer = "…" }` or `{ api_key = "…" }`. A step
    whose value comes from an earlier reply has its own."""
    timeout: Length | None = None
    """Limit of each whole request, from sending to the last byte of the response; by default none. A timeout is an
    outcome of its own, and stays in the percentiles."""
    idle_timeout: Length | None = None
    """Limit of connecting, and of each wait for the next bytes; by default none. A response that comes slowly but
    steadily is ended by `timeout` alone."""
    think: Think | None = None
    """Pause after each step."""
    cookies: bool = False
    """`true`: each user keeps cookies, over all its iterations, by the rules of browsers
    ([cookies](../guides/plans.md#cookies))."""
    http2: bool = False
    """`true`: requests are HTTP/2, and a target without it is a failure. With https it is chosen in the handshake, with
    http it is spoken from the first byte."""
    users_per_connection: Count | None = None
    """With HTTP/2: how many users share a connection; by default each has its own."""
    accept_encoding: bool = True
    """`false`: do not offer compression."""
    choice: ChoiceOfFlows = "weighted"
    """`"weighted"`: each iteration draws a flow by weight; `"in_turn"`: one after the other, in the order of the file;
    `"FEEDER.COLUMN"`: each iteration takes the next row of the feeder, and plays the flow that this column names."""
    proto: Annotated[list[ExistingFile], BeforeValidator(one_or_more)] = Field(default_factory=list)
    """The .proto files, or descriptor sets, with the methods of `grpc` steps; without them, targets are asked by server
    reflection when the run begins."""
    proto_path: Annotated[list[Folder], BeforeValidator(one_or_more)] = Field(default_factory=list)
    """Folders in which the imports of .proto files begin; by default the folder of each file, or one above it."""
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    """Makes random choices repeatable. By default it is drawn, and stored with the run."""
    feeder: dict[str, FeederTable] = Field(default_factory=dict)
    """Rows of values for variables, by the name of the feeder."""
    jwt: dict[Annotated[str, BeforeValidator(variable_name)], JwtTable] = Field(default_factory=dict)
    """JSON Web Tokens that users sign themselves, by the name in `${jwt.NAME}`."""
    flow: Annotated[list[FlowTable], BeforeValidator(one_or_more)] = Field(default_factory=list)
    """What users do: steps in order."""
    request: Annotated[list[WeightedStep], BeforeValidator(one_or_more)] = Field(default_factory=list)
    """A flow of one step."""
    phase: Annotated[list[PhaseTable], BeforeValidator(one_or_more)] = Field(default_factory=list)
    """How much load there is: phases follow one another unless they say when they start."""
    max_users: Count | None = None
    """Most users at a time in the open model; by default 10,000, or what the limit of open files allows."""
    on_saturation: Literal["wait", "drop"] | None = None
    """What happens to an arrival when all users are busy: `"wait"` (the default; its wait is response time) or
    `"drop"` (it is counted as dropped)."""
    stop: StopTable = StopTable()
    """When the run ends, besides its phases."""
    stop_timeout: Duration | None = None
    """The time that running iterations have to finish at the end."""
    thresholds: SeveralTexts = Field(default_factory=list)
    """Conditions, as `"p99 < 300ms"`: the exit code is 1 if the run breaks one."""
    out: SeveralTexts = Field(default_factory=list)
    """Where figures go while it runs, as [`--out`](../guides/outputs.md) has it: `"influxdb=http://host:8086,db=load"`;
    those of `--out` are added. The path of a file begins in the current folder."""
    notify: SeveralTexts = Field(default_factory=list)
    """URLs that get the verdict of a run, as [`--notify`](../guides/outputs.md#a-message-at-the-end) has it; those of
    `--notify` are added. Runs of experiments and searches send none."""

    @model_validator(mode="after")
    def _check(self) -> PlanTable:
        check_auth(self.auth, self.headers)
        if not (self.flow or self.request or self.phase):
            raise BadValueError("says nothing to do; it needs a [[request]], a [[flow]] or a [[phase]]")
        if self.users_per_connection is not None and not self.has_http2:
            raise BadValueError("is for HTTP/2: write http2 = true", "users_per_connection")
        if self.proto_path and not self.proto:
            raise BadValueError("belongs with proto", "proto_path")
        self._check_choice()
        names = [target.name for target in self.target]
        for index, name in enumerate(names):
            if name is not None and name in names[:index]:
                raise BadValueError(f"{shown(name)} is another target's name, too", f"target[{index}].name")
        return self

    def _check_choice(self) -> None:
        feeder, dot, column = self.choice.partition(".")
        if not dot:
            return
        if feeder not in self.feeder:
            raise BadValueError(f"names feeder {shown(feeder)}, which the plan does not have", "choice")
        table = self.feeder[feeder]
        if column not in table.read.columns:
            raise BadValueError(f"names column {shown(column)}, which feeder {shown(feeder)} does not have", "choice")
        if table.order != "sequential":
            raise BadValueError("contradicts choice, which needs rows in their order", f"feeder.{feeder}.order")

    @property
    def limits(self) -> Limits:
        return Limits(self.max_users, self.on_saturation or "wait", self.stop.iterations, self.stop.requests)

    @property
    def has_http2(self) -> bool:
        """Some requests may be HTTP/2."""
        steps = [*self.request, *(step for flow in self.flow for step in flow.step)]
        return self.http2 or any(target.http2 for target in self.target) or any(step.needs_http2 for step in steps)
