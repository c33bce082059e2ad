"""An Environment, a local runner and a few users, without the command line."""

import os

import gevent
from locust import HttpUser, events, task
from locust.env import Environment
from locust.log import setup_logging
from locust.stats import stats_history, stats_printer
from parity import note

setup_logging("INFO")


class Client(HttpUser):
    host = os.environ["PARITY_TARGET"]
    times = 0

    @task
    def get(self):
        self.client.get("/get")
        self.client.get("/status/404")
        self.times += 1
        if self.times == 3:
            gevent.sleep(60)


environment = Environment(user_classes=[Client], events=events)
runner = environment.create_local_runner()
for kind in ("test_start", "spawning_complete", "test_stopping", "test_stop", "request", "user_error"):
    getattr(environment.events, kind).add_listener(lambda kind=kind, **arguments: note(kind, sorted(arguments)))
environment.events.init.fire(environment=environment, runner=runner, web_ui=None)
gevent.spawn(stats_printer(environment.stats))
gevent.spawn(stats_history, environment.runner)
note("before", [runner.state, runner.user_count])
runner.start(1, spawn_rate=10)
gevent.sleep(0.5)
note("running", [runner.state, runner.user_count])
gevent.spawn_later(0.5, runner.quit)
runner.greenlet.join()
note("after", [runner.state, runner.user_count])
for key, entry in sorted(environment.stats.entries.items()):
    note("entry", [list(key), entry.num_requests, entry.num_failures])
note("errors", sorted(error.to_name() for error in environment.stats.errors.values()))

# option: script
