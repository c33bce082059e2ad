"""A typical locustfile: headers, a JSON body, a grouped name, and a checked response."""

import itertools

from locust import FastHttpUser, HttpUser, task

numbers = itertools.count(1)


def order(client):
    number = next(numbers)
    with client.post(
        f"/orders/{number}",
        json={"customer": number, "items": [{"sku": "A-1042", "quantity": 2}, {"sku": "B-77", "quantity": 1}]},
        headers={"Authorization": "Bearer 4f1d0e9c", "Accept": "application/json", "X-Request-Id": str(number)},
        name="/orders/[id]",
        catch_response=True,
    ) as response:
        if response.json()["status"] != "accepted":
            response.failure("order not accepted")


class RealisticHttp(HttpUser):
    @task
    def place_order(self):
        order(self.client)


class RealisticFast(FastHttpUser):
    @task
    def place_order(self):
        order(self.client)
