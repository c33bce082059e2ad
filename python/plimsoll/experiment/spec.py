"""What an experiment is: the values that its file is read into, and that everybody who runs or reports it shares.

    Experiment ── Scenario (one per operation): what the users do
              ├── levels: users, or arrivals per second
              ├── Compare: what the question is about
              └── Variant ── Target: how it is started, and known to be well
                         └── Hooks: commands around the run

Times are in seconds, shares 0…1. Paths and commands are as they are written: `Experiment.path` says where a relative
path leads, `plimsoll.experiment.placeholders` what `{port}` and the like become.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from plimsoll.errors import UsageError
from plimsoll.stats.metric import DEFAULT_METRICS, DELTA, Metric
from plimsoll.stats.study import TOLERANCE, Against, Level

if TYPE_CHECKING:
    from collections.abc import Sequence

Shape = Literal["auto", "ladder", "operations", "chain", "rates"]
Spacing = Literal["uniform", "poisson"]

READY_TIMEOUT_S = 60.0
"""Seconds that a command, or a target that starts, is waited for unless the file says."""


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise UsageError(otherwise)


@dataclass(frozen=True, slots=True)
class Hook:
    """A command around a run. It must end by itself, with 0."""

    name: str
    """Its kind, or its own name where a kind has several: what it printed is found by it."""
    command: tuple[str, ...]
    """Not empty. No shell is involved; placeholders are filled in."""
    within: float = READY_TIMEOUT_S
    """> 0; then it is killed, and the cell has failed."""

    def __post_init__(self) -> None:
        _require(bool(self.command), f"hook {self.name} has no command")
        _require(self.within > 0, f"hook {self.name}: within must be above 0")


@dataclass(frozen=True, slots=True)
class Hooks:
    """By when they are run; of each kind in their order. All in the target's cwd and with its environment, besides
    PLIMSOLL_URL, PLIMSOLL_VARIANT, PLIMSOLL_LEVEL, PLIMSOLL_OPERATION, PLIMSOLL_REPEAT and PLIMSOLL_SEED."""

    prepare: tuple[Hook, ...] = ()
    """Before the target starts."""
    seed: tuple[Hook, ...] = ()
    """Once a target that we started is healthy."""
    reset: tuple[Hook, ...] = ()
    """In place of `seed`, when the target had been running already. Without any, `seed` is run there, too."""
    collect: tuple[Hook, ...] = ()
    """After the run, while the target still is there; what they print is kept with the cell, by name."""


@dataclass(frozen=True, slots=True)
class TargetFact:
    """A fact that the target reports of itself: a JSON number or text."""

    name: str
    path: str | None = None
    """Below the target's URL; begins with "/"."""
    command: tuple[str, ...] | None = None
    """Prints it. Exactly one of path and command is given."""

    def __post_init__(self) -> None:
        _require((self.path is None) != (self.command is None), f"{self.name}: either a path or a command")


@dataclass(frozen=True, slots=True)
class Healthy:
    """How a target is known to be ready."""

    path: str | None = None
    """Answers with a status below 400. Without any: the URL gives any answer at all."""
    command: tuple[str, ...] | None = None
    """A command; the target is healthy when it exits with 0."""
    within: float = READY_TIMEOUT_S
    """> 0, from the start of the target."""
    grpc: str | None = None
    """The name of a service of gRPC that says it serves, or "" for the whole server."""

    def __post_init__(self) -> None:
        ways = [each for each in (self.path, self.command, self.grpc) if each is not None]
        _require(len(ways) < 2, "healthy: one of path, command and grpc")
        _require(self.within > 0, "healthy.within must be above 0")


@dataclass(frozen=True, slots=True)
class Target:
    """How a variant's target comes to run."""

    url: str
    """The base URL of the scenario's requests. `{port}` is a free port of this machine."""
    start: tuple[str, ...] = ()
    """The command that runs it in the foreground. Empty: it runs already, or its image knows what to start."""
    cwd: str | None = None
    """A folder, relative to that of the experiment's file; None: `{source}` with `git`, else the folder itself."""
    env: dict[str, str] = field(default_factory=dict)
    """Added to our own environment."""
    git: str | None = None
    """A ref of the repository that the experiment's file is in, checked out into `{source}`."""
    image: str | None = None
    """A container image, run by docker or podman; `start` is then the command in the container, if any."""
    container_port: int | None = None
    """1…65535: where the target listens in the container; `{port}` leads there. Given if and only if image is."""
    healthy: Healthy = Healthy()
    data: tuple[TargetFact, ...] = ()
    """Asked before and after the run: the size of the data set, …"""
    build: TargetFact | None = None
    """What the target says it is; must be the variant's name or its git ref's commit, else the cell has failed."""
    stop_within: float = 10.0
    """> 0; after SIGTERM, before SIGKILL."""
    observe: bool | tuple[str, ...] = True
    """What is noted once a second: what the processes that we start take, and what is named besides, as `observe.kinds`
    has it; False: nothing of that."""
    postgres: str | None = None
    """Connection string of a PostgreSQL whose own statistics are noted once a second, too."""

    def __post_init__(self) -> None:
        _require((self.image is None) == (self.container_port is None), "container_port goes with image")
        _require(self.stop_within > 0, "stop_within must be above 0")

    @property
    def is_started(self) -> bool:
        """Whether it is ours to start and to stop."""
        return bool(self.start) or self.image is not None


@dataclass(frozen=True, slots=True)
class Variant:
    """A version of the target, with all that the file says for it or for all of them."""

    name: str
    """Unique; what reports call it."""
    target: Target
    changes: str = ""
    """The declared factor: what it has that the others have not."""
    hooks: Hooks = Hooks()
    twin_of: str | None = None
    """The second arm of an A/A experiment: which variant it is once more."""

    @property
    def build(self) -> str:
        """What `{variant}` becomes: a twin is what it is the twin of."""
        return self.twin_of or self.name


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the users do; an operation, where an experiment has several."""

    name: str = ""
    """Unique; "" when there is only one and it is not called anything."""
    locustfile: str | None = None
    plan: str | None = None
    url: str | None = None
    """A path of the target, "/…": native users that GET it. Exactly one of locustfile, plan and url is given."""
    classes: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    """Further words for `plimsoll run`: options of the locustfile's own, `--method`, …"""
    run_time: float | None = None
    """> 0, without the warm-up. None: as the plan says."""
    warmup: float = 0.0
    """>= 0, in seconds"""
    spawn_rate: float | None = None
    """> 0, users per second; None: all at once for native users, else as many per second as there are."""
    processes: int = 1
    """>= 1, or -1 for one per core."""
    stop_timeout: float | None = None
    """>= 0; None: as `plimsoll run` has it."""
    spacing: Spacing | None = None
    """The spacing of arrivals at a rate; None: uniform."""
    max_users: int | None = None
    """>= 1; of the open model."""

    def __post_init__(self) -> None:
        given = [each for each in (self.locustfile, self.plan, self.url) if each is not None]
        _require(len(given) == 1, "a scenario is a locustfile, a plan or a url")
        _require(self.run_time is None or self.run_time > 0, "run_time must be above 0")
        _require(self.warmup >= 0, "warmup must not be below 0")

    @property
    def source(self) -> str:
        return self.locustfile or self.plan or self.url or ""


@dataclass(frozen=True, slots=True)
class Compare:
    """What the question is about."""

    against: tuple[Against, ...] = ("baseline",)
    metrics: tuple[Metric, ...] = DEFAULT_METRICS
    """What is compared; not empty."""
    primary: tuple[Metric, ...] = ()
    smallest: float = DELTA
    """> 0; the smallest relative difference that matters."""
    errors: float = TOLERANCE
    """0…1; the share of failed requests that is taken as none."""
    slo: str = ""
    """An objective, as `parse_cell_slo` reads it; "": none. A load that breaks it is not carried."""
    looks: int = 1
    """1…4; how many times the result may be looked at before the last repeat."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """One question, and the runs that answer it."""

    name: str
    file: str
    """The absolute path of the experiment's file."""
    scenarios: tuple[Scenario, ...]
    """One for each operation; not empty."""
    variants: tuple[Variant, ...]
    """Not empty; the first is the baseline."""
    levels: tuple[Level | None, ...] = (None,)
    """Not empty, of one unit, ascending. None alone: as the plan says."""
    question: str = ""
    shape: Shape = "auto"
    seed: int = 1
    """0…2⁶³−1; of the order of cells, and of what their users draw."""
    repeats: int = 5
    """>= 1"""
    budget: float | None = None
    """> 0; it does not start when it would take longer."""
    compare: Compare = Compare()
    cool_down: float = 1.0
    """>= 0, after each cell."""
    out: tuple[str, ...] = ()
    """Where figures of its runs go, as `outputs.kinds` has it."""
    notify: tuple[str, ...] = ()
    """URLs that get the answer, as `--notify` has it. They are secrets."""
    is_full: bool = False
    """At its whole length, as [full] of its file says."""
    is_aa: bool = False
    """Two arms of one variant: what differs between them is noise."""

    def __post_init__(self) -> None:
        _require(bool(self.scenarios and self.variants and self.levels), "scenarios, variants and levels are needed")
        _require(self.repeats >= 1, "repeats must be at least 1")
        _require(len({each.name for each in self.variants}) == len(self.variants), "two variants have one name")
        _require(len({each.name for each in self.scenarios}) == len(self.scenarios), "two operations have one name")

    @property
    def folder(self) -> Path:
        """The base folder of relative paths."""
        return Path(self.file).parent

    def path(self, written: str) -> Path:
        """The absolute path of a path in the file."""
        return self.folder / Path(written).expanduser()

    def variant(self, name: str) -> Variant:
        """Raises UsageError when there is none."""
        return self.variants[_index(name, self.variants, "variant")]

    def with_arguments(self, words: Sequence[str]) -> Experiment:
        """With further words for `plimsoll run` in each scenario."""
        scenarios = (replace(each, arguments=(*each.arguments, *words)) for each in self.scenarios)
        return replace(self, scenarios=tuple(scenarios))

    def scenario(self, operation: str) -> Scenario:
        """The scenario of this operation."""
        return self.scenarios[_index(operation, self.scenarios, "operation")]


def _index(name: str, there: Sequence[Variant] | Sequence[Scenario], what: str) -> int:
    names = [each.name for each in there]
    if name not in names:
        raise UsageError(f"there is no {what} {name!r}; there are {', '.join(names)}")
    return names.index(name)
