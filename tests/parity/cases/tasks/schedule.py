"""`schedule_task`, `get_next_task`, `execute_task`, `execute_next_task` and `wait` can be called and replaced."""

from locust import TaskSet, User, task
from parity import note


class Scheduled(TaskSet):
    turns = 0

    @task
    def usual(self):
        note("usual", self.turns)
        self.turns += 1
        if self.turns == 1:
            self.schedule_task(self.late)
            self.schedule_task(Scheduled.early, first=True)
        if self.turns == 3:
            self.user.environment.runner.quit()

    def early(self):
        note("early")

    def late(self):
        note("late")

    def execute_task(self, task):
        note("execute_task", task.__name__)
        super().execute_task(task)

    def execute_next_task(self):
        note("execute_next_task")
        super().execute_next_task()

    def wait(self):
        note("wait")


class Own(User):
    tasks = [Scheduled]


class Choosing(User):
    turns = 0

    @task
    class Chosen(TaskSet):
        @task
        def never(self):
            note("never")

        def chosen(self):
            note("chosen")
            self.user.turns += 1
            if self.user.turns == 3:
                self.user.environment.runner.quit()

        def get_next_task(self):
            note("get_next_task")
            return self.chosen


# run set: Own
# run next: Choosing
