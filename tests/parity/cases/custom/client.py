"""The usual wrapper of another protocol's client: __getattr__ with a timer around each call."""

import time
import xmlrpc.client

from locust import User, task
from parity import note


class Client(xmlrpc.client.ServerProxy):
    def __init__(self, host, request_event):
        super().__init__(host)
        self._request_event = request_event

    def __getattr__(self, name):
        func = xmlrpc.client.ServerProxy.__getattr__(self, name)

        def wrapper(*args, **kwargs):
            meta = {
                "request_type": "xmlrpc",
                "name": name,
                "start_time": time.time(),
                "response_length": 0,
                "response": None,
                "context": {},
                "exception": None,
            }
            began = time.perf_counter()
            try:
                meta["response"] = func(*args, **kwargs)
            except Exception as error:
                meta["exception"] = type(error).__name__
            meta["response_time"] = (time.perf_counter() - began) * 1000
            self._request_event.fire(**meta)
            return meta["response"]

        return wrapper


class RpcUser(User):
    abstract = True

    def __init__(self, environment):
        super().__init__(environment)
        self.client = Client(self.host + "/status/500", environment.events.request)


class Caller(RpcUser):
    @task
    def call(self):
        note("answer", self.client.get_time())
        self.client.add(1, 2)
        self.environment.runner.quit()
