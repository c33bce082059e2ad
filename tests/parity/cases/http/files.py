"""Uploads: names, types and headers of parts, several files, files with data."""

import io

from locust import HttpUser, task


class Files(HttpUser):
    @task
    def all(self):
        post = self.client.post
        post("/one", files={"file": ("a.txt", b"hello")})
        post("/typed", files={"file": ("a.csv", "a,b\n1,2\n", "text/csv")})
        post("/headers", files={"file": ("a.bin", b"\x00", "application/octet-stream", {"X-Part": "1"})})
        post("/bare", files={"file": b"no name"})
        post("/open", files={"file": io.BytesIO(b"opened")})
        post("/several", files=[("f", ("1.txt", b"1")), ("f", ("2.txt", b"2"))])
        post("/with-data", files={"f": ("x", b"x")}, data={"k": "v", "many": ["1", "2"]})
        post("/no-filename", files={"f": (None, "value")})
        post("/unicode", files={"f": ("ü.txt", b"x")})
        self.environment.runner.quit()
