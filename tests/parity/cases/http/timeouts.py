"""`timeout` as a number and as a pair."""

from locust import HttpUser, task
from parity import note


class Timeouts(HttpUser):
    @task
    def all(self):
        get = self.client.get
        for timeout in (0.1, (2, 0.1), (None, 0.1), 5, None, (5, None)):
            response = get("/slow/400", timeout=timeout)
            note(f"timeout {timeout}", [response.status_code, response.error])
        for wrong in (0, -1, "soon", (1, 2, 3)):
            try:
                response = get("/slow/1", timeout=wrong)
                note(f"wrong {wrong}", [response.status_code, response.error])
            except Exception as error:
                note(f"raised {wrong}", error)
        with get("/slow/400", timeout=0.1, catch_response=True) as response:
            note("caught", [response.status_code, response.error])
            response.failure("too slow")
        self.environment.runner.quit()
