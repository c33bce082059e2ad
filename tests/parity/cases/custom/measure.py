"""`events.request.measure` reports a block, and what went wrong in it."""

from locust import User, task
from parity import note


class Measured(User):
    @task
    def all(self):
        measure = self.environment.events.request.measure
        with measure("own", "block"):
            pass
        with measure("own", "length", response_length=12) as meta:
            note("meta", sorted(meta))
            meta["response_length"] = 99
        with measure("own", "context", context={"c": 1}) as meta:
            meta["name"] = "renamed"
        try:
            with measure("own", "raised"):
                raise ValueError("in the block")
        except ValueError as error:
            note("raised", error)
        with measure("own", "given") as meta:
            meta["exception"] = "given"
        self.environment.runner.quit()
