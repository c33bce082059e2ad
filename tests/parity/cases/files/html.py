"""--html writes a file, also where its folder is missing."""

from locust import HttpUser, task


class Simple(HttpUser):
    @task
    def get(self):
        self.client.get("/get")
        self.environment.runner.quit()


# compare: files
# run: --html reports/page-{u}.html
