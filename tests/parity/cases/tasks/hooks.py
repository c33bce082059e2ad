"""Exceptions in every hook of users and task sets, one run each."""

from locust import TaskSet, User, events, task
from locust.exception import StopUser
from parity import note

WHERE = ""
raised = []


@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--where", default="")


@events.init.add_listener
def remember(environment, **_):
    global WHERE
    WHERE = environment.parsed_options.where


def perhaps(where):
    note(where)
    if where == WHERE:
        raised.append(where)
        if len(raised) == 4:
            raise StopUser
        raise RuntimeError(f"in {where}")


class Inner(TaskSet):
    def on_start(self):
        perhaps("set.on_start")

    def on_stop(self):
        perhaps("set.on_stop")

    def wait_time(self):
        perhaps("set.wait_time")
        return 0

    @task
    def work(self):
        self.user.turns += 1
        perhaps("set.task")
        if self.user.turns == 2:
            self.interrupt()
        if self.user.turns == 4:
            raise StopUser


class Hooked(User):
    tasks = [Inner]
    turns = 0

    def __init__(self, environment):
        perhaps("init")
        super().__init__(environment)

    def on_start(self):
        perhaps("on_start")

    def on_stop(self):
        perhaps("on_stop")

    def wait_time(self):
        perhaps("wait_time")
        return 0


# compare: log
# run nowhere: --where nowhere -t 1
# run init: --where init -t 1
# run on_start: --where on_start -t 1
# run on_stop: --where on_stop -t 1
# run wait_time: --where wait_time -t 1
# run set-on_start: --where set.on_start -t 1
# run set-on_stop: --where set.on_stop -t 1
# run set-wait_time: --where set.wait_time -t 1
# run set-task: --where set.task -t 1
