"""What is said of users that cannot work: no tasks, a decorated run, nonsense from wait_time."""

from locust import TaskSet, User, task
from parity import note

try:

    class Running(User):
        @task
        def run(self):
            pass
except Exception as error:
    note("run", error)

try:

    class Starting(TaskSet):
        @task
        def on_start(self):
            pass

    note("on_start", "a warning")
except Exception as error:
    note("on_start", error)


class Empty(User):
    waits = 0

    def wait_time(self):
        self.waits += 1
        if self.waits == 3:
            self.environment.runner.quit()
        return 0


class EmptySet(User):
    waits = 0

    def wait_time(self):
        self.waits += 1
        if self.waits == 3:
            self.environment.runner.quit()
        return 0

    tasks = [TaskSet]


class BadWait(User):
    def wait_time(self):
        return "soon"

    @task
    def work(self):
        note("work")


# run empty: Empty
# run set: EmptySet
# run wait: BadWait -t 1
# compare: log
