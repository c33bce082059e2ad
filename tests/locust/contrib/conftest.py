"""Users of other protocols, played in a process of their own, patched as a worker is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE = """
from plimsoll.locust import install; install()
import json
from locust import events
from locust.env import Environment
reported = []
@events.request.add_listener
def report(request_type, name, response_time, response_length, exception=None, context=None, **_):
    reported.append([request_type, name, response_time, response_length, exception and str(exception), context])
environment = Environment(events=events)
"""
AFTER = "\nprint(json.dumps(reported, default=str))\n"
TIMEOUT_S = 60.0


class RecordedRequest(NamedTuple):
    """What a listener of the request event got."""

    type: str
    name: str
    time: float
    length: int
    error: str | None
    context: dict[str, Any]


@pytest.fixture
def run_code() -> Callable[..., list[RecordedRequest]]:
    """Runs code that has an `environment`; returns the requests that were reported in it."""

    def run_code(code: str, **variables: str) -> list[RecordedRequest]:
        done = subprocess.run(
            [sys.executable, "-c", BEFORE + code + AFTER],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env={**os.environ, **variables},
        )
        assert done.returncode == 0, done.stderr
        return [RecordedRequest(*each) for each in json.loads(done.stdout.splitlines()[-1])]

    return run_code
