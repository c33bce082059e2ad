"""The locustfile of trials whose users request one path again and again."""

VISITOR = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.02)

    @task
    def visit(self):
        self.client.get("{path}")
"""
