"""Every option there is: those of `rows`, and those for other shapes of the load.

Processes of a run read `rows` alone: Locust has no options for shapes, and what reads them takes long to import.
"""

from __future__ import annotations

from plimsoll.load.shapes import shape_flags, shape_options
from plimsoll.run.options.option import Kind, Option
from plimsoll.run.options.rows import HOW_MUCH, ROWS, SHAPE

# fmt: off
_SHAPE = (
    *(Option((flag,), SHAPE, each.help, metavar=each.metavar)
      for flag, each in zip(shape_flags(), shape_options().values(), strict=True)),
<<<<<<< HEAD
    _option("--spacing", group=SHAPE, choices=("uniform", "poisson"),
            help="Arrivals at even distances, which is the default, or at random ones."),
    _option("--max-users", group=SHAPE, metavar="N", kind=Kind.COUNT,
            help="Open model: most users at a time; 10000 by default."),
    _option("--on-saturation", group=SHAPE, choices=("wait", "drop"),
            help="What an arrival does when all users are busy: wait, which is the default and counts as "
                 "response time, or be dropped, and counted."),
    _option("--warmup", group=SHAPE, metavar="TIME",
            help="Send at the first level for so long before the run time, left out of the results."),
    _option("--iterations", group=SHAPE, metavar="N", kind=Kind.COUNT, help="Stop after so many iterations in all."),
    _option("--requests", group=SHAPE, metavar="N", kind=Kind.COUNT,
            help="Stop after so many requests of native users in all."),
)

_RESULTS = (
    _option("--threshold", group=RESULTS, name="thresholds", metavar="TEXT", multiple=True,
            help="'p99 < 200ms', 'errors < 0.1% over 10s', 'rps > 900 for 30s, else stop': exit code 1 when "
                 "it does not hold; may be repeated."),
    _option("--junit", group=RESULTS, metavar="FILE", help="Write thresholds and validity as JUnit XML."),
    _option("--hlog", group=RESULTS, metavar="FILE",
            help="Write an HdrHistogram log: a line per second and endpoint."),
    _option("--log-exchanges", group=RESULTS, metavar="FILE",
            help="Write every exchange with its stamps as Parquet."),
    _option("--times-of", group=RESULTS, choices=tuple(TIMES_OF), default="all",
            help="Whose times the tables show and thresholds judge: those of failed requests too, which is "
                 "the default, or not. All are kept."),
    _flag("--headless", group=RESULTS, help="Without the page: the run begins at once, and all ends with it.",
          locust=LocustOption(_WEB, env="HEADLESS")),
    _option("--name", group=RESULTS, metavar="TEXT", help="What the run is called in lists."),
    _option("--csv", group=RESULTS, metavar="PREFIX", help="Write PREFIX_stats.csv and Locust's other three.",
            locust=LocustOption(_STATISTICS, "csv_prefix", env="CSV")),
    _flag("--csv-full-history", group=RESULTS, help="Every endpoint in PREFIX_stats_history.csv.",
          locust=LocustOption(_STATISTICS, "stats_history_enabled", env="CSV_FULL_HISTORY")),
    _flag("--json", group=RESULTS, name="as_json",
          help="Print Locust's JSON on stdout: a list with an object per endpoint.", locust=LocustOption(_STATISTICS)),
    _option("--json-file", group=RESULTS, metavar="FILE",
            help="Write the same to FILE; .json is added if it is missing.", locust=LocustOption(_STATISTICS)),
    _option("--summary", group=RESULTS, metavar="FILE",
            help="Write all that is known of the run as one JSON document; - is stdout."),
    _option("--html", group=RESULTS, metavar="FILE",
            help="Write a report as one HTML page; {u}, {r}, {t} stand for users, spawn rate, run time.",
            locust=LocustOption(_STATISTICS, "html_file", env="HTML")),
    _flag("--print-stats", group=RESULTS, help="Accepted: the tables are printed in any case.",
          locust=LocustOption(_STATISTICS, env="PRINT_STATS")),
    _flag("--only-summary", group=RESULTS, help="No tables until the end.",
          locust=LocustOption(_STATISTICS, env="ONLY_SUMMARY")),
    _option("--exit-code-on-error", group=RESULTS, metavar="N", kind=Kind.INTEGER, default=1,
            help="Exit code after failures; 1 by default.",
            locust=LocustOption(_OTHER, env="EXIT_CODE_ON_ERROR", default=1)),
    _option("--exit-code-on-invalid", group=RESULTS, metavar="N", kind=Kind.INTEGER, default=3,
            help="Exit code of a run whose load was not the load asked for; 3 by default, 0 to go by the others."),
    _flag("--strict", group=RESULTS,
          help="Exit code 3 also when the generator may have added more than 5 % to a figure."),
    _option("-L", "--loglevel", group=RESULTS, metavar="LEVEL", kind=Kind.LEVEL, choices=LEVELS, default="INFO",
            help="Log DEBUG, INFO, WARNING, ERROR or CRITICAL and worse.",
            locust=LocustOption(_LOGGING, env="LOGLEVEL", default="INFO")),
    _option("--logfile", group=RESULTS, metavar="FILE", help="Log there instead of to stderr.",
            locust=LocustOption(_LOGGING, env="LOGFILE", as_given=True)),
    _flag("--skip-log-setup", group=RESULTS, help="The locustfile sets logging up itself.",
          locust=LocustOption(_LOGGING, env="SKIP_LOG_SETUP")),
)

_PAGE = (
    _page("--web-host", metavar="ADDRESS",
          help="Address of the page, 127.0.0.1 by default: only this machine. Others need a token.",
          locust=LocustOption(_WEB, env="WEB_HOST", default="")),
    _page("-P", "--web-port", metavar="N", kind=Kind.PORT,
          help="Port of the page, 8089 by default, or another that is free; 0 is any.",
          locust=LocustOption(_WEB, env="WEB_PORT", default=8089)),
    _page("--web-base-path", metavar="PATH", help="Put in front of every path: /load.",
          locust=LocustOption(_WEB, env="WEB_BASE_PATH", default="")),
    _page("--web-token", metavar="TEXT",
          help="What people must know to see the page; made, and printed, where one is needed."),
    _page("--web-login", metavar=None, kind=Kind.FLAG, help="Ask for the token on this machine too.",
          locust=LocustOption(_WEB, env="WEB_LOGIN")),
    _page("--tls-cert", metavar="FILE", help="Serve the page by HTTPS with this certificate.",
          locust=LocustOption(_WEB, env="TLS_CERT", default="")),
    _page("--tls-key", metavar="FILE", help="Its key.", locust=LocustOption(_WEB, env="TLS_KEY", default="")),
    _page("--autostart", metavar=None, kind=Kind.FLAG, of_runs=True,
          help="Start the users of a locustfile at once, as all others are.",
          locust=LocustOption(_WEB, env="AUTOSTART")),
    _page("--autoquit", metavar="N", kind=Kind.INTEGER, of_runs=True,
          help="End so many seconds after a run; -1: only by Ctrl-C, the default with a locustfile. Other runs end at "
               "once, or once no browser shows the page.",
          locust=LocustOption(_WEB, env="AUTOQUIT", default=-1)),
    _page("--class-picker", metavar=None, kind=Kind.FLAG, of_runs=True,
          help="On the page, let people choose to follow no LoadTestShape.",
          locust=LocustOption(_WEB, env="USERCLASS_PICKER")),
)

# Of Locust's cluster, which is not here, of its page, and what Locust itself no longer has.
_OTHERS = (
    _locusts("--enable-rebalancing", use=Use.IGNORED, kind=Kind.FLAG, locust=LocustOption(_MASTER)),
    _locusts("--expect-workers", use=Use.IGNORED, kind=Kind.COUNT, default=1,
             locust=LocustOption(_MASTER, env="EXPECT_WORKERS", default=1)),
    _locusts("--expect-workers-max-wait", use=Use.IGNORED, kind=Kind.INTEGER, default=0,
             locust=LocustOption(_MASTER, env="EXPECT_WORKERS_MAX_WAIT", default=0)),
    _locusts("--master", use=Use.UNSUPPORTED, kind=Kind.FLAG, locust=LocustOption(_MASTER, env="MODE_MASTER")),
    _locusts("--master-bind-host", use=Use.UNSUPPORTED,
             locust=LocustOption(_MASTER, env="MASTER_BIND_HOST", default="*")),
    _locusts("--master-bind-port", use=Use.UNSUPPORTED, kind=Kind.INTEGER,
             locust=LocustOption(_MASTER, env="MASTER_BIND_PORT", default=5557)),
    _locusts("--worker", use=Use.UNSUPPORTED, kind=Kind.FLAG, locust=LocustOption(_WORKER, env="MODE_WORKER")),
    _locusts("--master-host", use=Use.UNSUPPORTED,
             locust=LocustOption(_WORKER, env="MASTER_NODE_HOST", default="127.0.0.1")),
    _locusts("--master-port", use=Use.UNSUPPORTED, kind=Kind.INTEGER,
             locust=LocustOption(_WORKER, env="MASTER_NODE_PORT", default=5557)),
    _locusts("--otel", use=Use.UNSUPPORTED, kind=Kind.FLAG, locust=LocustOption(_OTHER, env="ENABLE_OPENTELEMETRY")),
    _locusts("--web-host-display-name", locust=LocustOption(_WEB, env="WEB_HOST_DISPLAY_NAME")),
    _locusts("--headful", kind=Kind.FLAG, locust=LocustOption(_WEB, env="HEADFUL")),
    _locusts("--build-path", locust=LocustOption(_WEB, env="BUILD_PATH", default="")),
    _locusts("--web-auth", use=Use.DROPPED, locust=LocustOption(_WEB),
             help="--web-auth has been replaced with --web-login"),
    _locusts("--legacy-ui", use=Use.DROPPED, kind=Kind.FLAG, locust=LocustOption(_WEB, default=False),
             help="--legacy-ui is no longer supported"),
    _locusts("--expect-slaves", use=Use.DROPPED, kind=Kind.FLAG, locust=LocustOption(_MASTER),
             help="--expect-slaves has been renamed to --expect-workers"),
    _locusts("--slave", use=Use.DROPPED, kind=Kind.FLAG, locust=LocustOption(_WORKER),
             help="--slave has been renamed to --worker"),
=======
    Option(("--spacing",), SHAPE, "Arrivals at even distances, which is the default, or at random ones.",
           choices=("uniform", "poisson")),
    Option(("--max-users",), SHAPE, "Open model: most users at a time; 10000 by default.", Kind.COUNT, "N"),
    Option(("--on-saturation",), SHAPE,
           "What an arrival does when all users are busy: wait, which is the default and counts as "
           "response time, or be dropped, and counted.",
           choices=("wait", "drop")),
    Option(("--warmup",), SHAPE,
           "Send at the first level for so long before the run time, left out of the results.", metavar="TIME"),
    Option(("--iterations",), SHAPE, "Stop after so many iterations in all.", Kind.COUNT, "N"),
    Option(("--requests",), SHAPE, "Stop after so many requests of native users in all.", Kind.COUNT, "N"),
>>>>>>> main
)
# fmt: on


def _in_order() -> list[Option]:
    place = 1 + max(number for number, each in enumerate(ROWS) if each.group == HOW_MUCH)
    return [*ROWS[:place], *_SHAPE, *ROWS[place:]]


OPTIONS = _in_order()


def run_options() -> list[Option]:
    """Those that `plimsoll run` takes."""
    return [each for each in OPTIONS if each.is_of_run]


def defaults() -> dict[str, object]:
    """The values of a command line without options, by name."""
    return {each.value_name: each.unset for each in run_options()}
