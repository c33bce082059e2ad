"""Exceptions of one place that say something else each time."""

import gevent
from locust import HttpUser, task
from parity import note


class Shopper(HttpUser):
    item = 0

    @task
    def buy(self):
        self.item += 1
        self.client.get("/get")
        if self.item == 5:
            note("exceptions", [(each["count"], each["msg"]) for each in self.environment.runner.exceptions.values()])
            gevent.sleep(2.5)
            self.environment.runner.quit()
        raise (ValueError if self.item % 2 else KeyError)(f"item {self.item}")


# option: csv
