"""Users who are given a cookie by their first reply, and must bring it with every request after that."""

from locust import FastHttpUser, HttpUser, task


class Plain(HttpUser):
    @task
    def visit(self) -> None:
        self.client.get("/cookies")


class Fast(FastHttpUser):
    @task
    def visit(self) -> None:
        self.client.get("/cookies")
