"""What the users of the demo's shop do. It is an ordinary locustfile."""

from locust import HttpUser, between, task


class Customer(HttpUser):
    """Looks around, searches, reads and writes reviews, and sometimes buys."""

    wait_time = between(0.1, 0.5)

    @task(4)
    def look(self) -> None:
        self.client.get("/")

    @task(2)
    def search(self) -> None:
        self.client.get("/search?q=teapot", name="/search")

    @task(3)
    def read_reviews(self) -> None:
        self.client.get("/reviews")

    @task(2)
    def write_review(self) -> None:
        self.client.post("/reviews", json={"product": "teapot", "stars": 4, "text": "It pours without a drop."})

    @task(2)
    def buy(self) -> None:
        self.client.post("/checkout", json={"product": "teapot", "amount": 1})
