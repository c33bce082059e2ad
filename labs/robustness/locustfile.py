"""Users with good, late, long, failed and interrupted responses, on kept and on new connections."""

from locust import HttpUser, constant, task


class Mixed(HttpUser):
    wait_time = constant(0.01)

    @task(6)
    def fixed(self) -> None:
        self.client.get("/fixed?ms=5")

    @task(2)
    def long(self) -> None:
        self.client.get("/bytes?n=20000")

    @task(2)
    def few_on_a_connection(self) -> None:
        self.client.get("/keep-alive?requests=3")

    @task
    def failed(self) -> None:
        self.client.get("/status?code=503")

    @task
    def cut_off(self) -> None:
        self.client.get("/reset?at=body")
