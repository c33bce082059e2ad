"""runner.start while users run: more, fewer, none; the states on the way."""

import gevent
from locust import User, between, events, task
from parity import note


class Waiting(User):
    wait_time = between(30, 30)

    def on_start(self):
        note("start")

    def on_stop(self):
        note("stop")

    @task
    def work(self):
        pass


def play(environment):
    runner = environment.runner
    gevent.sleep(0.5)
    for users in (4, 2, 3, 0, 2):
        runner.start(users, spawn_rate=20)
        gevent.sleep(0.6)
        note("after", [users, runner.user_count, runner.target_user_count, runner.state])
    runner.stop()
    note("stopped", [runner.state, runner.user_count])
    runner.start(1, spawn_rate=1)
    gevent.sleep(0.5)
    note("again", [runner.state, runner.user_count])
    runner.quit()


@events.init.add_listener
def init(environment, **_):
    gevent.spawn(play, environment)


# option: unordered
