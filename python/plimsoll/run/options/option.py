"""A row of the table of options."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property


class Kind(Enum):
    """What an option takes."""

    FLAG = "flag"
    TEXT = "text"
    INTEGER = "integer"
    USERS = "users"
    """An integer of 1 or more; Locust's parser does not check it."""
    COUNT = "count"
    """An integer of 1 or more."""
    PORT = "port"
    RATE = "rate"
    """A number above 0."""
    SHARE = "share"
    """A number from 0 to 1."""
    DURATION = "duration"
    SIZE = "size"
    """A number of bytes above 0, as in 64MiB."""
    LEVEL = "level"
    """A log level, in letters of either case."""
    USER_CONFIG = "user config"
    """JSON, or the name of a file with JSON."""


class Use(Enum):
    """What an option does."""

    WORKS = "works"
    IGNORED = "accepted without effect, as scripts written for Locust have it"
    LOCUSTFILE = "not an option of plimsoll run; only parsed_options shows it"
    DROPPED = "refused: Locust itself dropped it"


LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
FINDS_THE_LOCUSTFILE = "basic"
"""Locust's group of the options that are read before the locustfile is imported. It has no heading."""


@dataclass(frozen=True)
class LocustOption:
    """The same option in Locust, for locustfiles that read `environment.parsed_options` or parse a command line."""

    group: str | None = None
    """The heading in Locust's help."""
    dest: str = ""
    """The attribute of `parsed_options`; "": the long flag with underscores."""
    env: str = ""
    """The environment variable without its prefix LOCUST_."""
    default: object = None
    """The value in `parsed_options` when nothing is given; flags have False."""
    as_given: bool = False
    """`parsed_options` shows what was given, not what the run makes of it."""


@dataclass(frozen=True)
class Option:
    """One option: click's, Locust's, its variables, its configuration key and its text in the reference."""

    flags: tuple[str, ...]
    group: str
    """The heading in the help text and in the reference."""
    help: str
    """For a dropped option, the message that refuses it."""
    kind: Kind = Kind.TEXT
    metavar: str | None = None
    name: str = ""
    """The name of the value among those of the command; "": the long flag with underscores."""
    default: object = None
    optional: str | None = None
    """The value of the option without one; None: it needs one."""
    choices: tuple[str, ...] = ()
    multiple: bool = False
    """It has any number of values."""
    use: Use = Use.WORKS
    verbs: tuple[str, ...] = ("run",)
    """The verbs that take it."""
    shows_variable: bool = False
    """The help text names its environment variable."""
    locust: LocustOption | None = None
    """None: Locust does not have it. A locustfile may add an option of this name, which then wins."""

    @cached_property
    def flag(self) -> str:
        """The long flag, with its dashes."""
        return next((each for each in self.flags if each.startswith("--")), self.flags[0])

    @property
    def key(self) -> str:
        """In a configuration file."""
        return self.flag.lstrip("-")

    @cached_property
    def value_name(self) -> str:
        return self.name or self.key.replace("-", "_")

    @cached_property
    def dest(self) -> str:
        """The attribute of `environment.parsed_options`; "" when Locust does not have the option."""
        if self.locust is None:
            return ""
        return self.locust.dest or self.key.replace("-", "_")

    @property
    def variables(self) -> tuple[str, ...]:
        """Environment variables, the strongest first."""
        own = (f"PLIMSOLL_{self.key.replace('-', '_').upper()}",) if self.is_of_run else ()
        return (*own, self.locust_variable) if self.locust_variable else own

    @property
    def locust_variable(self) -> str:
        """ "" when there is none."""
        return f"LOCUST_{self.locust.env}" if self.locust and self.locust.env else ""

    @property
    def is_of_run(self) -> bool:
        """`plimsoll run` accepts it."""
        return self.use in (Use.WORKS, Use.IGNORED)

    @property
    def is_list(self) -> bool:
        """It takes all words up to the next option, as in Locust."""
        return self.multiple and self.locust is not None

    @property
    def unset(self) -> object:
        """The value when nothing gives one."""
        if self.kind is Kind.FLAG:
            return False
        return () if self.multiple else self.default


STORE = Option(
    ("--store",),
    "Other",
    "Where runs are kept: an SQLite file (default: plimsoll.db here) or postgresql://user@host/database.",
    metavar="PLACE",
    shows_variable=True,
)
"""The one option of `run` that many verbs share; it stands here so that they need not import the others."""
