"""The load of the report: 50 users without think time, reads to writes 6 : 4. A plain Locust file."""

from locust import HttpUser, task


class TodosUser(HttpUser):
    """Lists the todos and adds one, in random order."""

    @task(6)
    def list_todos(self):
        self.client.get("/todos/")

    @task(4)
    def create_todo(self):
        self.client.post(
            "/todos/",
            json={"title": "Buy milk", "description": "Two litres, before the shop closes at six today"},
        )
