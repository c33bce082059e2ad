"""A program with listeners, an option and a setting of the statistics, which calls `locust.main.main()`.

Programs that drive Locust, such as Taurus' executor, work so: what they write comes from their own listeners.
"""

import os
import sys

import locust.stats
from locust import events, main
from parity import note

PROGRAM = os.getpid()
requests = []


@events.init_command_line_parser.add_listener
def add_option(parser):
    parser.add_argument("--mine", default="x")


@events.init.add_listener
def on_init(environment, runner, **_):
    note("init", [os.getpid() == PROGRAM, type(runner).__name__, environment.parsed_options.mine])
    note("argv", sys.argv[1:3])


@events.request.add_listener
def on_request(request_type, name, exception, **_):
    requests.append([request_type, name, exception is None])


@events.test_start.add_listener
def on_start(environment, **_):
    note("test_start", locust.stats.CONSOLE_STATS_INTERVAL_SEC)


@events.quitting.add_listener
def on_quitting(environment, **_):
    note("quitting", [requests, environment.stats.total.num_requests])


@events.quit.add_listener
def on_quit(exit_code, **_):
    note("quit", exit_code)


if __name__ == "__main__":
    locust.stats.CONSOLE_STATS_INTERVAL_SEC = 1
    words = ["-f", "users.py,probe.py", "--headless", "-u", "1", "-H", os.environ["PARITY_TARGET"], "--only-summary"]
    sys.argv = ["locust", *words, "--mine", *sys.argv[1:]]
    try:
        main.main()
    except SystemExit as error:
        note("exit", error.code)
        raise
    finally:
        note("after", [len(requests), os.getpid() == PROGRAM])

# run: y
# run unknown: y --nonsense
# option: script
