"""[tool.locust] of pyproject.toml, under locust.conf."""

import gevent
from locust import User, events, tag, task
from parity import note


@events.init.add_listener
def show(environment, **_):
    options = environment.parsed_options
    note("options", [options.num_users, options.spawn_rate, options.run_time, options.host, options.tags])


class Configured(User):
    @tag("a", "x")
    @task
    def work(self):
        gevent.sleep(9)


# option: bare
# run: -f locustfile.py,probe.py
