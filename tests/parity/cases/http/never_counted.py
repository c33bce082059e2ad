"""Requests that are never counted have no rows: an exception inside of the block, the end of the run inside of it."""

import gevent
from locust import HttpUser, task
from parity import note


class Shopper(HttpUser):
    @task
    def browse(self):
        self.client.get("/get")
        try:
            with self.client.get("/get", name="raised", catch_response=True):
                raise ValueError("in the block")
        except ValueError:
            pass
        note("entries", [name for name, _ in self.environment.stats.entries])
        gevent.sleep(2.5)
        with self.client.get("/get", name="cut off", catch_response=True):
            gevent.spawn(self.environment.runner.quit)
            gevent.sleep(10)


# option: csv
