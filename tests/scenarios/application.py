"""A real application on a port of this machine, and a visit of it that is recorded with Chromium."""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright
from tests.run.joined import free_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / "target" / "scenarios"
"""Where `make scenarios` installs applications."""
PYTHON, NODE_MODULES, GO_PROGRAMS = INSTALLED / "venv" / "bin", INSTALLED / "node" / "node_modules", INSTALLED / "bin"
START_TIMEOUT_S = 600.0
VISIT_TIMEOUT_S = 60.0
"""Seconds that a page has for each thing that a person does."""
"""Seconds after which an application that does not answer has failed to start."""
_POLL_INTERVAL_S = 0.2


@dataclass(frozen=True, slots=True)
class Server:
    """A process of an application."""

    command: tuple[str, ...]
    folder: Path
    """Where it runs."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables besides those of this process."""


@dataclass(frozen=True, slots=True)
class Application:
    """An application, and what a person does with it."""

    name: str
    """As users know it."""
    shows: str
    """What a client of it has to take from replies."""
    needs: tuple[Path, ...]
    """Files that `make scenarios` has installed."""
    prepare: Callable[[Path, int], Server]
    """Makes its data in a folder, and returns its server, which will listen at the port."""
    visit: Callable[[Page, str, int], None]
    """What a person does, from the login to the deletion of what he has made: the page, the base URL, and the number of
    the visit, from 1."""
    from_replies: tuple[str, ...]
    """Variables of the plan that have to come from replies, in the order in which they are taken."""
    from_person: tuple[str, ...] = ()
    """Variables of the plan that the person chooses, or that the page makes by itself, in the order of their use."""
    from_clock: tuple[str, ...] = ()
    """Variables of the plan that come from replies if the visits are in two minutes, hours or days."""
    ready: str = "/"
    """A path that answers as soon as the application has started."""

    @property
    def is_installed(self) -> bool:
        """Whether it can be started."""
        return all(path.exists() for path in self.needs)


@contextmanager
def started(application: Application, folder: Path) -> Iterator[str]:
    """The URL of the application, which ends with the context. folder: for its data, empty."""
    port = free_port()
    server = application.prepare(folder, port)
    with ExitStack() as stack:
        log = stack.enter_context((folder / "server.log").open("wb"))
        process = subprocess.Popen(
            server.command, cwd=server.folder, env={**os.environ, **server.environment},
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        stack.callback(_end, process)
        _await_reply(process, port, application.ready, folder / "server.log")
        yield f"http://127.0.0.1:{port}"


def record(application: Application, url: str, visit: int, path: Path) -> None:
    """Writes the recording of a visit. visit: its number, from 1."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        context = browser.new_context(record_har_path=path, record_har_content="embed")
        page = context.new_page()
        page.set_default_timeout(VISIT_TIMEOUT_S * 1e3)
        try:
            application.visit(page, url, visit)
            page.wait_for_load_state("networkidle")
        except Exception:
            page.screenshot(path=path.with_suffix(".png"))
            raise
        finally:
            context.close()
            browser.close()


def run(*command: str | Path, folder: Path, environment: Mapping[str, str] | None = None) -> None:
    """Runs a command that prepares an application. Raises CalledProcessError after it has printed what it said."""
    done = subprocess.run(
        [*map(str, command)], cwd=folder, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=START_TIMEOUT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def _await_reply(process: subprocess.Popen[bytes], port: int, path: str, log: Path) -> None:
    """Until it answers any request. Only its reply says that an application is ready."""
    end = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < end and process.poll() is None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_TIMEOUT_S)
        try:
            connection.request("GET", path)
            if connection.getresponse().status < 500:
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(_POLL_INTERVAL_S)
    raise AssertionError(f"it did not start:\n{log.read_text(errors='replace')[-4000:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends it and all processes that it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            continue
