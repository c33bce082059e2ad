"""Credentials in the host, the client and its pool, headers of the session, two hosts."""

import os

from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    host = os.environ["PARITY_TARGET"].replace("http://", "http://us%40er:p@")

    @task
    def all(self):
        client = self.client
        client.get("/guarded/1")
        note("auth", client.auth_header is not None)
        client.client.clientpool.close()
        client.get("/after-close")
        note("class", [type(client).__name__, type(client.client).__name__])
        note("defaults", [self.insecure, self.max_retries, self.max_redirects, self.concurrency, self.network_timeout])
        note("more", [self.connection_timeout, self.default_headers, self.proxy_host, self.client_pool])
        client.get(os.environ["PARITY_TARGET"].replace("127.0.0.1", "localhost") + "/other-host")
        self.environment.runner.quit()


# option: bare
# run: -f locustfile.py,probe.py --headless
