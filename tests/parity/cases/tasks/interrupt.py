"""InterruptTaskSet from on_start, from a task of a task set, and where there is nothing to interrupt."""

from locust import SequentialTaskSet, TaskSet, User, task
from locust.exception import InterruptTaskSet
from parity import note


class AtOnce(TaskSet):
    reschedule = True

    def on_start(self):
        note("on_start", self.reschedule)
        raise InterruptTaskSet(reschedule=self.reschedule)

    def on_stop(self):
        note("on_stop", self.reschedule)

    @task
    def never(self):
        note("never")


class AfterWait(AtOnce):
    reschedule = False


class Line(SequentialTaskSet):
    tasks = [AtOnce, AfterWait]

    @task
    def end(self):
        note("end")
        if self.user.top:
            self.interrupt(self.user.top > 1)
        self.user.environment.runner.quit()


class Interrupting(User):
    tasks = [Line]
    top = 0

    def wait_time(self):
        note("wait")
        return 0


class Bare(User):
    def wait_time(self):
        note("wait")
        self.environment.runner.quit()
        return 0

    @task
    def interrupt(self):
        note("interrupt")
        raise InterruptTaskSet(reschedule=False)


# run nested: Interrupting -t 3
# run bare: Bare -t 3
