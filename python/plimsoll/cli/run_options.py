"""The options of `run`: Locust's names, defaults and environment variables."""

from __future__ import annotations

from typing import Any

import click

from plimsoll.load.durations import parse_duration
from plimsoll.load.mistakes import BadValueError
from plimsoll.load.shapes import shape_flags, shape_options
from plimsoll.locust.options.config import listed
from plimsoll.record import TIMES_OF

SHORT = 2
"""Length of a short option."""
LEVELS = click.Choice(("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"), case_sensitive=False)
USERS = click.IntRange(min=1)
RATE = click.FloatRange(0, 1e9, min_open=True)


class Duration(click.ParamType[float]):
    """20, 20s, 500ms, 3m, 1h30m; the value is in seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            return value if isinstance(value, float) else parse_duration(str(value))
        except BadValueError as error:
            self.fail(str(error), param, ctx)


class GroupedOption(click.Option):
    """An option under a heading of the help text. env: Locust's environment variable without its prefix."""

    group = ""

    def __init__(self, *names: str, env: str | None = None, **settings: Any) -> None:
        own = next((name for name in names if name.startswith("--")), names[0]).lstrip("-").replace("-", "_").upper()
        variables = [f"PLIMSOLL_{own}", *([f"LOCUST_{env}"] if env else [])]
        super().__init__(names, envvar=variables, **settings)

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Of an option with several values: the list [a, b], or one value, which may have blanks in it."""
        if not self.multiple:
            return super().value_from_envvar(ctx)
        text = self.resolve_envvar_value(ctx)
        value = text and listed(text)
        return (value,) if isinstance(value, str) and value else value or None


def _flag(*names: str, help: str, env: str | None = None) -> GroupedOption:
    return GroupedOption(*names, is_flag=True, help=help, env=env)


# fmt: off
GROUPS: dict[str, list[GroupedOption]] = {
    "What to run": [
        GroupedOption("-f", "--locustfile", metavar="FILE", env="LOCUSTFILE",
                      help="Locustfile; several with commas between, or a folder; locustfile.py by default."),
        GroupedOption("-H", "--host", metavar="URL", env="HOST", help="Base URL of the target."),
        GroupedOption("-T", "--tags", metavar="TAG…", multiple=True, env="TAGS",
                      help="Only tasks with one of these tags."),
        GroupedOption("-E", "--exclude-tags", metavar="TAG…", multiple=True, env="EXCLUDE_TAGS",
                      help="Only tasks with none of these tags."),
        GroupedOption("--config-users", metavar="JSON…", multiple=True, env="CONFIG_USERS",
                      help="Attributes of user classes, as a JSON object, a list of them, or a file with either: "
                           "'{\"user_class_name\": \"Buyer\", \"weight\": 3}'."),
        GroupedOption("--profile", metavar="TEXT", env="PROFILE", help="For the locustfile: environment.profile."),
        _flag("--equal-weights", help="Ignore the weights of classes and tasks."),
        GroupedOption("-X", "--method", metavar="METHOD", help="Method for a URL; GET by default, POST with a body."),
        GroupedOption("--header", "headers", metavar="'NAME: VALUE'", multiple=True,
                      help="A header for a URL; may be repeated."),
        GroupedOption("--body", metavar="TEXT", help="Body for a URL; @FILE takes it from a file."),
        GroupedOption("--seed", metavar="N", type=int,
                      help="Makes random choices the same again; drawn and kept by default."),
        GroupedOption("--config", metavar="FILE", help="A configuration file besides the usual ones."),
        _flag("-l", "--list", "list_classes", help="Print the user classes and exit."),
        _flag("--show-task-ratio", help="Print how often each task is picked, and exit."),
        _flag("--show-task-ratio-json", help="The same as JSON."),
    ],
    "How much of it": [
        GroupedOption("-u", "--users", metavar="N", type=USERS, env="USERS",
                      help="Closed model: how many users; 1 by default."),
        GroupedOption("-r", "--spawn-rate", metavar="N", type=RATE, env="SPAWN_RATE",
                      help="Users to start per second; 1 by default, all at once for native users."),
        GroupedOption("-t", "--run-time", type=Duration(), env="RUN_TIME",
                      help="20, 20s, 3m, 1h30m; without it until Ctrl-C."),
        GroupedOption("-s", "--stop-timeout", type=Duration(), env="STOP_TIMEOUT",
                      help="How long what is under way may take to finish in the end; 0 for a locustfile in the closed "
                           "model, else 10s."),
        GroupedOption("--processes", type=int, metavar="N", default=1, env="PROCESSES",
                      help="Worker processes, one core each; -1 is one per core."),
        GroupedOption("--source-address", metavar="A[,B,…]",
                      help="Local address that users come from; of several, A,B,C or FIRST-LAST or NETWORK/BITS, each "
                           "user gets one in turn and keeps it."),
        _flag("--reset-stats", env="RESET_STATS",
              help="Forget the ramp-up: the run begins when all users are there."),
    ],
    "In another shape": [
        *(GroupedOption(flag, metavar=each.metavar, help=each.help)
          for flag, each in zip(shape_flags(), shape_options().values(), strict=True)),
        GroupedOption("--spacing", type=click.Choice(("uniform", "poisson")),
                      help="Arrivals at even distances, which is the default, or at random ones."),
        GroupedOption("--max-users", metavar="N", type=USERS,
                      help="Open model: most users at a time; 10000 by default."),
        GroupedOption("--on-saturation", type=click.Choice(("wait", "drop")),
                      help="What an arrival does when all users are busy: wait, which is the default and counts as "
                           "response time, or be dropped, and counted."),
        GroupedOption("--warmup", metavar="TIME",
                      help="Send at the first level for so long before the run time, left out of the results."),
        GroupedOption("--iterations", metavar="N", type=USERS, help="Stop after so many iterations in all."),
        GroupedOption("--requests", metavar="N", type=USERS,
                      help="Stop after so many requests of native users in all."),
    ],
    "What comes of it": [
        GroupedOption("--threshold", "thresholds", metavar="TEXT", multiple=True,
                      help="'p99 < 200ms', 'errors < 0.1% over 10s', 'rps > 900 for 30s, else stop': exit code 1 when "
                           "it does not hold; may be repeated."),
        GroupedOption("--junit", metavar="FILE", help="Write thresholds and validity as JUnit XML."),
        GroupedOption("--hlog", metavar="FILE", help="Write an HdrHistogram log: a line per second and endpoint."),
        GroupedOption("--log-exchanges", metavar="FILE", help="Write every exchange with its stamps as Parquet."),
        GroupedOption("--times-of", type=click.Choice(tuple(TIMES_OF)), default="all",
                      help="Whose times the tables show and thresholds judge: those of failed requests too, which is "
                           "the default, or not. All are kept."),
        _flag("--headless", env="HEADLESS", help="Without the page: the run begins at once, and all ends with it."),
        GroupedOption("--name", metavar="TEXT", help="What the run is called in lists."),
        GroupedOption("--csv", metavar="PREFIX", env="CSV", help="Write PREFIX_stats.csv and Locust's other three."),
        _flag("--csv-full-history", env="CSV_FULL_HISTORY", help="Every endpoint in PREFIX_stats_history.csv."),
        _flag("--json", "as_json", help="Print Locust's JSON on stdout: a list with an object per endpoint."),
        GroupedOption("--json-file", metavar="FILE", help="Write the same to FILE; .json is added if it is missing."),
        GroupedOption("--summary", metavar="FILE",
                      help="Write all that is known of the run as one JSON document; - is stdout."),
        GroupedOption("--html", metavar="FILE", env="HTML",
                      help="Write a report as one HTML page; {u}, {r}, {t} stand for users, spawn rate, run time."),
        _flag("--print-stats", env="PRINT_STATS", help="Accepted: the tables are printed in any case."),
        _flag("--only-summary", env="ONLY_SUMMARY", help="No tables until the end."),
        GroupedOption("--exit-code-on-error", metavar="N", type=int, default=1, env="EXIT_CODE_ON_ERROR",
                      help="Exit code after failures; 1 by default."),
        GroupedOption("--exit-code-on-invalid", metavar="N", type=int, default=3,
                      help="Exit code of a run that measured the generator, not the target; 3 by default, 0 to go "
                           "by the others."),
        GroupedOption("-L", "--loglevel", metavar="LEVEL", type=LEVELS, default="INFO", env="LOGLEVEL",
                      help="Log DEBUG, INFO, WARNING, ERROR or CRITICAL and worse."),
        GroupedOption("--logfile", metavar="FILE", env="LOGFILE", help="Log there instead of to stderr."),
        _flag("--skip-log-setup", env="SKIP_LOG_SETUP", help="The locustfile sets logging up itself."),
    ],
}

PAGE = [
    GroupedOption("--web-host", metavar="ADDRESS", env="WEB_HOST",
                  help="Address of the page, 127.0.0.1 by default: only this machine. Others need a token."),
    GroupedOption("-P", "--web-port", metavar="N", type=click.IntRange(0, 65535), env="WEB_PORT",
                  help="Port of the page, 8089 by default, or another that is free; 0 is any."),
    GroupedOption("--web-base-path", metavar="PATH", env="WEB_BASE_PATH", help="Put in front of every path: /load."),
    GroupedOption("--web-token", metavar="TEXT",
                  help="What people must know to see the page; made, and printed, where one is needed."),
    _flag("--web-login", env="WEB_LOGIN", help="Ask for the token on this machine too."),
    GroupedOption("--tls-cert", metavar="FILE", env="TLS_CERT", help="Serve the page by HTTPS with this certificate."),
    GroupedOption("--tls-key", metavar="FILE", env="TLS_KEY", help="Its key."),
    _flag("--autostart", env="AUTOSTART", help="Start the users of a locustfile at once, as all others are."),
    GroupedOption("--autoquit", metavar="N", type=int, env="AUTOQUIT",
                  help="End so many seconds after a run; -1: only by Ctrl-C, as is the default with a locustfile."),
    _flag("--class-picker", env="USERCLASS_PICKER", help="On the page, let people choose to follow no LoadTestShape."),
]
GROUPS["The page"] = PAGE

# Of Locust's cluster: nothing follows from them here, but scripts and configuration files may say them.
ACCEPTED = [
    GroupedOption("--enable-rebalancing", is_flag=True, hidden=True),
    *(GroupedOption(name, type=int, default=default, hidden=True, env=env)
      for name, default, env in (("--expect-workers", 1, "EXPECT_WORKERS"),
                                 ("--expect-workers-max-wait", 0, "EXPECT_WORKERS_MAX_WAIT"))),
]
# fmt: on

OPTIONS: list[click.Parameter] = [*(each for options in GROUPS.values() for each in options), *ACCEPTED]

NOT_YET = frozenset(
    {"--master", "--master-bind-host", "--master-bind-port", "--master-host", "--master-port", "--otel", "--worker"}
)
"""Options of Locust that are not here."""

OURS = frozenset(
    {
        "-X", "--method", "--header", "--body", "--seed", "--threshold", "--times-of", "--summary", "--junit", "--hlog",
        "--log-exchanges", "--name", "--exit-code-on-invalid", "--store", "--requests", "--iterations", "--warmup",
        "--on-saturation", "--max-users", "--spacing", "--web-token", *shape_flags(),
    }
)  # fmt: skip
"""Options that Locust has not: a locustfile may have one of the same name, and then it is the locustfile's."""

LOCUSTS = [name for each in OPTIONS for name in each.opts if name not in OURS]
"""Options that Locust has."""

LISTS = {"-T": "--tags", "--tags": "--tags", "-E": "--exclude-tags", "--exclude-tags": "--exclude-tags",
         "--config-users": "--config-users"}  # fmt: skip
"""Options that take all the values up to the next option, as Locust's do, and their long names."""
WITH_VALUE = frozenset(
    name
    for each in OPTIONS
    if isinstance(each, GroupedOption) and not each.is_flag
    for name in each.opts
    if len(name) == SHORT
)
"""Short options that are followed by a value."""
