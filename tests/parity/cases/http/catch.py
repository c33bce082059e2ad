"""catch_response: success and failure in every order, by text and exception, exceptions in the block, and misuse."""

from locust import HttpUser, task
from locust.exception import CatchResponseError, RescheduleTask, ResponseError
from parity import note


class Catching(HttpUser):
    @task
    def all(self):
        def get(path, **more):
            return self.client.get(path, catch_response=True, **more)

        with get("/nothing"):
            pass
        with get("/failure") as response:
            response.failure("because")
        with get("/exception") as response:
            response.failure(ValueError("value"))
        with get("/empty") as response:
            response.failure("")
        with get("/status/500") as response:
            response.success()
        with get("/status/404"):
            pass
        with get("/status/404") as response:
            response.failure(f"got {response.status_code}")
        with get("/last") as response:
            response.failure("first")
            response.success()
        with get("/last-failure") as response:
            response.success()
            response.failure("last")
        with get("/response-error"):
            raise ResponseError("from the block")
        errors = {"value": ValueError("v"), "reschedule": RescheduleTask("r"), "catch": CatchResponseError("c")}
        for name, error in errors.items():
            try:
                with get(f"/{name}"):
                    raise error
            except type(error) as caught:
                note(name, caught)
            try:
                with get(f"/{name}-after") as response:
                    response.failure("said before")
                    raise error
            except type(error) as caught:
                note(f"{name} after", caught)
        with get("/raise-for-status/x") as response:
            response.raise_for_status()
        with get("/status/503") as response:
            response.failure("manual")
            try:
                response.raise_for_status()
            except Exception as caught:
                note("raise_for_status", caught)
        with get("/with-name", name="named") as response:
            note("meta", sorted(response.request_meta))
            note("in meta", [response.request_meta.get(key) for key in ("request_type", "name", "context", "url")])
        with get("/json") as response:
            if response.json()["a"] == 1:
                response.failure(CatchResponseError("a is 1"))
        for misuse in (self.without, self.late, self.outside):
            try:
                misuse()
            except Exception as error:
                note(misuse.__name__, error)
        with get("http://127.0.0.1:1/refused") as response:
            note("refused", [response.status_code, response.error])
        with get("http://127.0.0.1:1/forgiven") as response:
            response.success()
        self.environment.runner.quit()

    def without(self):
        with self.client.get("/without") as response:
            note("inside", response.status_code)

    def late(self):
        with self.client.get("/late", catch_response=True) as response:
            pass
        response.failure("too late")

    def outside(self):
        self.client.get("/outside", catch_response=True).success()
