"""A plan as it is written: its outermost table."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainValidator, ValidationInfo, model_validator

from plimsoll.load.bodies import HeadersTable
from plimsoll.load.durations import Duration, Length
from plimsoll.load.feeders import FeederTable
from plimsoll.load.mistakes import BadValueError, at, listed, nearest, shown
from plimsoll.load.origins import split_url
from plimsoll.load.phases import PhaseTable
from plimsoll.load.spec import Limits
from plimsoll.load.step_model import FlowTable, RequestTable, StepTable, Think
from plimsoll.load.table import SeveralTexts, TomlTable, existing_file, one_or_more

Count = Annotated[int, Field(ge=1, le=2**53)]


def _verify(value: Any, info: ValidationInfo) -> bool | str:
    return value if isinstance(value, bool) else str(existing_file(value, info))


def _certificate(value: Any, info: ValidationInfo) -> str | list[str]:
    if not isinstance(value, list):
        return str(existing_file(value, info))
    if len(value) != 2:
        raise BadValueError("must be one file with both, or [certificate, key]")
    return [str(existing_file(each, info)) for each in value]


Verify = Annotated[bool | str, PlainValidator(_verify)]
"""Whether certificates are checked, or the PEM file to check them against."""
Certificate = Annotated[str | list[str], PlainValidator(_certificate)]


class PlanTargetTable(TomlTable):
    """[[target]]"""

    name: str | None = None
    url: str
    verify: Verify = True
    cert: Certificate | None = None
    proxy: str | None = None
    headers: HeadersTable = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _text(cls, value: Any) -> Any:
        return {"url": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _check(self) -> PlanTargetTable:
        if "?" in at("url", split_url, self.url).path:
            raise BadValueError(f"{shown(self.url)} has a query; put it into the paths", "url")
        return self


class StopTable(TomlTable):
    """[stop]"""

    time: Length | None = None
    iterations: Count | None = None
    requests: Count | None = None


class PlanTable(TomlTable):
    """plan.toml"""

    name: Annotated[str, Field(min_length=1)] | None = None
    target: Annotated[list[PlanTargetTable], BeforeValidator(one_or_more)] = Field(default_factory=list)
    headers: HeadersTable = Field(default_factory=dict)
    timeout: Length | None = None
    idle_timeout: Length | None = None
    think: Think | None = None
    cookies: bool = False
    accept_encoding: bool = True
    choice: Literal["weighted", "in_turn"] = "weighted"
    seed: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    feeder: dict[str, FeederTable] = Field(default_factory=dict)
    flow: Annotated[list[FlowTable], BeforeValidator(one_or_more)] = Field(default_factory=list)
    request: Annotated[list[RequestTable], BeforeValidator(one_or_more)] = Field(default_factory=list)
    phase: Annotated[list[PhaseTable], BeforeValidator(one_or_more)] = Field(default_factory=list)
    max_users: Count | None = None
    on_saturation: Literal["wait", "drop"] | None = None
    stop: StopTable = StopTable()
    stop_timeout: Duration | None = None
    thresholds: SeveralTexts = Field(default_factory=list)

    @model_validator(mode="after")
    def _check(self) -> PlanTable:
        if not (self.flow or self.request or self.phase):
            raise BadValueError("says nothing to do; it needs a [[request]], a [[flow]] or a [[phase]]")
        names = [target.name for target in self.target]
        for index, name in enumerate(names):
            if name is not None and name in names[:index]:
                raise BadValueError(f"{shown(name)} is another target's name, too", f"target[{index}].name")
        return self

    @property
    def limits(self) -> Limits:
        return Limits(self.max_users, self.on_saturation or "wait", self.stop.iterations, self.stop.requests)

    def target_index(self, step: StepTable) -> int:
        """Of the target that a step names; 0 when it names none. Raises UsageError."""
        if step.target is None:
            return 0
        names = [target.name for target in self.target]
        if step.target in names:
            return names.index(step.target)
        known = [name for name in names if name is not None]
        meant = nearest(step.target, known)
        hint = f"named are {listed(known, 'and')}" if known else "none has one"
        if meant:
            hint = f"did you mean {shown(meant)}?"
        raise BadValueError(f"no target has the name {shown(step.target)}; {hint}", "target")
