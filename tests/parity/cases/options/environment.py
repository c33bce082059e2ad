"""LOCUST_… variables."""

from locust import User, events, task
from parity import note


@events.init.add_listener
def show(environment, **_):
    options = environment.parsed_options
    note("options", [options.num_users, options.spawn_rate, options.run_time, options.host, options.headless])
    note(
        "more", [options.tags, options.loglevel, options.exit_code_on_error, options.user_classes, options.stop_timeout]
    )


class One(User):
    @task
    def work(self):
        note("one")
        self.environment.runner.quit()


class Two(User):
    @task
    def work(self):
        note("two")
        self.environment.runner.quit()


# option: bare
# env: LOCUST_LOCUSTFILE=locustfile.py,probe.py LOCUST_HEADLESS=true LOCUST_USERS=1
# env: LOCUST_SPAWN_RATE=3 LOCUST_RUN_TIME=9s
# env: LOCUST_HOST=http://127.0.0.1:1 LOCUST_EXIT_CODE_ON_ERROR=6 LOCUST_USER_CLASSES=Two LOCUST_STOP_TIMEOUT=2
# run plain:
# run over: -u 1 -t 8 One
