"""The load of the report: students who read and write, with a pause between. A plain Locust file.

A user who changes or deletes something first looks for it, with a GET that is counted as one.
"""

import random

from locust import HttpUser, between, task

COURSES = 40
USERS = 2_000
TEXT = "I have the same question, and have tried what was said above. " * 3


class Student(HttpUser):
    wait_time = between(0.5, 1.5)

    def on_start(self):
        self.number = random.randint(1, USERS)
        self.course = random.randint(1, COURSES)
        self.client.post("/auto_auth", params={"user": self.number}, name="auto_auth")

    @task(10)
    def list_threads(self):
        self.threads()

    @task(10)
    def read_thread(self):
        self.thread()

    @task(10)
    def list_comments(self):
        self.comments()

    @task(2)
    def post_thread(self):
        self.client.post("/threads", params={"course": self.course}, json=self.text(), name="POST_thread")

    @task(3)
    def post_response(self):
        self.client.post(f"/threads/{self.thread()}/comments", json=self.text(), name="POST_comment_response")

    @task(2)
    def post_comment(self):
        thread, comment = self.comments()
        if comment:
            where = f"/threads/{thread}/comments"
            self.client.post(where, params={"parent": comment}, json=self.text(), name="POST_comment_comment")

    @task(1)
    def patch_thread(self):
        self.client.patch(f"/threads/{self.thread()}", json=self.text(), name="PATCH_thread")

    @task(1)
    def patch_comment(self):
        _, comment = self.comments()
        if comment:
            self.missing_is_fine(self.client.patch, f"/comments/{comment}", "PATCH_comment", json=self.text())

    @task(1)
    def delete_comment(self):
        _, comment = self.comments()
        if comment:
            self.missing_is_fine(self.client.delete, f"/comments/{comment}", "DELETE_comment")

    @task(1)
    def delete_thread(self):
        made = self.client.post("/threads", params={"course": self.course}, json=self.text(), name="POST_thread")
        self.client.delete(f"/threads/{made.json()['id']}", name="DELETE_thread")

    def threads(self):
        found = self.client.get("/threads", params={"course": self.course}, name="GET_thread_list").json()
        return random.choice(found)["id"]

    def thread(self):
        # Threads from the beginning are never deleted.
        number = random.randint(1, 4_000)
        self.client.get(f"/threads/{number}", name="GET_thread")
        return number

    def comments(self):
        thread = random.randint(1, 4_000)
        found = self.client.get(f"/threads/{thread}/comments", name="GET_comment_list").json()
        return thread, random.choice(found)["id"] if found else None

    def missing_is_fine(self, method, path, name, **more):
        """Somebody else may have deleted it meanwhile."""
        with method(path, name=name, catch_response=True, **more) as response:
            if response.status_code == 404:
                response.success()

    def text(self):
        return {"author": self.number, "body": TEXT}
