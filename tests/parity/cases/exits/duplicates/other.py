from locust import User, task


class WebsiteUser(User):
    @task
    def work(self):
        self.environment.runner.quit()
