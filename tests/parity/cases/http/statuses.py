"""Which statuses are failures, and in which words; what raise_for_status and ok say."""

from locust import HttpUser, task
from parity import note


class Statuses(HttpUser):
    @task
    def all(self):
        for status in (200, 201, 206, 304, 400, 401, 403, 404, 409, 418, 422, 429, 500, 502, 503, 504):
            response = self.client.get(f"/status/{status}")
            try:
                response.raise_for_status()
                raised = None
            except Exception as error:
                raised = error
            note(f"{status}", [response.status_code, response.ok, bool(response), response.error, raised])
        self.client.get("/status/500?q=1", name="named")
        self.client.post("/status/404", {"a": 1})
        self.client.get("/moved/302?to=/status/503")
        self.environment.runner.quit()
