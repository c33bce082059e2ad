from locust import User, events, task
from parity import note


class Second(User):
    @task
    def work(self):
        note("second")
        self.environment.runner.quit()


@events.init.add_listener
def show(**_):
    note("init of the second")
