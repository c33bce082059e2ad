"""A server whose self-signed certificate may issue others, as `openssl req -x509` makes them: whom it convinces."""

import subprocess

from gevent.pywsgi import WSGIServer
from locust import HttpUser, task
from parity import note


def certificate(name):
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject]
    subprocess.run([*command, "-out", f"{name}.pem", "-keyout", f"{name}.key"], check=True, capture_output=True)
    return {"certfile": f"{name}.pem", "keyfile": f"{name}.key"}


def hello(_, start_response):
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"hello"]


class Visitor(HttpUser):
    @task
    def all(self):
        certificate("other")
        server = WSGIServer(("127.0.0.1", 0), hello, log=None, error_log=None, **certificate("own"))
        server.start()
        for what, name, verify in (
            ("its own", "127.0.0.1", "own.pem"),
            ("for another name", "localhost", "own.pem"),
            ("another of the kind", "127.0.0.1", "other.pem"),
            ("those of the system", "127.0.0.1", True),
            ("none", "127.0.0.1", False),
        ):
            response = self.client.get(f"https://{name}:{server.server_port}/", name=what, verify=verify)
            note(
                what,
                [response.status_code, type(response.error).__name__ if response.status_code == 0 else response.text],
            )
        server.stop()
        self.environment.runner.quit()


# option: bare
# run: -f locustfile.py --headless -H https://127.0.0.1
