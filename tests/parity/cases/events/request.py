"""What a listener of request gets, for HttpUser and FastHttpUser, with a context, and what of it can be used."""

from locust import FastHttpUser, HttpUser, events, task
from parity import note


@events.request.add_listener
def listener(request_type, name, response_time, response_length, response, context, exception, start_time, url, **more):
    note("request", [request_type, name, response_length, context, exception, url, sorted(more)])
    note("response", [response.status_code, response.text, response.headers.get("Content-Type")])
    note("url of the response", response.url)


class Http(HttpUser):
    def context(self):
        return {"user": "http"}

    @task
    def get(self):
        self.client.get("/get", context={"call": 1})
        self.client.get("/status/404", name="named")
        self.client.get("/redirect/1")
        with self.client.get("/caught", catch_response=True) as response:
            response.failure("no good")
        self.environment.runner.quit()


class Fast(FastHttpUser):
    def context(self):
        return {"user": "fast"}

    @task
    def get(self):
        self.client.get("/get", context={"call": 1})
        self.client.get("/status/404", name="named")
        self.client.get("/redirect/1")
        with self.client.get("/caught", catch_response=True) as response:
            response.failure("no good")
        self.environment.runner.quit()


# run http: Http
# run fast: Fast
