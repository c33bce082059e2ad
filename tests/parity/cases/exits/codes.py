"""Exit codes: nothing wrong, failures, exceptions, process_exit_code, --exit-code-on-error, and sys.exit."""

from locust import HttpUser, events, task


@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--code", type=int)
    parser.add_argument("--late-on-error", type=int)


@events.quitting.add_listener
def decide(environment, **_):
    if environment.parsed_options.code is not None:
        environment.process_exit_code = environment.parsed_options.code
    if environment.parsed_options.late_on_error is not None:
        environment.parsed_options.exit_code_on_error = environment.parsed_options.late_on_error


class Good(HttpUser):
    @task
    def get(self):
        self.client.get("/get")
        self.environment.runner.quit()


class Bad(HttpUser):
    @task
    def get(self):
        self.client.get("/status/500")
        self.environment.runner.quit()


class Broken(HttpUser):
    broken = False

    @task
    def get(self):
        if self.broken:
            self.environment.runner.quit()
        self.broken = True
        raise ValueError("broken")


# run good: Good
# run bad: Bad
# run broken: Broken
# run good-7: Good --code 7
# run bad-0: Bad --code 0
# run on-error: Bad --exit-code-on-error 0
# run on-error-9: Broken --exit-code-on-error 9
# run late-on-error: Bad --late-on-error 0
# run late-on-error-9: Bad --late-on-error 9
# run own-over-on-error: Bad --exit-code-on-error 9 --code 3
