"""Files that the page sends become scenarios that are proven and run."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest
from tests.run.page_session import stored_runs
from tests.sources.recording_target import Answer, Received, target
from tests.sources.shop import FILES, PASSWORD, RECORDED_HOST, Shop

from plimsoll.server.control.scenarios import MOST_SCENARIO, SCENARIO
from plimsoll.sources.making import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.command import Command, CountingTarget
    from tests.run.page_session import PageSession


def send(page: PageSession, name: str, content: str | bytes, *variables: str) -> tuple[int, dict[str, Any]]:
    """Status and answer."""
    query = urlencode([("name", name), *(("set", variable) for variable in variables)])
    return page.post(f"{SCENARIO}?{query}", content.encode() if isinstance(content, str) else content)


def sent(page: PageSession, name: str, content: str | bytes, *variables: str) -> dict[str, Any]:
    """The scenario of a file that is accepted."""
    status, scenario = send(page, name, content, *variables)
    assert status == 200, scenario
    return scenario


def why_not(page: PageSession, name: str, content: str | bytes, *variables: str) -> str:
    """Why a file is refused."""
    status, problem = send(page, name, content, *variables)
    assert status == 400, problem
    return str(problem["error"])


@pytest.fixture
def page(start_page: Callable[..., PageSession]) -> PageSession:
    return start_page("-u", "2", "-r", "2")


def test_a_recording_is_made_a_plan_proven_and_run(page: PageSession, plimsoll: Command) -> None:
    shop = Shop()
    with target(shop) as service:
        recording = (FILES / "shop-1.har").read_text().replace(RECORDED_HOST, service.url.removeprefix("http://"))
        scenario = sent(page, "C:\\recordings\\my shop.har", recording)
        assert (scenario["source"], scenario["file"]) == ("my shop.har", "my-shop.toml")
        assert [(step["method"], step["name"]) for step in scenario["steps"]][:3] == [
            ("GET", "/login"), ("POST", "/login"), ("GET", "/callback"),
        ]  # fmt: skip
        assert scenario["steps"][0]["takes"] == ["csrf_token"]
        assert scenario["summary"].startswith("7 steps of 10 requests; 6 values taken from replies; 3 left out: ")
        assert "The plan reads my-shop.secrets.csv, which is only written with -o FILE." in scenario["notes"]
        assert PASSWORD not in json.dumps(scenario)
        assert scenario["proof_offer"].startswith("A proof sends the scenario 12 times: ")
        assert service.take() == [], "nothing is sent without being asked for"
        # One recording does not tell that the shop wants a new UUID for each order.
        proof = page.answer(f"{SCENARIO}/prove", {"id": scenario["id"]})
        assert proof["summary"] == "Proof: every step proven by one user, 5 of 7 steps by a second user."
        assert [step["state"] for step in proof["steps"]] == ["proven"] * 5 + ["differs", "not reached"]
        assert proof["steps"][5]["why"] == "status 409, recorded 201"
        assert proof["explanation"].startswith("step 6 sends ")
        page.do("scenario/use", {"id": scenario["id"]})
        form = page.form
        assert (form["source"], form["first_source"], form["is_native"]) == ("my-shop.toml", "locustfile.py", True)
        page.do("start", page.request(run_time="1s", users=3, spawn_rate=9))
        assert page.until_over()["title"].startswith("my-shop · 3 users")
    page.do("scenario/use", {"id": ""})
    assert (page.form["source"], page.form["first_source"]) == ("locustfile.py", "")
    page.interrupt()
    (run,) = stored_runs(plimsoll)
    assert ("/callback", True) in {(row["name"], row["requests"] > 0) for row in run["endpoints"]}


OPENAPI = json.dumps({
    "openapi": "3.1.0", "info": {}, "servers": [{"url": "/v1"}], "paths": {"/todos": {"get": {}}},
})  # fmt: skip
KINDS = {
    "curl": ("", "curl 'URL/a' -d x=1\ncurl 'URL/b'", (), [("POST", "/a"), ("GET", "/b")]),
    "http": ("calls.http", "GET {{place}}/a\n", ("place=URL",), [("GET", "/a")]),
    "OpenAPI": ("api.json", OPENAPI, ("base=URL",), [("GET", "/todos")]),
}


def test_other_kinds_of_files_are_taken_and_proven(page: PageSession) -> None:
    with target() as service:
        for name, content, variables, steps in KINDS.values():
            given = [variable.replace("URL", service.url) for variable in variables]
            scenario = sent(page, name, content.replace("URL", service.url), *given)
            assert [(step["method"], step["name"]) for step in scenario["steps"]] == steps
        proof = page.answer(f"{SCENARIO}/prove", {"id": scenario["id"]})
        assert (proof["steps"], proof["explanation"]) == ([{"state": "proven", "why": ""}], "")
        assert [received.path for received in service.received] == ["/v1/todos"] * 12


REFUSED = {
    "broken JSON": ("x.har", '{"log": {\n "entries": [,]}}', "x.har:2:14: not JSON: Expecting value"),
    "nothing": ("x.har", " ", "x.har: is empty"),
    "no text": ("x.har", b"\x80\x81", "x.har:1: not UTF-8 text"),
    "unknown": ("x.txt", "hello", "x.txt: its format is unknown; known are HAR, Postman collection, "),
    "deep JSON": ("x.har", '{"log": {"entries": ' + "[" * 100_000, "x.har: not JSON that can be read: "),
    "a file of the machine": (
        "", "curl -d @/etc/hostname http://127.0.0.1/", "pasted:1: names the file /etc/hostname; plimsoll scenario",
    ),
    "an uploaded file": ("", "curl -T ~/.netrc http://127.0.0.1/", "pasted:1: names the file ~/.netrc; "),
    "a part of a form": ("", "curl -F a=@/etc/hostname http://127.0.0.1/", "pasted:1: names the file /etc/hostname; "),
    "a key": ("", "curl --cert /etc/a.pem https://127.0.0.1/", "pasted:1: names the file /etc/a.pem; "),
    "a body of .http": ("x.http", "POST http://127.0.0.1/\n\n< /etc/hostname\n", "names the file /etc/hostname; "),
    "a variable": ("", 'curl -H "X: $HOME" http://127.0.0.1/', "pasted:1: $HOME is a variable of a shell; "),
}  # fmt: skip


def test_a_file_that_cannot_be_used_is_refused_with_one_sentence(page: PageSession) -> None:
    for what, (name, content, error) in REFUSED.items():
        said = why_not(page, name, content)
        assert error in said and "\n" not in said and "Traceback" not in said, (what, said)
    assert why_not(page, "", "curl http://127.0.0.1/", "base") == "--set base: valid is --set NAME=VALUE"
    status, problem = send(page, "x.har", b" " * (MOST_SCENARIO + 1))
    assert (status, problem["error"]) == (
        413, "the file is longer than 32 MB: record fewer pages, or leave out bodies",
    )  # fmt: skip
    assert page.refused("scenario/prove", {"id": "x"}) == (409, "another file has replaced this one; drop it again", "")


def send_together(page: PageSession, *files: tuple[str, str]) -> tuple[int, dict[str, Any]]:
    """Status and answer for files that are dropped together."""
    query = urlencode([pair for name, text in files for pair in (("name", name), ("size", len(text.encode())))])
    return page.post(f"{SCENARIO}?{query}", "".join(text for _, text in files).encode())


def test_two_recordings_of_the_same_flow_are_compared(page: PageSession) -> None:
    recordings = [(FILES / name).read_text() for name in ("shop-1.har", "shop-2.har")]
    status, scenario = send_together(page, ("first.har", recordings[0]), ("second.har", recordings[1]))
    assert status == 200, scenario
    draft = make_draft([str(FILES / name) for name in ("shop-1.har", "shop-2.har")])
    assert (scenario["source"], scenario["file"]) == ("first.har and second.har", "first.toml")
    assert [step["takes"] for step in scenario["steps"]] == [
        [value.name for value in step.extracts] for step in draft.steps
    ]
    assert "# one recording" not in scenario["plan"]
    assert scenario["plan"].startswith("# Made by plimsoll scenario from first.har, second.har.")


def test_files_that_cannot_be_compared_are_refused_with_words(page: PageSession) -> None:
    recording = ("first.har", (FILES / "shop-1.har").read_text())
    commands = ("commands.sh", "curl http://127.0.0.1/")
    for files, error in (
        (
            (recording, commands),
            "commands.sh: has no replies, so it cannot be compared with another file; drop it alone",
        ),
        ((recording, recording, recording), "3 files: drop one, or two recordings of the same flow"),
        ((("a.har", "{"), recording), "a.har:1:2: not JSON: "),
    ):
        status, problem = send_together(page, *files)
        assert (status, error in problem["error"]) == (400, True), problem
    query = urlencode([("name", "a"), ("size", "5"), ("name", "b"), ("size", "1")])
    status, problem = page.post(f"{SCENARIO}?{query}", b"abc")
    assert (status, problem["error"]) == (400, "the files have changed while they were sent; drop them again")


def test_during_a_run_no_file_is_taken_and_no_scenario_is_proven_or_used(
    start_page: Callable[..., PageSession], target: CountingTarget
) -> None:
    page = start_page("-H", target.url, "-u", "1")
    scenario = sent(page, "", f"curl {target.url}/a")
    page.do("start", page.request())
    page.until_users(1)
    busy = (409, "a run is in progress; stop it first", "")
    assert page.refused("scenario/prove", {"id": scenario["id"]}) == busy
    assert page.refused("scenario/use", {"id": scenario["id"]}) == busy
    assert send(page, "", "curl http://127.0.0.1/")[0] == 409
    page.do("stop")
    page.until_over()


def test_the_limits_of_the_command_hold_for_proofs_and_runs(start_page: Callable[..., PageSession]) -> None:
    page = start_page("--allow-hosts", "127.0.0.9", "--max-rate", "50/s")
    with target() as service:
        scenario = sent(page, "", f"curl {service.url}/a")
        status, said, _ = page.refused("scenario/prove", {"id": scenario["id"]})
        assert (status, "127.0.0.1" in said and "--allow-hosts" in said) == (400, True), said
        page.do("scenario/use", {"id": scenario["id"]})
        page.do("start", page.request(run_time="1s"))
        assert "127.0.0.1" in page.until_over()["message"]
        assert service.received == []


def test_while_a_proof_goes_on_no_run_begins_and_it_ends_with_the_command(
    start_page: Callable[..., PageSession],
) -> None:
    asked, end = threading.Event(), threading.Event()

    def wait(_: Received) -> Answer:
        asked.set()
        end.wait(60)
        return Answer()

    page = start_page("-H", "http://127.0.0.1:1")
    with target(wait) as service:
        scenario = sent(page, "", f"curl {service.url}/a")

        def prove() -> None:
            with suppress(OSError, HTTPException, ValueError):
                page.ask(f"{SCENARIO}/prove", {"id": scenario["id"]})

        proving = threading.Thread(target=prove)
        proving.start()
        assert asked.wait(60)
        assert page.refused("start", page.request()) == (409, "a proof is in progress; wait until it is over", "")
        assert page.interrupt() == 0
        end.set()
        proving.join(60)
        assert len(service.received) == 1, "no other pass follows"


def test_the_plans_are_private_and_deleted_at_the_end(
    start_page: Callable[..., PageSession], plimsoll: Command, tmp_path: Path
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    plimsoll.environment["TMPDIR"] = str(folder)
    page = start_page()
    first = sent(page, "a.sh", "curl -u ann:secret http://127.0.0.1/")
    page.do("scenario/use", {"id": first["id"]})
    sent(page, "b.sh", "curl http://127.0.0.1/")
    sent(page, "c.sh", "curl http://127.0.0.1/")
    names = sorted(path.name for path in folder.rglob("plimsoll-page-*/*/*"))
    assert names == ["a.secrets.csv", "a.toml", "c.toml"]
    assert {path.stat().st_mode & 0o077 for path in folder.rglob("*") if "plimsoll-page-" in str(path)} == {0}
    page.interrupt()
    assert list(folder.glob("plimsoll-page-*")) == []
