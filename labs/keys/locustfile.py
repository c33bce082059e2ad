"""The load of the report: users without think time, each with one kind of operation. A plain Locust file.

The class selects one: `plimsoll run -f locustfile.py UploadKey`.
"""

import base64
import itertools
import json
import os
import urllib.request

from locust import HttpUser, events, task

KEYS = "/cckm/google/keys"
ids = itertools.count(1)


@events.test_start.add_listener
def share_the_keys(environment, **_):
    """All users take the next key from one list. At its end, the list starts again."""
    global ids
    with urllib.request.urlopen(f"{environment.host}/_keys", timeout=10) as reply:
        ids = itertools.cycle(range(1, json.load(reply) + 1))


class UploadKey(HttpUser):
    """Imports a key's material as a new key."""

    @task
    def upload(self):
        self.client.post("/cckm/google/upload-key", json={"material": base64.b64encode(os.urandom(32)).decode()})


class GetKey(HttpUser):
    """Reads a key."""

    @task
    def get(self):
        self.client.get(f"{KEYS}/{next(ids)}", name=f"{KEYS}/[id]")


class PatchKey(HttpUser):
    """Changes a key's labels."""

    @task
    def patch(self):
        self.client.patch(f"{KEYS}/{next(ids)}", json={"labels": {"tested": "yes"}}, name=f"{KEYS}/[id]")


class DeleteKey(HttpUser):
    """Lists a key's versions and destroys the first one, in any state, like the report's users."""

    @task
    def delete(self):
        key = next(ids)
        with self.client.get(f"{KEYS}/{key}/versions", name=f"{KEYS}/[id]/versions", catch_response=True) as reply:
            version = reply.json()["resources"][0]["name"].rpartition("/")[2]
        self.client.post(
            f"{KEYS}/{key}/versions/{version}/schedule-destroy",
            name=f"{KEYS}/[id]/versions/[versionID]/schedule-destroy",
        )
