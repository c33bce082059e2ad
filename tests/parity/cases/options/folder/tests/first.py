from locust import User, task
from parity import note


class First(User):
    @task
    def work(self):
        note("first")
        self.environment.runner.quit()
