"""Which statuses are failures for FastHttpUser, and in which words."""

from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    @task
    def all(self):
        for status in (200, 201, 202, 204, 206, 226, 304, 305, 400, 401, 404, 418, 429, 500, 503):
            response = self.client.get(f"/status/{status}")
            note(f"{status}", [response.status_code, response.ok])
            try:
                response.raise_for_status()
            except Exception as error:
                note(f"{status} raised", error)
        self.client.get("/status/500?q=1", name="named")
        with self.client.get("/status/500", catch_response=True) as response:
            response.success()
        self.environment.runner.quit()
