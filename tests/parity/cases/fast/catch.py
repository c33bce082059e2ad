"""catch_response with FastHttpUser."""

from locust import FastHttpUser, task
from locust.exception import ResponseError
from parity import note


class Fast(FastHttpUser):
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
        with get("/status/500") as response:
            response.success()
        with get("/status/404"):
            pass
        with get("/last") as response:
            response.failure("first")
            response.success()
        with get("/response-error"):
            raise ResponseError("from the block")
        try:
            with get("/value"):
                raise ValueError("v")
        except ValueError as error:
            note("value", error)
        try:
            with get("/value-after") as response:
                response.failure("before")
                raise ValueError("v")
        except ValueError as error:
            note("value after", error)
        with get("/with-name", name="named", context={"c": 1}) as response:
            note("meta", sorted(response.request_meta))
            response.request_meta["name"] = "changed"
        with get("/raise") as response:
            response.raise_for_status()
        for misuse in (self.without, self.late):
            try:
                misuse()
            except Exception as error:
                note(misuse.__name__, error)
        self.environment.runner.quit()

    def without(self):
        with self.client.get("/without") as response:
            note("inside", response.status_code)

    def late(self):
        with self.client.get("/late", catch_response=True) as response:
            pass
        response.failure("too late")
