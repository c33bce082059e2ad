"""The load of locustfile.py, with users who give up after 5 s. A plain Locust file."""

from locust import HttpUser, task

PATIENCE = 5


class ImpatientUser(HttpUser):
    """Lists the todos and adds one, in random order."""

    @task(6)
    def list_todos(self):
        self.client.get("/todos/", timeout=PATIENCE)

    @task(4)
    def create_todo(self):
        self.client.post(
            "/todos/",
            json={"title": "Buy milk", "description": "Two litres, before the shop closes at six today"},
            timeout=PATIENCE,
        )
