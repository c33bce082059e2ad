"""Recordings of Chromium become scenarios that a new server, which refuses wrong values, accepts."""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.sources.proof.recordings import har
from tests.sources.recording_target import Answer, target
from tests.sources.shop import FILES, PASSWORD, RECORDED_HOST, Shop

from plimsoll.errors import PlimsollError
from plimsoll.sources.making import make_draft, written
from plimsoll.sources.proof.people import more_people
from plimsoll.sources.proof.proving import prove


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
        proof = prove(draft)
        assert (states(proof.steps), proof.explanation, rules.refused) == (["proven"] * 7, "", [])
        assert (proof.is_whole, proof.passed) == (True, ("one user", "a second user", "10 users at once"))
    assert [step.step for step in proof.steps] == [
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
        assert [note.partition(" that")[0] for note in draft.notes] == ["step 6 sends a UUID as request"]
        # The first user has used the recorded id, so a second one is refused.
        proof = prove(draft)
        assert (proof.passed, proof.last_pass) == (("one user",), "a second user")
        assert states(proof.steps) == ["proven"] * 5 + ["differs", "not reached"]
        assert proof.steps[5].why == "status 409, recorded 201"
        assert proof.explanation.startswith("step 6 sends request as recorded, the same for each user: ")


def test_the_password_is_in_no_text(tmp_path):
    with shop(tmp_path, "shop-1.har", "shop-2.har") as (_, paths):
        draft = make_draft(paths)
        for as_locustfile in (False, True):
            text = written(draft, "x", as_locustfile=as_locustfile).text
            assert PASSWORD not in text
            assert "tr0ub4dor" not in text


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
        proof = prove(make_draft([str(tmp_path / "x.har")]))
    assert states(proof.steps) == ["proven", "differs"]
    assert proof.explanation == "step 2 sends code as recorded; the reply of step 1 has another value at /code now"


def test_a_target_that_is_not_there(tmp_path):
    with target() as service:
        url = service.url
    (tmp_path / "x.har").write_text(har(url, ("GET", "/", "", 200, "")))
    proofs = prove(make_draft([str(tmp_path / "x.har")])).steps
    assert states(proofs) == ["differs"]
    assert "refused" in proofs[0].why


def test_a_proof_that_guard_rails_refuse_says_so(tmp_path, monkeypatch):
    (tmp_path / "x.har").write_text(har("https://127.0.0.1:1", ("GET", "/", "", 200, "")))
    draft = make_draft([str(tmp_path / "x.har")])
    draft.steps[0].headers = [("a b", ("x",))]
    with pytest.raises(PlimsollError, match="the proof could not run: "):
        prove(draft)


def test_ten_users_show_what_they_may_not_share(tmp_path):
    """Two uses of a name are all that the service takes."""
    uses: list[str] = []

    def rules(request):
        uses.append(request.form["name"])
        return Answer(201 if uses.count(request.form["name"]) < 3 else 409)

    with target(rules) as service:
        (tmp_path / "x.har").write_text(har(service.url, ("POST", "/names", "name=k9x81mz07", 201, "")))
        proof = prove(make_draft([str(tmp_path / "x.har")]))
    assert proof.passed == ("one user", "a second user")
    assert [(step.state, step.why) for step in proof.steps] == [("differs", "status 409, recorded 201, 10 of 10 users")]
    assert proof.explanation.startswith("step 1 sends name as recorded, the same for each user: ")


def test_ten_users_get_rows_of_their_own_if_each_needs_one(tmp_path):
    """A service that has each name only once at a time, and only with its slug."""
    uses: list[str] = []

    def rules(request):
        name, slug = request.form["name"], request.form["slug"]
        uses.append(name)
        # One user, a second one, ten, and ten again.
        begin = next(begin for begin in (12, 2, 1, 0) if len(uses) > begin)
        is_free = uses[begin:].count(name) == 1
        return Answer(201 if is_free and slug == name.lower().replace(" ", "-") else 409)

    with target(rules) as service:
        for number in ("7", "12"):
            body = f"name=News+{number}&slug=news-{number}"
            (tmp_path / f"{number}.har").write_text(har(service.url, ("POST", "/names", body, 201, "")))
        proof = prove(make_draft([str(tmp_path / "7.har"), str(tmp_path / "12.har")]))
    assert (proof.is_whole, proof.last_pass) == (True, "10 users at once")
    assert proof.people["slug"][:4] == ["news-7", "news-12", "news-13", "news-14"]
    assert [name.lower().replace(" ", "-") for name in proof.people["name"]] == proof.people["slug"]


def test_an_error_of_the_target_is_no_mistake_of_the_scenario(tmp_path):
    uses: list[str] = []

    def rules(request):
        uses.append(request.path)
        return Answer(500 if len(uses) > 2 else 200)

    with target(rules) as service:
        (tmp_path / "x.har").write_text(har(service.url, ("POST", "/names", "name=k9x81mz07", 200, "")))
        proof = prove(make_draft([str(tmp_path / "x.har")]))
    assert proof.explanation == "step 1 worked for one user; status 500 is an error of the target: its log says why"


@pytest.mark.parametrize(
    "data", [{}, {"a": ["x"]}, {"a": ["x", "y"]}, {"a": ["x1", "y2"]}, {"a": ["1" * 16, "2" * 16]}, {"a": ["x1", "x1"]}]
)
def test_rows_without_a_number_that_differs_cannot_go_on(data):
    assert more_people(data, 10) == {}


def test_the_second_user_is_the_second_person_of_the_recordings(tmp_path):
    with target() as service:
        for name, person in (("1.har", "ann"), ("2.har", "bob")):
            (tmp_path / name).write_text(har(service.url, ("POST", "/in", f"user={person}", 200, "")))
        proof = prove(make_draft([str(tmp_path / "1.har"), str(tmp_path / "2.har")]))
        people = [request.form["user"] for request in service.received]
    assert proof.is_whole
    assert (people[:2], sorted(people[2:])) == (["ann", "bob"], ["ann"] * 5 + ["bob"] * 5)


def test_a_file_of_people_with_passwords_is_kept_out_of_version_control(tmp_path):
    paths = []
    for person, password in (("ann", "tr0ub4dor"), ("bob", "hunter2x")):
        paths.append(str(tmp_path / f"{person}.har"))
        body = f"user={person}&password={password}"
        (tmp_path / f"{person}.har").write_text(har("http://127.0.0.1:9", ("POST", "/in", body, 200, "")))
    draft = make_draft(paths)
    assert draft.credentials_in("x.people.csv") == ["password"]
    lines = written(draft, "x", as_locustfile=False).text.splitlines()
    assert 'file = "x.people.csv"  # a row for each iteration; keep it out of version control' in lines


def test_an_id_in_a_path_does_not_go_on():
    data = {"name": ["Ann 1", "Ann 2"], "edit": ["1", "3"]}
    rows = more_people(data, 4, {"edit"})
    assert rows["edit"] == ["1", "3", "1", "3"]
    assert rows["name"][:2] == ["Ann 1", "Ann 2"]
    assert len({*rows["name"]}) == 4
