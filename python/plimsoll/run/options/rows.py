"""The options of `plimsoll run` but those for other shapes of the load, and Locust's other options, a row each.

A row here is all that a new option needs to be on the command line, in `environment.parsed_options`, in environment
variables, in configuration files and in the reference. What it does is in `plimsoll.run.planning`.
"""

from __future__ import annotations

from plimsoll.record import TIMES_OF
from plimsoll.run.limits import MAX_BODY, MAX_BODY_MEMORY, MAX_DECODED_BODY, MAX_NAMES
from plimsoll.run.options.option import FINDS_THE_LOCUSTFILE, LEVELS, STORE, Kind, LocustOption, Option, Use

WHAT, HOW_MUCH, SHAPE, JOINED, RAILS, RESULTS, PAGE = (
    "What to run", "Load", "Load shape and open model", "Workers that join", "Guard rails", "Results", "Page"
)  # fmt: skip
"""Headings, in the order of the help text."""
OTHERS = "Other options of Locust"
_REPEATED = ("run", "reproduce")
"""The verbs that take an option about outputs of a run."""

_WEB, _MASTER, _WORKER = "Web UI options", "Master options", "Worker options"
_TAGS, _STATISTICS, _LOGGING, _OTHER = "Tag options", "Request statistics options", "Logging options", "Other options"


def _option(*flags: str, group: str, help: str, metavar: str | None = None, **settings: object) -> Option:
    return Option(flags, group, help, metavar=metavar, **settings)  # type: ignore[arg-type]


def _flag(*flags: str, group: str, help: str, **settings: object) -> Option:
    return Option(flags, group, help, Kind.FLAG, **settings)  # type: ignore[arg-type]


def _file(*flags: str, help: str, metavar: str = "FILE", locust: LocustOption | None = None) -> Option:
    """An option that names a file for results."""
    return Option(flags, RESULTS, help, metavar=metavar, locust=locust, verbs=_REPEATED)


def _page(
    *flags: str, metavar: str | None, kind: Kind = Kind.TEXT, help: str, locust: LocustOption | None = None,
    of_runs: bool = False,
) -> Option:  # fmt: skip
    """of_runs: `plimsoll serve`, which has the same page, has no use for it."""
    return Option(flags, PAGE, help, kind, metavar, locust=locust, verbs=("run",) if of_runs else ("run", "serve"))


def _locusts(
    *flags: str, locust: LocustOption, use: Use = Use.LOCUSTFILE, kind: Kind = Kind.TEXT, help: str = "",
    default: object = None,
) -> Option:  # fmt: skip
    return Option(flags, OTHERS, help, kind, default=default, use=use, locust=locust)


# fmt: off
_WHAT = (
    _option("-f", "--locustfile", group=WHAT, metavar="FILE",
            help="Locustfile; several with commas between, or a folder; locustfile.py by default.",
            locust=LocustOption(FINDS_THE_LOCUSTFILE, env="LOCUSTFILE", default="locustfile.py")),
    _option("-H", "--host", group=WHAT, metavar="URL", help="Base URL of the target.", locust=LocustOption(env="HOST")),
    _option("-T", "--tags", group=WHAT, metavar="TAG…", multiple=True, help="Only tasks with one of these tags.",
            locust=LocustOption(_TAGS, env="TAGS")),
    _option("-E", "--exclude-tags", group=WHAT, metavar="TAG…", multiple=True,
            help="Only tasks with none of these tags.", locust=LocustOption(_TAGS, env="EXCLUDE_TAGS")),
    _option("--config-users", group=WHAT, metavar="JSON…", multiple=True, kind=Kind.USER_CONFIG,
            help="Attributes of user classes, as a JSON object, a list of them, or a file with either: "
                 "'{\"user_class_name\": \"Buyer\", \"weight\": 3}'.",
            locust=LocustOption(env="CONFIG_USERS")),
    _option("--profile", group=WHAT, metavar="TEXT", help="For the locustfile: environment.profile.",
            locust=LocustOption(_OTHER, env="PROFILE")),
    _flag("--equal-weights", group=WHAT, help="Ignore the weights of classes and tasks.", locust=LocustOption(_OTHER)),
    _option("-X", "--method", group=WHAT, metavar="METHOD", help="Method for a URL; GET by default, POST with a body."),
    _option("--header", group=WHAT, name="headers", metavar="'NAME: VALUE'", multiple=True,
            help="A header for a URL; may be repeated."),
    _option("-d", "--body", group=WHAT, metavar="TEXT",
            help="Body for a URL, or the message of a call of gRPC as JSON; @FILE takes it from a file."),
    _option("--proto", group=WHAT, metavar="FILE", multiple=True,
            help="For a call of gRPC (grpc://HOST:PORT/package.Service/Method, grpcs:// over TLS): the .proto file, or "
                 "a descriptor set, with the method; may be repeated. By default the target is asked by server "
                 "reflection."),
    _option("--proto-path", group=WHAT, metavar="FOLDER", multiple=True,
            help="Where the imports of .proto files begin; by default in the folder of each, or in one above it."),
    _option("--stream", group=WHAT, choices=("sse", "lines", "llm"),
            help="The response of a URL is a stream: sse (server-sent events), lines (NDJSON) or llm (a chat "
                 "completion in OpenAI's format). Reports show the times to the first event or token and between "
                 "them."),
    _option("--slo", group=WHAT, metavar="NAME=TIME", multiple=True,
            help="An objective of chat completions (--stream llm, or events(\"llm\") in a locustfile): "
                 "first_token=TIME, time_per_token=TIME or time=TIME; may be repeated. Requests that meet all of them "
                 "are in the row good request."),
    _option("--message", group=WHAT, metavar="TEXT",
            help="For the URL of a WebSocket (ws://…): each user sends this, waits for the next message, and sends it "
                 "again."),
    _option("--subprotocol", group=WHAT, metavar="NAME", multiple=True,
            help="For the URL of a WebSocket: a subprotocol to offer; may be repeated."),
    _flag("--http2", group=WHAT,
          help="Speak HTTP/2, and nothing else: a target without it is a failure. With https it is chosen in the "
               "handshake, with http it is spoken from the first byte."),
    _option("--users-per-connection", group=WHAT, metavar="N", kind=Kind.COUNT,
            help="With HTTP/2: how many users share a connection; 1 by default."),
    _flag("-k", "--insecure", group=WHAT, help="Do not check the target's TLS certificate."),
    _option("--cacert", group=WHAT, metavar="FILE",
            help="For a URL with TLS: the PEM file of the certificates that the target may show, or of those that "
                 "signed one; by default those of the system."),
    _option("--cert", group=WHAT, metavar="FILE",
            help="For a URL with TLS: the client's own certificate, a PEM file; with its key, unless --key names "
                 "another file."),
    _option("--key", group=WHAT, metavar="FILE", help="The private key of --cert, a PEM file without a passphrase."),
    _option("--seed", group=WHAT, metavar="N", kind=Kind.INTEGER,
            help="Makes random choices the same again; drawn and kept by default."),
    _option("--config", group=WHAT, metavar="FILE", help="A configuration file besides the usual ones.",
            locust=LocustOption(FINDS_THE_LOCUSTFILE)),
    _flag("-l", "--list", group=WHAT, name="list_classes", help="Print the user classes and exit.",
          locust=LocustOption(dest="list_commands")),
    _flag("--show-task-ratio", group=WHAT, help="Print how often each task is picked, and exit.",
          locust=LocustOption(_OTHER)),
    _flag("--show-task-ratio-json", group=WHAT, help="The same as JSON.", locust=LocustOption(_OTHER)),
)

_HOW_MUCH = (
    _option("-u", "--users", group=HOW_MUCH, metavar="N", kind=Kind.USERS,
            help="Closed model: how many users; 1 by default.",
            locust=LocustOption(dest="num_users", env="USERS", as_given=True)),
    _option("-r", "--spawn-rate", group=HOW_MUCH, metavar="N", kind=Kind.RATE,
            help="Users to start per second; 1 by default, all at once for native users.",
            locust=LocustOption(env="SPAWN_RATE", as_given=True)),
    _option("-t", "--run-time", group=HOW_MUCH, kind=Kind.DURATION, help="20, 20s, 3m, 1h30m; without it until Ctrl-C.",
            locust=LocustOption(env="RUN_TIME", as_given=True)),
    _option("-s", "--stop-timeout", group=HOW_MUCH, kind=Kind.DURATION,
            help="At the end: how long users may finish their tasks, and how long the open model waits for responses; "
                 "30s in the open model; in the closed one 10s for native users, else 0.",
            locust=LocustOption(_OTHER, env="STOP_TIMEOUT", default="0")),
    _option("--processes", group=HOW_MUCH, metavar="N", kind=Kind.INTEGER, default=1,
            help="Worker processes, one core each; -1 is one per core.",
            locust=LocustOption(_WORKER, env="PROCESSES", as_given=True)),
    _option("--cluster", group=HOW_MUCH, metavar="[HOST:PORT]", optional="auto",
            help="Have a Ray cluster start the workers on its machines; they join this command as with --on. Without "
                 "an address: RAY_ADDRESS, or the cluster that this machine is a part of."),
    _option("--nodes", group=HOW_MUCH, metavar="N", kind=Kind.COUNT,
            help="With --cluster: how many of its machines get workers."),
    _option("--workers-per-node", group=HOW_MUCH, metavar="N", kind=Kind.COUNT, default=1,
            help="With --cluster: worker processes on each machine, one core each; 1 by default."),
    _option("--on", group=HOW_MUCH, metavar="WHERE",
            help="Start the workers elsewhere, and end them with the run: ssh:hosts.txt or ssh:USER@HOST,HOST by SSH, "
                 "k8s:image=IMAGE,workers=4 as Pods on Kubernetes. They join this command as with --master."),
    _option("--ship", group=HOW_MUCH, metavar="PATTERN", multiple=True,
            help="With --cluster, --on or --master: files that travel to the workers besides the locustfile and what "
                 "it imports, as data/*.csv; counted from the working directory; may be repeated."),
    _option("--env", group=HOW_MUCH, metavar="NAME", multiple=True,
            help="With --cluster, --on or --master: an environment variable that the workers get, with the value that "
                 "it has here; it is stored nowhere; may be repeated."),
    _option("--on-worker-loss", group=HOW_MUCH, choices=("mark", "redistribute", "stop"), default="mark",
            help="When a worker ends, or does not report for 3 s: go on without it (the default), give its load to "
                 "the others, or end the run. The report says so in any case."),
    _option("--source-address", group=HOW_MUCH, metavar="A[,B,…]",
            help="Local address that users come from; of several, A,B,C or FIRST-LAST or NETWORK/BITS, each "
                 "user gets one in turn and keeps it."),
    _option("--max-body", group=HOW_MUCH, metavar="SIZE", kind=Kind.SIZE, default=MAX_BODY,
            help="Longest body of a response, as received; 1GiB by default. A longer one is a failure."),
    _option("--max-decoded-body", group=HOW_MUCH, metavar="SIZE", kind=Kind.SIZE, default=MAX_DECODED_BODY,
            help="The same once its gzip, br, zstd or deflate is undone; 64MiB by default."),
    _option("--max-body-memory", group=HOW_MUCH, metavar="SIZE", kind=Kind.SIZE, default=MAX_BODY_MEMORY,
            help="Memory of a worker for all bodies that its users hold at a time; 1GiB by default. What is over it "
                 "is a failure."),
    _option("--max-names", group=HOW_MUCH, metavar="N", kind=Kind.COUNT, default=MAX_NAMES,
            help="Most names of requests that are counted apart; 2000 by default. Further ones are counted together as "
                 "(others)."),
    _flag("--no-connect-backoff", group=HOW_MUCH,
          help="Closed model: let users who cannot connect try again at once, as often as they can."),
    _flag("--reset-stats", group=HOW_MUCH, help="Forget the ramp-up: the run begins when all users are there.",
          locust=LocustOption(_STATISTICS, env="RESET_STATS")),
)

_JOINED = (
    _flag("--master", group=JOINED,
          help="Wait for workers that join from other processes or machines, and have the load sent by them.",
          locust=LocustOption(_MASTER, env="MODE_MASTER")),
    _option("--master-bind-host", group=JOINED, metavar="ADDRESS", default="127.0.0.1",
            help="With --master: the address at which workers join; 127.0.0.1 by default, which only this machine "
                 "reaches. * is all addresses. For any other than this machine's own there is a token: the master says "
                 "it, with the line that starts workers, unless --join-token gives one.",
            locust=LocustOption(_MASTER, env="MASTER_BIND_HOST", default="*")),
    _option("--master-bind-port", group=JOINED, metavar="N", kind=Kind.PORT, default=5557,
            help="With --master: the port of it; 5557 by default.",
            locust=LocustOption(_MASTER, env="MASTER_BIND_PORT", default=5557)),
    _option("--expect-workers", group=JOINED, metavar="N", kind=Kind.COUNT, default=1,
            help="With --master: a run that begins at once waits until so many have joined; 1 by default. At most "
                 "twice as many and 100 more can join.",
            locust=LocustOption(_MASTER, env="EXPECT_WORKERS", default=1)),
    _option("--expect-workers-max-wait", group=JOINED, metavar="SECONDS", kind=Kind.INTEGER, default=0,
            help="With --master: exit code 1 if that takes longer; 0, the default, is as long as it takes. With --on: "
                 "how long all workers may take to join; 180 by default.",
            locust=LocustOption(_MASTER, env="EXPECT_WORKERS_MAX_WAIT", default=0)),
    _flag("--worker", group=JOINED,
          help="Join a master, which says what to run. -f - has the locustfile and what it imports sent by the "
               "master; any other must be the same as there. --processes N joins N times.",
          locust=LocustOption(_WORKER, env="MODE_WORKER")),
    _option("--master-host", group=JOINED, metavar="HOST", default="127.0.0.1",
            help="With --worker: where the master is; 127.0.0.1 by default. With --on: the address of this machine, as "
                 "the workers reach it; found by default.",
            locust=LocustOption(_WORKER, env="MASTER_NODE_HOST", default="127.0.0.1")),
    _option("--master-port", group=JOINED, metavar="N", kind=Kind.PORT, default=5557,
            help="With --worker: the port of it; 5557 by default.",
            locust=LocustOption(_WORKER, env="MASTER_NODE_PORT", default=5557)),
    _option("--master-max-wait", group=JOINED, metavar="SECONDS", kind=Kind.COUNT, default=300,
            help="With --worker: how long it looks for a master that is not there yet, or is gone; 300 by default."),
    _option("--attach", group=JOINED, metavar="RUN",
            help="Continue a run with --master, --on or --cluster whose command is lost, as its new master. Its "
                 "workers wait for five minutes, those that a command has started for two. Reports are those of this "
                 "command; its thresholds are added to those of the run."),
    _option("--join-token", group=JOINED, metavar="TEXT",
            help="A secret of 16 or more characters that master and workers share; better as the variable "
                 "PLIMSOLL_JOIN_TOKEN. On one machine they need none: they find that of their user."),
    _flag("--insecure-join", group=JOINED,
          help="For --master and --worker: go without a token. Anybody who reaches the port can then join, read the "
               "files of the run and report any figures, and who answers in the place of the master can run programs "
               "on the workers."),
)

_RAILS = (
    _option("--allow-hosts", group=RAILS, metavar="HOST[,…]", multiple=True,
            help="The only hosts that may get load: api.example.com, *.example.com, 10.0.0.0/8, ::1, /run/app.sock. "
                 "Every connection is checked when it is made; may be repeated."),
    _option("--max-rate", group=RAILS, metavar="RATE",
            help="End the run when it sends more requests per second than this: 500/s. A rate that is known before is "
                 "refused."),
    _option("--max-run-time", group=RAILS, metavar="TIME", kind=Kind.DURATION,
            help="Refuse a run that is to take longer, and end one that does."),
    _option("--identify", group=RAILS, metavar="CONTACT",
            help="Send X-Load-Test: plimsoll run=ID contact=CONTACT with every request."),
    _flag("--dry-run", group=RAILS, help="Print what would be sent where, and what it must keep to; send nothing."),
    _flag("-y", "--yes", group=RAILS, help="Do not ask before a large load on a public address."),
)

_RESULTS = (
    _option("--threshold", group=RESULTS, name="thresholds", metavar="TEXT", multiple=True,
            help="'p99 < 200ms', 'errors < 0.1% over 10s', 'rps > 900 for 30s, else stop': exit code 1 when "
                 "it does not hold; may be repeated."),
    _file("--junit", help="Write thresholds and validity as JUnit XML."),
    _file("--hlog", help="Write an HdrHistogram log: a line per second and endpoint."),
    _file("--log-exchanges", help="Write every exchange with its stamps as Parquet."),
    _option("--times-of", group=RESULTS, choices=tuple(TIMES_OF), default="all",
            help="Whose times the tables show and thresholds judge: those of failed requests too, which is "
                 "the default, or not. All are kept."),
    _option("--observe", group=RESULTS, metavar="[NAME=]WHAT", multiple=True, verbs=_REPEATED,
            help="Record the target's side once a second: pid:1234, name:nginx, container:web, unit:app.service, "
                 "postgresql://user@host/db, http://host:9100/metrics#PATTERN, prometheus+http://host:9090#QUERY, "
                 "otlp:4318; may be repeated."),
    _option("--out", group=RESULTS, metavar="NAME[=URL]", multiple=True, verbs=_REPEATED,
            help="Send the figures of the run elsewhere as it runs: jsonl=FILE, prometheus=http://host:9090, "
                 "otlp=http://host:4318, influxdb=http://host:8086,db=NAME, statsd=host:8125. Settings follow with "
                 "commas: ,key=value; may be repeated."),
    _option("--notify", group=RESULTS, metavar="URL", multiple=True, verbs=_REPEATED,
            help="Send the verdict there at the end: for webhooks of Slack and Teams as these take it, else "
                 "as JSON. URL,template=slack, teams, json or FILE.json chooses; may be repeated."),
    _flag("--otel", group=RESULTS,
          help="OpenTelemetry's SDK in the processes of a locustfile, with Locust's names of metrics, as its variables "
               "OTEL_… say; --out otlp costs less.",
          locust=LocustOption(_OTHER, env="ENABLE_OPENTELEMETRY")),
    _flag("--traceparent", group=RESULTS,
          help="Send a W3C traceparent header with each request, and list the slowest requests by their traces."),
    _option("--trace-share", group=RESULTS, metavar="SHARE", kind=Kind.SHARE,
            help="The same, with the flag sampled in this share of the headers, 0 to 1. --out otlp then has a span of "
                 "each of these besides those of failed and slow requests. By default all headers have the flag, and "
                 "only failed and slow requests have a span."),
    _flag("--headless", group=RESULTS, help="Without the page: the run begins at once, and all ends with it.",
          locust=LocustOption(_WEB, env="HEADLESS")),
    _option("--name", group=RESULTS, metavar="TEXT", help="What the run is called in lists."),
    _file("--csv", metavar="PREFIX", help="Write PREFIX_stats.csv and Locust's other three.",
          locust=LocustOption(_STATISTICS, "csv_prefix", env="CSV")),
    _flag("--csv-full-history", group=RESULTS, verbs=_REPEATED, help="Every endpoint in PREFIX_stats_history.csv.",
          locust=LocustOption(_STATISTICS, "stats_history_enabled", env="CSV_FULL_HISTORY")),
    _flag("--json", group=RESULTS, name="as_json", verbs=_REPEATED,
          help="Print Locust's JSON on stdout: a list with an object per endpoint.", locust=LocustOption(_STATISTICS)),
    _file("--json-file", help="Write the same to FILE; .json is added if it is missing.",
          locust=LocustOption(_STATISTICS)),
    _file("--summary", help="Write all that is known of the run as one JSON document; - is stdout."),
    _file("--html", help="Write a report as one HTML page; {u}, {r}, {t} stand for users, spawn rate, run time.",
          locust=LocustOption(_STATISTICS, "html_file", env="HTML")),
    _flag("--print-stats", group=RESULTS, help="Accepted: the tables are printed in any case.",
          locust=LocustOption(_STATISTICS, env="PRINT_STATS")),
    _flag("--only-summary", group=RESULTS, verbs=_REPEATED, help="No tables until the end.",
          locust=LocustOption(_STATISTICS, env="ONLY_SUMMARY")),
    _option("--exit-code-on-error", group=RESULTS, metavar="N", kind=Kind.INTEGER, default=1,
            help="Exit code after failures; 1 by default.",
            locust=LocustOption(_OTHER, env="EXIT_CODE_ON_ERROR", default=1)),
    _option("--exit-code-on-invalid", group=RESULTS, metavar="N", kind=Kind.INTEGER, default=3,
            help="Exit code of a run whose load was not the load asked for; 3 by default; 0: never for this reason."),
    _flag("--strict", group=RESULTS,
          help="Exit code 3 also when the generator may have added more than 5 % to a figure; and no run without the "
               "receivers of --out."),
    _option("-L", "--loglevel", group=RESULTS, metavar="LEVEL", kind=Kind.LEVEL, choices=LEVELS, default="INFO",
            help="Lowest level that is logged: DEBUG, INFO, WARNING, ERROR or CRITICAL.",
            locust=LocustOption(_LOGGING, env="LOGLEVEL", default="INFO")),
    _file("--logfile", help="Log there instead of to stderr.",
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
    _page("--tls-key", metavar="FILE", help="The key of that certificate.",
          locust=LocustOption(_WEB, env="TLS_KEY", default="")),
    _page("--autostart", metavar=None, kind=Kind.FLAG, of_runs=True,
          help="Start the run of a locustfile at once. Runs of URLs and plans always start at once.",
          locust=LocustOption(_WEB, env="AUTOSTART")),
    _page("--autoquit", metavar="N", kind=Kind.INTEGER, of_runs=True,
          help="Seconds from the end of a run to the end of the command. -1, the default with a locustfile: it ends "
               "with Ctrl-C. Other runs end at once, or when no browser shows the page.",
          locust=LocustOption(_WEB, env="AUTOQUIT", default=-1)),
    _page("--class-picker", metavar=None, kind=Kind.FLAG, of_runs=True,
          help="On the page, let people choose to follow no LoadTestShape.",
          locust=LocustOption(_WEB, env="USERCLASS_PICKER")),
)

# Of Locust's cluster and page what is not here, and what Locust itself no longer has.
_OTHERS = (
    _locusts("--enable-rebalancing", use=Use.IGNORED, kind=Kind.FLAG, locust=LocustOption(_MASTER)),
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
)
# fmt: on

ROWS: list[Option] = [*_WHAT, *_HOW_MUCH, *_JOINED, *_RAILS, *_RESULTS, *_PAGE, STORE, *_OTHERS]
