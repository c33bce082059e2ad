"""Where the host comes from: -H over the class; a base path, a slash at its end, credentials in it."""

from locust import HttpUser, events, task
from parity import note


class Hosted(HttpUser):
    host = "http://127.0.0.1:1/class"

    @task
    def get(self):
        note("host", self.host)
        note("base", self.client.base_url)
        note("auth", getattr(self.client.auth, "username", None))
        self.client.get("/path")
        try:
            self.client.get("path")
        except Exception as error:
            note("no slash", error)
        self.environment.runner.quit()


@events.init.add_listener
def init(environment, **_):
    note("environment", environment.host)


# run plain:
# run slash: -H {target}/
# run base: -H {target}/api/v1
# run query: -H {target}/api?key=1
