"""The same with several processes: the main node is the program's own process, and workers have its listeners, too."""

import os
import sys

from locust import events, main
from parity import note

PROGRAM = os.getpid()


@events.init.add_listener
def on_init(environment, runner, **_):
    note("init", [os.getpid() == PROGRAM, type(runner).__name__])


@events.request.add_listener
def on_request(request_type, name, **_):
    note("request", [os.getpid() == PROGRAM, request_type, name])


@events.test_start.add_listener
def on_start(environment, **_):
    note("test_start", os.getpid() == PROGRAM)


@events.quitting.add_listener
def on_quitting(environment, **_):
    note("quitting", os.getpid() == PROGRAM)


if __name__ == "__main__":
    words = ["-f", "users.py", "--headless", "-u", "2", "-r", "2", "-t", "3s", "-H", os.environ["PARITY_TARGET"]]
    sys.argv = ["locust", *words, "--only-summary", "--processes", "2"]
    try:
        main.main()
    finally:
        note("after", os.getpid() == PROGRAM)

# option: script unordered
