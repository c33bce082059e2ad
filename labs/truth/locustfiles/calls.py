"""Calls of gRPC by Python users."""

from plimsoll import HttpUser, task


class Caller(HttpUser):
    proto = "truth.proto"

    @task
    def fixed(self):
        self.grpc("truth.Truth/Fixed", {"text": "x"})

    @task
    def many(self):
        for _ in self.grpc.stream("truth.Truth/Many", {"text": "x"}):
            pass

    @task
    def fail(self):
        self.grpc("truth.Truth/Fail", {"text": "x"})
