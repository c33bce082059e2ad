"""What is to be run: the one value that coordinator and workers share."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from plimsoll.load.guard_rails import NO_RAILS, GuardRails, header_value
from plimsoll.load.origins import target_urls
from plimsoll.load.spec import Load
from plimsoll.record.manifest import Manifest, StoredLoad, TimesOf
from plimsoll.run.limits import MAX_BODY, MAX_BODY_MEMORY, MAX_DECODED_BODY, MAX_NAMES

DEFAULT_MAX_USERS = 10_000
"""Most users of an open-model run that does not say."""
_WORDS = {"locustfiles", "arguments", "command", "env", "ship", "tags", "exclude_tags", "source_addresses"}
"""Fields that are tuples of texts."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Who loads what, and how. Times are in seconds."""

    locustfiles: tuple[str, ...] = ()
    """Files to import, absolute; empty for a run of native users."""
    scenario: dict[str, Any] | None = None
    """What native users do, as `_engine.Scenario` reads it; None for Python users."""
    source: str | None = None
    """Where the scenario is from: a URL, or the absolute path of a file."""
    load: Load | None = None
    """Arrivals or users over time; None: `users`, started at `spawn_rate`."""
    arguments: tuple[str, ...] = ()
    """The part of the command line that only the locustfile can explain: user classes and options of its own."""
    command: tuple[str, ...] = ()
    """The command line as it was typed, which locustfiles find in sys.argv."""
    host: str | None = None
    users: int = 1
    spawn_rate: float = 1.0
    """Users per second."""
    run_time: float | None = None
    """None: until stopped."""
    stop_timeout: float = 0.0
    """How long a task, or an iteration, may take to finish when its user is stopped, and how long the open model waits
    for responses after its last arrival."""
    processes: int = 1
    """Workers, over all machines."""
    joined: bool = False
    """The workers join over TCP, as a rule from other machines, with clocks of their own."""
    on_worker_loss: str = "mark"
    """What follows when a worker is lost: mark, redistribute or stop."""
    ship: tuple[str, ...] = ()
    """Patterns of files that travel to workers on other machines, besides those that the locustfiles import."""
    env: tuple[str, ...] = ()
    """Names of environment variables that travel to workers on other machines. Their values are in no plan."""
    tags: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    equal_weights: bool = False
    """Whatever the classes and tasks say, give each the same chance."""
    reset_stats: bool = False
    """Forget the ramp-up: second 0 is when all users are there."""
    insecure: bool = False
    """Accept every certificate of the target."""
    http2: bool = False
    """All requests are HTTP/2. Targets of a scenario, and user classes, may say so themselves."""
    users_per_connection: int = 1
    """With HTTP/2: users that share a connection."""
    http2_classes: dict[str, int] = field(default_factory=dict)
    """User classes that say that they speak HTTP/2, with their users of a connection; known when the locustfile is."""
    max_body: int = MAX_BODY
    """Bytes of the longest body of a response, as received."""
    max_decoded_body: int = MAX_DECODED_BODY
    """The same once its content coding is undone."""
    max_body_memory: int = MAX_BODY_MEMORY
    """Bytes that all bodies in a worker's memory may take together."""
    slo: dict[str, float] = field(default_factory=dict)
    """Objectives of chat completions of Python users: seconds by name. Steps of native users have their own."""
    max_names: int = MAX_NAMES
    """Endpoints that are counted apart; the requests of further names are counted as one endpoint."""
    no_connect_backoff: bool = False
    """Users who cannot connect try again at once. In the open model they always do: arrivals are due when they are."""
    traceparent: bool = False
    """Each request carries a trace of its own in a header `traceparent`, by which the target's traces know it."""
    trace_share: float | None = None
    """The share, 0…1, of these requests that have the flag *sampled* and become spans, besides failed and slow ones;
    None: each has the flag, and only failed and slow ones become spans."""
    source_addresses: tuple[str, ...] = ()
    """Local addresses, of which each user gets one in turn; empty: as the system, or a user's class, has it."""
    seed: int = 0
    loglevel: str = "INFO"
    logfile: str | None = None
    skip_log_setup: bool = False
    exit_code_on_error: int = 1
    exit_code_on_invalid: int = 3
    strict: bool = False
    """Fail (exit code 3) if the generator may have distorted a figure."""
    times_of: TimesOf = "all"
    """Whose times the tables show and thresholds judge: a key of `plimsoll.record.TIMES_OF`."""
    log_exchanges: bool = False
    """Hand over a row of every exchange, besides the histograms."""
    has_page: bool = False
    """There is a page at which it may be watched: what is logged is handed over, too."""
    shape_class: str | None = None
    """The LoadTestShape that is followed, by its name; "" is none, None the first that the locustfile has."""
    rails: GuardRails = NO_RAILS
    """What the run must keep to."""
    identify: str | None = None
    """Who to ask about the load: each request says so; None: none does."""
    run_id: str | None = None
    """What the run is stored as; None: that is chosen later."""
    options: tuple[tuple[str, Any], ...] = ()
    """Everything that `environment.parsed_options` shows besides, by Locust's names."""

    @property
    def is_open(self) -> bool:
        """Arrivals come at a rate, whatever the target does."""
        return self.load is not None and self.load.model == "open"

    @property
    def waiting_s(self) -> float | None:
        """How long the open model waits for responses after its last arrival; None in the closed model, whose users are
        cut off."""
        return self.stop_timeout if self.is_open else None

    @property
    def connect_backoff(self) -> bool:
        """Users who cannot connect wait before they try again."""
        return not (self.is_open or self.no_connect_backoff)

    @property
    def seconds(self) -> float | None:
        """When the run ends by itself: after the run time or the last phase, whichever is first."""
        ends = [each for each in (self.run_time, self.load.seconds if self.load else None) if each is not None]
        return min(ends, default=None)

    @property
    def has_main_node(self) -> bool:
        """A process besides the workers runs the locustfile, too, with a MasterRunner."""
        return self.scenario is None and (self.processes > 1 or self.joined)

    @property
    def warmup(self) -> float:
        """Seconds from the start that are left out of the results."""
        return self.load.warmup_seconds if self.load else 0.0

    @property
    def most_users(self) -> int:
        """The most that there may be at a time."""
        if self.load is None:
            return self.users
        return self.load.max_users or DEFAULT_MAX_USERS if self.load.model == "open" else self.load.most_users

    def described(self, *, users: int | None, shaped: bool) -> Manifest:
        """What a manifest says of the plan itself. users: as its field has them. shaped: a LoadTestShape says how many
        users there are."""
        targets = self.scenario["targets"] if self.scenario else ()
        own = set() if self.users_per_connection > 1 else set(self.http2_classes.values())
        shared = own or {self.users_per_connection}
        return Manifest(
            model="open" if self.is_open else "closed",
            users_kind="python" if self.scenario is None else "native",
            load=StoredLoad.from_json(self.load.to_dict()) if self.load else None,
            warmup=self.warmup,
            times_of=self.times_of,
            max_users=self.most_users if self.is_open else None,
            host=self.host_text or None,
            users=users,
            shaped=shaped,
            spawn_rate=self.spawn_rate,
            run_time=self.run_time,
            processes=self.processes,
            http2=self.http2 or bool(self.http2_classes) or any(target.get("http2") for target in targets),
            users_per_connection=shared.pop() if len(shared) == 1 else None,
            seed=self.seed,
        )

    @property
    def host_text(self) -> str:
        """The target, for people: several hosts in one text."""
        return self.host or ", ".join(target_urls(self.scenario) if self.scenario else ())

    @property
    def header(self) -> str | None:
        """The value of `guard_rails.HEADER` that each request has."""
        return None if self.identify is None else header_value(self.identify, self.run_id)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a message or a manifest."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**plain, "load": self.load.to_dict() if self.load else None, "rails": self.rails.to_dict()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> RunPlan:
        """The inverse of `to_dict`, after a format that knows lists only. Fields that an older version had not are as
        they are by default."""
        plain = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        for name in _WORDS & plain.keys():
            plain[name] = tuple(plain[name])
        plain["options"] = tuple((name, value) for name, value in plain["options"])
        plain["load"] = Load.from_dict(plain["load"]) if plain["load"] else None
        plain["rails"] = GuardRails.from_dict(plain["rails"]) if "rails" in plain else NO_RAILS
        return cls(**plain)
