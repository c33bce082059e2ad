"""Users that get a cookie with their first response, and must send it with every later request."""

from locust import FastHttpUser, HttpUser, task


class Plain(HttpUser):
    @task
    def visit(self) -> None:
        self.client.get("/cookies")


class Fast(FastHttpUser):
    @task
    def visit(self) -> None:
        self.client.get("/cookies")
