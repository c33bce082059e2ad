"""The load of the report: students who read and write, with a pause in between. A plain Locust file.

To change or delete something, a user first finds it with a GET, which is counted too.
"""

import random

from locust import HttpUser, events, task

COURSES = 40
THREADS = 4_000
USERS = 2_000
TEXT = "I have the same question, and have tried what was said above. " * 3


@events.init_command_line_parser.add_listener
def add_options(parser):
    parser.add_argument("--think", type=float, default=5.0, help="Seconds between the tasks of a user.")


class Student(HttpUser):
    def wait_time(self):
        return self.environment.parsed_options.think

    def on_start(self):
        self.number = random.randint(1, USERS)
        self.course = random.randint(1, COURSES)
        self.client.post("/api/auto_auth/", params={"user": self.number}, name="auto_auth")

    @task(10)
    def get_thread_list(self):
        self.client.get("/api/threads/", params={"course": self.course}, name="GET_thread_list")

    @task(10)
    def get_thread(self):
        self.thread()

    @task(10)
    def get_comment_list(self):
        self.comments()

    @task(2)
    def post_thread(self):
        self.new_thread()

    @task(3)
    def post_response(self):
        self.write("POST", "/api/comments/", "POST_comment_response", thread=self.thread())

    @task(2)
    def post_comment(self):
        thread, comment = self.comments()
        if comment:
            self.write("POST", "/api/comments/", "POST_comment_comment", thread=thread, parent=comment)

    @task(1)
    def patch_thread(self):
        self.write("PATCH", f"/api/threads/{self.thread()}/", "PATCH_thread")

    @task(1)
    def patch_comment(self):
        _, comment = self.comments()
        if comment:
            self.write("PATCH", f"/api/comments/{comment}/", "PATCH_comment")

    @task(1)
    def delete_comment(self):
        _, comment = self.comments()
        if comment:
            self.write("DELETE", f"/api/comments/{comment}/", "DELETE_comment")

    @task(1)
    def delete_thread(self):
        made = self.new_thread()
        if made:
            self.write("DELETE", f"/api/threads/{made}/", "DELETE_thread")

    def thread(self):
        # Threads of the seed data are never deleted.
        number = random.randint(1, THREADS)
        self.client.get(f"/api/threads/{number}/", name="GET_thread")
        return number

    def comments(self):
        thread = random.randint(1, THREADS)
        found = self.client.get("/api/comments/", params={"thread": thread}, name="GET_comment_list")
        comments = found.json() if found.ok else []
        return thread, random.choice(comments)["id"] if comments else None

    def new_thread(self):
        made = self.write("POST", "/api/threads/", "POST_thread", course=self.course, title="New")
        return made.json()["id"] if made.ok else None

    def write(self, method, path, name, **fields):
        body = {"author_id": self.number, "body": TEXT, **fields} if method != "DELETE" else None
        with self.client.request(method, path, json=body, name=name, catch_response=True) as response:
            # Another user may have deleted it.
            if response.status_code == 404 and method != "POST":
                response.success()
        return response
