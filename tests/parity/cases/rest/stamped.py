"""`rest_` adds the time to the URL, which is not in the name."""

from locust import FastHttpUser, task


class Stamped(FastHttpUser):
    @task
    def all(self):
        with self.rest_("GET", "/json"):
            pass
        with self.rest_("GET", "/json?x=1"):
            pass
        with self.rest_("GET", "/json", name="named"):
            pass
        self.environment.runner.quit()
