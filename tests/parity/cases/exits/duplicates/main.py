"""Two files with a user class of one name."""

from locust import User, task


class WebsiteUser(User):
    @task
    def work(self):
        self.environment.runner.quit()


# option: bare
# run: --headless -f {here} -t 1
