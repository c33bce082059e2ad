"""Sixty secrets go through a run by every way there is, and come out nowhere."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest
from tests.command import TIMEOUT_S
from tests.run.page_session import PageSession
from tests.secrets_list import HARMLESS, SECRETS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.command import Command, CountingTarget

LEAKY = """
import json, logging
from pathlib import Path
from locust import HttpUser, events, task

TEXTS = json.loads(Path("texts.json").read_text())

@events.init_command_line_parser.add_listener
def add(parser):
    parser.add_argument("--shop-password", is_secret=True, default="")
    parser.add_argument("--shop-login", default="")

class Leaky(HttpUser):
    left = list(TEXTS)

    @task
    def everything(self):
        if not Leaky.left:
            return self.environment.runner.quit()
        text = Leaky.left.pop()
        self.client.get("/index", name=text)
        with self.client.get("/index", name="judged", catch_response=True) as response:
            response.failure(text)
        fire = self.environment.events.request.fire
        fire(request_type="own", name="fired", response_time=1, response_length=0, exception=OSError(text), context={})
        if text.startswith("/"):
            self.client.get(text)
        logging.getLogger("shop").warning("about %s", text)
        raise ValueError(text)
"""
FORMATS = ("md", "html", "json", "junit", "csv")


@pytest.fixture
def texts(plimsoll: Command) -> Path:
    plimsoll.write(LEAKY)
    folder = plimsoll.store.parent
    (folder / "texts.json").write_text(json.dumps([*SECRETS.values(), *HARMLESS]))
    return folder


def _leaks(where: str, text: str | bytes) -> list[str]:
    """The texts whose secrets are in there."""
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    return [f"{where}: {secret}" for marker, secret in SECRETS.items() if marker in text]


def test_they_are_in_no_file_and_in_no_report(plimsoll: Command, target: CountingTarget, texts: Path) -> None:
    marker = next(iter(SECRETS))
    options = ["--csv", "c", "--csv-full-history", "--html", "h.html", "--json-file", "locust", "--summary", "s.json"]
    options += ["--log-exchanges", "x.parquet", "--shop-password", marker, "--shop-login", "ann"]
    (texts / "texts.json").chmod(0o600)
    url = target.url.replace("http://", f"http://ann:{marker}@")
    done = plimsoll("run", "--headless", "-H", url, "-u", "1", "-t", "60s", *options)
    assert done.code == 1, done
    stored = plimsoll.stored()
    assert stored["total"]["requests"] == target.total + len(SECRETS) + len(HARMLESS), "each fired one, too"
    leaks = _leaks("stdout", done.out)
    for format in FORMATS:
        plimsoll("report", "last", "--format", format, "-o", f"report.{format}")
    for file in ("e.csv", "e.hdr", "e.json", "e.parquet"):
        plimsoll("export", "last", "-o", file)
    for arguments in (["show", "last"], ["show", "last", "--json"], ["runs"], ["runs", "--json"]):
        shown = plimsoll(*arguments)
        leaks += _leaks(" ".join(arguments), shown.out + shown.err)
    written = [each for each in texts.rglob("*") if each.is_file() and each.suffix not in (".py", ".pyc")]
    written = [each for each in written if each.name != "texts.json"]
    assert {"h.html", "s.json", "locust.json", "x.parquet", "c_failures.csv", "c_exceptions.csv", "report.md"} <= {
        each.name for each in written
    }
    for file in written:
        leaks += _leaks(file.name, file.read_bytes())
    assert not leaks, "\n".join(leaks)


def test_what_only_looks_like_one_is_shown(plimsoll: Command, target: CountingTarget, texts: Path) -> None:
    (texts / "texts.json").write_text(json.dumps(HARMLESS))
    plimsoll("run", "--headless", "-H", target.url, "-u", "1", "-t", "60s")
    names = {each["name"] for each in plimsoll.stored()["endpoints"]}
    assert names >= set(HARMLESS)


def test_they_are_not_on_the_page(plimsoll: Command, target: CountingTarget, texts: Path) -> None:
    url = target.url.replace("http://", f"http://ann:{next(iter(SECRETS))}@")
    session = PageSession(plimsoll, "-H", url, "-u", "1", "-t", "60s", "--autostart", "--autoquit", "-1")
    try:
        session.until_over()
        (run,) = session.get("/api/runs")["runs"]
        paths = [f"/api/live/{each}" for each in ("failures", "exceptions", "log", "charts", "tasks")]
        paths += ["/api/state", "/api/runs", f"/api/runs/{run['id']}", f"/api/page?id={run['id']}"]
        paths += [f"/api/runs/{run['id']}/{format}" for format in ("html", "csv", "json")]
        paths += ["/stats/requests", "/exceptions", "/stats/requests/csv", "/stats/failures/csv", "/stats/report"]
        leaks, found = [], 0
        for path in paths:
            try:
                with urllib.request.urlopen(session.url + path, timeout=TIMEOUT_S) as answer:
                    text = answer.read()
            except urllib.error.HTTPError as error:
                with error:
                    text = error.read()
            else:
                found += 1
            leaks += _leaks(path, text)
        assert not leaks, "\n".join(leaks)
        assert found >= 12
    finally:
        session.close()
