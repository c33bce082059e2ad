"""SIGTERM to oneself: the test ends in order."""

import os
import signal

import gevent
from locust import User, task
from parity import note


class Sent(User):
    def on_stop(self):
        note("on_stop")

    @task
    def kill(self):
        note("kill")
        os.kill(os.getpid(), signal.SIGTERM)
        gevent.sleep(5)
