"""What of requests.Session people use: hooks, params, verify, adapters, prepared requests, close, request hooks."""

import requests
from locust import HttpUser, task
from parity import note
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry


class Sessions(HttpUser):
    @task
    def all(self):
        client = self.client
        note("is a session", isinstance(client, requests.Session))
        note("verify", [client.verify, client.cert, client.proxies, client.stream, client.max_redirects])
        client.params = {"session": "1"}
        client.get("/params", params={"own": "2"})
        client.params = {}
        client.hooks["response"].append(lambda response, **_: note("hook", [response.status_code, response.url]))
        client.get("/hooked")
        client.hooks["response"].clear()
        client.get("/own-hook", hooks={"response": lambda response, **_: note("own hook", response.status_code)})
        client.verify = False
        client.get("/unverified")
        client.get("/verify", verify=False)
        client.mount("http://", HTTPAdapter(max_retries=Retry(total=1, status_forcelist=[503], backoff_factor=0)))
        note("retried", client.get("/status/503").error)
        client.get("/mounted")
        client.close()
        client.get("/after-close")
        request = requests.Request("POST", self.host + "/prepared", json={"a": 1})
        response = client.send(client.prepare_request(request))
        note("sent", [type(response).__name__, response.status_code])
        with requests.Session() as plain:
            note("plain", plain.get(self.host + "/plain").text)
        note("module", requests.get(self.host + "/module").status_code)
        response = client.get("/elapsed")
        note("elapsed", response.elapsed.total_seconds() >= 0)
        note("request", [response.request.method, response.request.path_url, dict(response.request.headers)])
        note("url", response.url)
        self.environment.runner.quit()
