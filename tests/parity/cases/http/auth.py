"""Basic auth by tuple and object, of the session, digest, a function, and what a redirect does to it."""

from locust import HttpUser, task
from parity import note
from requests.auth import AuthBase, HTTPBasicAuth, HTTPDigestAuth


class Token(AuthBase):
    def __call__(self, request):
        request.headers["Authorization"] = "Token t"
        return request


class Auth(HttpUser):
    @task
    def all(self):
        client = self.client
        note("none", client.get("/guarded/0").status_code)
        note("tuple", client.get("/guarded/1", auth=("u", "p:ü")).status_code)
        note("object", client.get("/guarded/2", auth=HTTPBasicAuth("u", "p")).status_code)
        note("own", client.get("/guarded/3", auth=Token()).text)
        note("function", client.get("/guarded/4", auth=Token().__call__).text)
        client.auth = ("session", "s")
        note("session", client.get("/guarded/5").status_code)
        note("redirect", client.get("/moved/302?to=/guarded/6").status_code)
        client.auth = None
        note("url", client.get(self.host.replace("http://", "http://in:url@") + "/guarded/7").status_code)
        note("header", client.get("/guarded/8", headers={"Authorization": "Bearer b"}).status_code)
        response = client.get("/digest/x", auth=HTTPDigestAuth("u", "p"))
        note("digest", [response.status_code, len(response.history)])
        self.environment.runner.quit()
