"""--json on stdout and --json-file."""

from locust import User, task


class Custom(User):
    @task
    def all(self):
        for each in (1, 2, 300):
            self.environment.events.request.fire(
                request_type="own", name="times", response_time=each, response_length=10, exception=None
            )
        self.environment.runner.quit()


# compare: files
# run file: --json-file out/result
# run suffix: --json-file result.json
