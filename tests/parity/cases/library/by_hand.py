"""A runner made from its class, users started by hand before the test, and what a runner shows of itself."""

import gevent
from locust import User, task
from locust.env import Environment
from locust.runners import LocalRunner, MasterRunner, Runner, WorkerRunner
from parity import note


class Sleeper(User):
    def on_start(self):
        note("on_start")

    @task
    def rest(self):
        gevent.sleep(60)


class Other(Sleeper):
    pass


environment = Environment(user_classes=[Sleeper, Other])
runner = environment.runner = LocalRunner(environment)
note("kinds", [isinstance(runner, kind) for kind in (Runner, LocalRunner, MasterRunner, WorkerRunner)])
note("before", [runner.state, runner.spawning_greenlet, runner.final_user_classes_count])
note("place", [runner.worker_index, runner.worker_count])

users = runner.spawn_users({"Sleeper": 2, "Other": 1})
note("spawned", [len(users), len(runner.user_greenlets), runner.user_count, runner.user_classes_count, runner.state])
gevent.sleep(0.2)
note("they run", [len(runner.user_greenlets), [each.args[0] in users for each in runner.user_greenlets]])
runner.stop_users({"Sleeper": 1})
note("fewer", [runner.user_classes_count, runner.target_user_count])
runner.stop()
note("stopped", [runner.state, runner.user_count, runner.final_user_classes_count])

runner.start(4, spawn_rate=4)
note("spawning", type(runner.spawning_greenlet).__name__)
runner.spawning_greenlet.join()
note("running", [runner.state, runner.user_classes_count, runner.spawning_greenlet.successful()])
runner.update_state("cleanup")
note("state", runner.state)
runner.update_state("running")
runner.quit()
note("quit", [runner.state, runner.user_count, runner.final_user_classes_count])

# option: script unordered
