"""An exception in a listener is logged, the others still run, and the exit code is 2; in a listener of init it is 1."""

from locust import HttpUser, events, task
from parity import note


@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--where", default="")


def listen(kind):
    def broken(**_):
        if kind == WHERE:
            raise RuntimeError(f"broken listener of {kind}")

    getattr(events, kind).add_listener(broken)
    getattr(events, kind).add_listener(lambda **_: note(f"after {kind}"))


WHERE = ""


@events.init.add_listener
def remember(environment, **_):
    global WHERE
    WHERE = environment.parsed_options.where


for each in ("init", "test_start", "spawning_complete", "request", "test_stopping", "test_stop", "quitting", "quit"):
    listen(each)


class Simple(HttpUser):
    @task
    def get(self):
        self.client.get("/get")
        self.environment.runner.quit()


# compare: log
# run init: --where init
# run test_start: --where test_start
# run spawning_complete: --where spawning_complete
# run request: --where request
# run test_stop: --where test_stop
# run quitting: --where quitting
# run quit: --where quit
