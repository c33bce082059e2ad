from locust import HttpUser, task


class Client(HttpUser):
    @task
    def get(self):
        self.client.get("/get")
        self.client.get("/status/404")
        self.environment.runner.quit()
