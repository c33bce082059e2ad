import gevent
from locust import HttpUser, task


class Client(HttpUser):
    @task
    def get(self):
        self.client.get("/get")
        gevent.sleep(60)
