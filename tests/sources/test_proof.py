"""Recordings of Chromium become scenarios that a new server, which refuses wrong values, accepts."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.sources.recording_target import Answer, target
from tests.sources.shop import FILES, PASSWORD, RECORDED_HOST, Shop

from plimsoll.errors import PlimsollError
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof import prove


@contextmanager
def shop(folder: Path, *recordings: str):
    """The rules of a new shop, and the recordings with its address."""
    rules = Shop()
    with target(rules) as service:
        paths = []
        for name in recordings:
            text = (FILES / name).read_text().replace(RECORDED_HOST, service.url.removeprefix("http://"))
            (folder / name).write_text(text)
            paths.append(str(folder / name))
        yield rules, paths


def states(proofs) -> list[str]:
    return [proof.state for proof in proofs]


def test_two_recordings_are_proven_without_a_touch(tmp_path):
    with shop(tmp_path, "shop-1.har", "shop-2.har") as (rules, paths):
        draft = make_draft(paths)
        proofs, stale = prove(draft)
        assert (states(proofs), stale, rules.refused) == (["proven"] * 7, "", [])
        # Nothing is left of the first time: a second user is another one.
        assert states(prove(draft)[0]) == ["proven"] * 7
    assert [proof.step for proof in proofs] == [
        "1 GET /login", "2 POST /login", "3 GET /callback", "4 GET /home", "5 POST /api/token", "6 POST /api/orders",
        "7 GET /api/orders/{order_id}",
    ]  # fmt: skip


def test_one_recording_finds_the_same_values_and_says_what_it_cannot_know(tmp_path):
    with shop(tmp_path, "shop-1.har") as (_, paths):
        draft = make_draft(paths)
        text = written(draft, "plan", as_locustfile=False).text
        assert re.findall(r"extract\.(\w+) .*# one recording: likely", text) == [
            "csrf_token", "code", "api_token", "token", "nonce", "order_id",
        ]  # fmt: skip
        assert states(prove(draft)[0]) == ["proven"] * 7
        assert [note.partition(" that")[0] for note in draft.notes] == ["step 6 sends a UUID as request"]
        # The recorded id was used by now.
        proofs, _ = prove(draft)
        assert states(proofs) == ["proven"] * 5 + ["differs", "not reached"]
        assert proofs[5].why == "status 409, recorded 201"


def test_the_password_is_in_no_text(tmp_path):
    with shop(tmp_path, "shop-1.har", "shop-2.har") as (_, paths):
        draft = make_draft(paths)
        for as_locustfile in (False, True):
            text = written(draft, "x", as_locustfile=as_locustfile).text
            assert PASSWORD not in text
            assert "tr0ub4dor" not in text


def har(url: str, *exchanges: tuple[str, str, str, int, str]) -> str:
    """method, path, body, status, reply"""
    import json

    entries = [
        {
            "startedDateTime": f"2026-11-29T12:00:0{number}Z",
            "time": 1,
            "request": {
                "method": method, "url": url + path, "headers": [],
                **({"postData": {"mimeType": "application/x-www-form-urlencoded", "text": body}} if body else {}),
            },
            "response": {
                "status": status, "headers": [], "content": {"text": reply, "mimeType": "application/json"},
            },
        }
        for number, (method, path, body, status, reply) in enumerate(exchanges)
    ]  # fmt: skip
    return json.dumps({"log": {"version": "1.2", "entries": entries}})


def test_a_value_that_was_not_taken_is_explained(tmp_path):
    """Too short to be found in one recording; the reply has another one by now."""

    def rules(request):
        if request.route == "/start":
            return Answer(200, {"code": "zz"})
        return Answer(200 if request.query.get("code") == "zz" else 410)

    with target(rules) as service:
        (tmp_path / "x.har").write_text(
            har(service.url, ("GET", "/start", "", 200, '{"code": "ab"}'), ("GET", "/next?code=ab", "", 200, ""))
        )
        proofs, stale = prove(make_draft([str(tmp_path / "x.har")]))
    assert states(proofs) == ["proven", "differs"]
    assert stale == "step 2 sends code as recorded; the reply of step 1 has another value at /code now"


@pytest.mark.parametrize(
    ("recorded", "now", "why"),
    [
        ((200, '{"a": 1, "b": 2}'), Answer(200, {"a": 1}), "no value of json /b"),
        ((200, '{"a": 1}'), Answer(200, "<p>"), "no value of json /a: the body is not JSON"),
        ((200, ""), Answer(302, "", (("Location", "/login"),)), "status 302, recorded 200"),
    ],
)
def test_a_reply_that_differs_is_not_proven(tmp_path, recorded, now, why):
    with target(lambda _: now) as service:
        (tmp_path / "x.har").write_text(har(service.url, ("GET", "/", "", *recorded)))
        proofs, _ = prove(make_draft([str(tmp_path / "x.har")]))
    assert [(proof.state, proof.why) for proof in proofs] == [("differs", why)]


def test_a_target_that_is_not_there(tmp_path):
    with target() as service:
        url = service.url
    (tmp_path / "x.har").write_text(har(url, ("GET", "/", "", 200, "")))
    proofs, _ = prove(make_draft([str(tmp_path / "x.har")]))
    assert states(proofs) == ["differs"]
    assert "refused" in proofs[0].why


def test_a_proof_that_guard_rails_refuse_says_so(tmp_path, monkeypatch):
    (tmp_path / "x.har").write_text(har("https://127.0.0.1:1", ("GET", "/", "", 200, "")))
    draft = make_draft([str(tmp_path / "x.har")])
    draft.steps[0].headers = [("a b", ("x",))]
    with pytest.raises(PlimsollError, match="the proof could not run: "):
        prove(draft)
