"""`plimsoll run` with its page, asked as a browser would."""

from __future__ import annotations

import json
import re
import signal
import threading
import urllib.error
import urllib.request
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tests.command import TIMEOUT_S, wait_until

from plimsoll.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.command import Command

ADDRESS = re.compile(r"the page: (\S+)", re.MULTILINE)

SHOP_LOCUSTFILE = """
from locust import HttpUser, constant, events, tag, task

class Visitor(HttpUser):
    wait_time = constant(0.05)
    weight = 3

    @tag("read")
    @task
    def index(self):
        self.client.get("/index")

class Editor(HttpUser):
    wait_time = constant(0.05)

    @tag("write")
    @task
    def edit(self):
        self.client.get("/edit")
"""
"""A locustfile."""


class PageSession:
    """A run that was started without --headless. `url` once it has said where its page is."""

    def __init__(self, command: Command, *arguments: str, verb: str = "run") -> None:
        self.process = command.start(verb, "--web-port", "0", *arguments)
        self._lines: list[str] = []
        self._out: list[str] = []
        self._readers = [
            threading.Thread(target=self._read, args=(stream, lines), daemon=True)
            for stream, lines in ((self.process.stderr, self._lines), (self.process.stdout, self._out))
        ]
        for each in self._readers:
            each.start()
        wait_until(lambda: ADDRESS.search(self.err) or self.process.poll() is not None)
        found = ADDRESS.search(self.err)
        assert found, self.err
        self.url = found[1].rstrip("/")

    @cached_property
    def token(self) -> str:
        """What an action must carry. Asked for when it is needed: the process may be about to end."""
        token: str = self.get("/api/state")["token"]
        return token

    def _read(self, stream: Any, lines: list[str]) -> None:
        for line in stream:
            lines.append(line)

    @property
    def err(self) -> str:
        return "".join(self._lines)

    @property
    def out(self) -> str:
        return "".join(self._out)

    def ask(self, path: str, body: object = None, timeout_s: float = TIMEOUT_S) -> tuple[int, dict[str, Any]]:
        """Status and JSON; with a body it is a POST."""
        return self._asked(path, None if body is None else json.dumps(body).encode(), timeout_s)

    def post(self, path: str, content: bytes) -> tuple[int, dict[str, Any]]:
        """Status and JSON of a POST of these bytes."""
        return self._asked(path, content, TIMEOUT_S)

    def _asked(self, path: str, data: bytes | None, timeout_s: float) -> tuple[int, dict[str, Any]]:
        headers = {"Content-Type": "application/json"}
        if data is not None:
            headers["X-Plimsoll-Token"] = self.token
        request = urllib.request.Request(self.url + path, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def get(self, path: str) -> dict[str, Any]:
        status, answer = self.ask(path)
        assert status == 200, answer
        return answer

    def answer(self, path: str, body: object) -> dict[str, Any]:
        """The answer to a POST that is accepted, and that may take as long as several commands."""
        status, answer = self.ask(path, body, 4 * TIMEOUT_S)
        assert status == 200, answer
        return answer

    def do(self, action: str, body: object = None) -> None:
        """start, change, stop or reset; must be accepted."""
        status, answer = self.ask(f"/api/live/{action}", body or {})
        assert status == 202, answer

    def refused(self, action: str, body: object = None) -> tuple[int, str, str]:
        """Status, message and field of what must not be accepted."""
        status, answer = self.ask(f"/api/live/{action}", body or {})
        return status, answer["error"], answer["field"]

    @property
    def form(self) -> dict[str, Any]:
        form: dict[str, Any] = self.get("/api/state")["form"]
        return form

    def request(self, **changes: object) -> dict[str, Any]:
        """What the form is filled with, and changes to it."""
        return {**self.form["request"], **changes}

    @property
    def test(self) -> dict[str, Any]:
        """The run that the page shows; {} before the first."""
        return self.get("/api/state")["test"] or {}

    def until(self, condition: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """The run that the page shows once this is true of it."""
        found: list[dict[str, Any]] = []

        def holds() -> bool:
            found[:] = [self.test]
            return bool(condition(found[0]))

        # Each look is a request, which takes time from the run.
        wait_until(holds, every_s=0.1)
        return found[0]

    def until_over(self, number: int = 1) -> dict[str, Any]:
        ends = ("finished", "stopped", "failed")
        return self.until(lambda test: test.get("number") == number and test["status"] in ends)

    def until_users(self, users: int) -> dict[str, Any]:
        return self.until(lambda test: test.get("users") == users and test["status"] == "running")

    def interrupt(self) -> int:
        """Ctrl-C; the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(TIMEOUT_S)
        self.close()
        return code

    def close(self) -> None:
        """Whatever has become of it."""
        self.process.kill()
        self.process.wait()
        for each in self._readers:
            each.join(TIMEOUT_S)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


def stored_runs(plimsoll: Command) -> list[dict[str, Any]]:
    """The oldest first."""
    with Store.open(str(plimsoll.store)) as store:
        ids = [run.id for run in reversed(store.runs())]
    return [plimsoll.stored(each) for each in ids]
