"""Custom messages in a single process reach the listener at once."""

from locust import User, events, task
from parity import note


def listener(environment, msg, **_):
    note("message", [msg.type, msg.data, type(environment).__name__])


@events.init.add_listener
def init(environment, **_):
    runner = environment.runner
    runner.register_message("first", listener)
    runner.register_message("second", listener, concurrent=True)
    try:
        runner.register_message("first", listener)
    except Exception as error:
        note("twice", error)
    note("identity", [runner.worker_index, runner.worker_count, type(runner.client_id).__name__])


class Sending(User):
    @task
    def send(self):
        self.environment.runner.send_message("first", {"a": [1, 2]})
        self.environment.runner.send_message("second")
        self.environment.runner.send_message("second", "text")
        try:
            self.environment.runner.send_message("unknown", 1)
        except Exception as error:
            note("unknown", error)
        self.environment.runner.quit()
