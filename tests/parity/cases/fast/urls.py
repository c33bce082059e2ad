"""FastHttpUser's URLs and the names made of them."""

from locust import FastHttpUser, task
from parity import note


class Fast(FastHttpUser):
    @task
    def all(self):
        get = self.client.get
        for path in ("/a b", "/ü", "/%41", "/q?x=1&y=2", "/q?", "/frag#part", "//double", "", "?q=1", "/q?x=a b"):
            try:
                note(path, get(path).status_code)
            except Exception as error:
                note(f"{path} raised", error)
        get(self.host + "/absolute?x=1")
        get(self.host + "/absolute", name="named")
        get("/params", params={"x": 1}, name=None)
        with self.client.rename_request("renamed"):
            get("/r/1")
        self.client.request_name = "session"
        get("/r/2")
        self.client.request_name = None
        note("base", self.client.base_url == self.host)
        self.environment.runner.quit()


# run plain:
# run base: -H {target}/api/
