"""The manifest of a run: what is needed to repeat it, and to judge it. `run/manifest.py` makes it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from plimsoll.record.codec import JsonObject

TimesOf = Literal["all", "successes"]
"""Whose times the tables show and thresholds judge: a key of `TIMES_OF`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioFile(JsonObject):
    """A locustfile, or the file of a plan."""

    path: str = ""
    sha256: str | None = None
    """In hexadecimal digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScenario(JsonObject):
    """What a run does, for people."""

    name: str | None = None
    model: str | None = None
    users: str | None = None
    """python or native."""
    files: tuple[ScenarioFile, ...] = ()
    run_time: str | None = None
    """As people write it, as "3m"; None: until stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredShape(JsonObject):
    """A load over time."""

    kind: str = ""
    """A name of `SHAPES`, or of another version's: constant, ramp, steps, staircase, spike, sine, stages, replay, …"""
    values: dict[str, Any] = field(default_factory=dict)
    """Parameters of the shape by name. A digest stands for a long list. A shape that is composed of another one has it
    as its `curve`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPhase(JsonObject):
    """A part of a load. Times are in seconds."""

    name: str = ""
    shape: StoredShape = StoredShape()
    start: float = 0.0
    seconds: float | None = None
    """None: until the run is stopped."""
    poisson: bool = False
    """Arrivals are random."""
    warmup: bool = False
    """Its times are left out of the results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredLoad(JsonObject):
    """Phases of one model, and their limits."""

    model: str = ""
    """open: levels are arrivals per second; closed: users."""
    phases: tuple[StoredPhase, ...] = ()
    max_users: int | None = None
    """Of the open model: most users at a time."""
    on_saturation: str | None = None
    """What the open model does then: wait or drop."""
    iterations: int | None = None
    """Iterations that may begin in all."""
    requests: int | None = None
    """Requests that may begin in all."""

    @property
    def is_open(self) -> bool:
        """Arrivals come at a rate, whatever the target does."""
        return self.model == "open"

    @property
    def measured(self) -> list[StoredPhase]:
        """The phases that are no warm-up."""
        return [phase for phase in self.phases if not phase.warmup]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPlan(JsonObject):
    """The fields of a `RunPlan` that are read of a run that is over. `to_json` has all of them."""

    locustfiles: tuple[str, ...] = ()
    scenario: dict[str, Any] | None = None
    """What native users do, as the engine reads it, without bodies and credentials; None for Python users."""
    source: str | None = None
    """Where the scenario is from: a URL, or the absolute path of a file."""
    load: StoredLoad | None = None
    arguments: tuple[str, ...] | None = None
    stop_timeout: float | None = None
    """Seconds for which the open model waits for responses after its last arrival."""
    joined: bool = False
    env: tuple[str, ...] = ()
    """Names of environment variables that travelled to the workers."""
    tags: tuple[str, ...] | None = None
    exclude_tags: tuple[str, ...] | None = None
    equal_weights: bool | None = None
    reset_stats: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GitState(JsonObject):
    """The commit that the scenario's folder was at."""

    commit: str | None = None
    dirty: bool = False
    """Files differed from the commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Processor(JsonObject):
    """The processors of the computer that coordinated the run."""

    model: str | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkLink(JsonObject):
    """A physical network interface."""

    interface: str = ""
    """Its name."""
    mbit_s: int = 0
    """Its speed in each direction, Mbit/s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Computer(JsonObject):
    """What of the computer moves a number; null where it is not known."""

    hostname: str | None = None
    governor: str | None = None
    """How the clock speed of CPU 0 is chosen; None where the host of a virtual machine does it."""
    cpus: int | None = None
    """CPUs that the process may run on."""
    cpu_quota: float | None = None
    """Cores' worth of time that its control group may take; None: no limit."""
    memory_limit: int | None = None
    """Bytes that its control group may have; None: no limit."""
    somaxconn: int | None = None
    """Most connections that may wait for a server here to accept them."""
    link: NetworkLink | None = None
    """The network interface on the way to the target; None for a target on this computer, and without a known speed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessLimits(JsonObject):
    """Limits of a process and its workers; null is no limit."""

    open_files: int | None = None
    open_files_hard: int | None = None
    """What `open_files` could be raised to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest(JsonObject):
    """Plan, versions and machine of a run. Null is not known, or not so in this run."""

    tool: str | None = None
    """The tool that made the run."""
    version: str = ""
    """Version of the tool."""
    command: str = ""
    """The command line."""
    scenario: StoredScenario = StoredScenario()
    plan: StoredPlan = StoredPlan()
    model: str | None = None
    """open or closed."""
    users_kind: str | None = None
    """native or python."""
    load: StoredLoad | None = None
    """Arrivals or users over time; None: `users`, started at `spawn_rate`."""
    warmup: float | None = None
    """Seconds from the start that are left out of the results."""
    times_of: TimesOf = "all"
    """Requests whose times the tables show and the thresholds judge."""
    thresholds: tuple[str, ...] = ()
    """As they were written, without those of a locustfile."""
    max_users: int | None = None
    """Of the open model: most users at a time."""
    host: str | None = None
    """The target."""
    users: int | None = None
    """Of the closed model without a LoadTestShape: most users at a time."""
    shaped: bool | None = None
    """A LoadTestShape said how many users there were."""
    spawn_rate: float | None = None
    """Users per second."""
    run_time: float | None = None
    """Seconds; None: until stopped."""
    processes: int | None = None
    """Worker processes, over all machines."""
    http2: bool = False
    """Requests were HTTP/2."""
    users_per_connection: int | None = None
    """With HTTP/2: users that shared a connection; None if user classes differed."""
    seed: int | None = None
    """Seed of all random choices."""
    versions: dict[str, str] = field(default_factory=dict)
    """By package."""
    python: str | None = None
    """Version of Python."""
    git: GitState | None = None
    """None outside of a repository."""
    branch: str | None = None
    """The branch that was built or checked out."""
    kernel: str | None = None
    """Version of the kernel."""
    cpu: Processor = Processor()
    machine: Computer = Computer()
    limits: ProcessLimits = ProcessLimits()
    started: float | None = None
    """Unix time of second 0."""
    stamp: str | None = None
    """Where arrivals were stamped: kernel or user."""

    @property
    def is_open(self) -> bool:
        """Arrivals came at a rate, whatever the target did."""
        return self.model == "open"

    @property
    def is_native(self) -> bool:
        """The users were the engine's, without Python."""
        return self.users_kind == "native"

    @property
    def name(self) -> str:
        """The name of what the run does; "" if it has none."""
        return self.scenario.name or ""

    @property
    def commit(self) -> str:
        """The commit of the scenario; "" if it is not known."""
        return (self.git.commit if self.git is not None else None) or ""

    @property
    def digests(self) -> dict[int, str]:
        """The SHA-256 of the scenario's files, by index."""
        return {index: file.sha256 for index, file in enumerate(self.scenario.files) if file.sha256}

    @property
    def is_dirty(self) -> bool:
        """The scenario's repository had changes that are not in the commit."""
        return self.git is not None and self.git.dirty


_ID_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Without those that are taken for digits or for each other."""


def new_run_id(started: float) -> str:
    """Sortable, typable: the minute in UTC and four random characters. started: Unix time."""
    minute = datetime.fromtimestamp(started, UTC).strftime("%Y%m%d-%H%M")
    return f"{minute}-{''.join(secrets.choice(_ID_LETTERS) for _ in range(4))}"
