"""StopUser from a task, a nested task set and on_start: hooks of what ends, and no user comes in its place."""

from locust import TaskSet, User, task
from locust.exception import StopUser
from parity import note


class Base(User):
    abstract = True

    def on_stop(self):
        note("on_stop", self.environment.runner.user_count)


class Task(Base):
    @task
    def stop(self):
        note("task")
        raise StopUser


class Nested(Base):
    @task
    class Outer(TaskSet):
        def on_stop(self):
            note("Outer.on_stop")

        @task
        class Inner(TaskSet):
            def on_stop(self):
                note("Inner.on_stop")

            @task
            def stop(self):
                note("nested task")
                raise StopUser


class Start(Base):
    def on_start(self):
        note("on_start")
        raise StopUser

    @task
    def never(self):
        note("never")


class Method(Base):
    @task
    def stop_itself(self):
        note("stop", self.stop())
        note("after stop")


# run task: Task -t 1
# run nested: Nested -t 1
# run start: Start -t 1
# run method: Method -t 1
