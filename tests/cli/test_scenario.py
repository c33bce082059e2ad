"""`plimsoll scenario`: a target receives the same from the source itself, from the plan and from the locustfile."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from email import message_from_bytes
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.sources.proof.recordings import har_with_headers
from tests.sources.recording_target import Answer, target
from tests.sources.shop import FILES, PASSWORD, RECORDED_HOST, Shop

if TYPE_CHECKING:
    from tests.sources.recording_target import Received

OWN = ("host", "user-agent", "accept-encoding", "content-length", "connection", "accept", "expect")
"""Headers that each client chooses."""

COMMANDS = r"""
curl -s $URL/todos/?limit=10 -H 'X-Tenant: a' | cat
curl -s -X POST $URL/todos/ --json '{"title": "Buy \"milk\"", "n": [1, 2.5, null]}'
curl -s $URL/login -u 'ann:s3cret' -d 'user=ann&password=p%26w' -d 'next=%2Fhome'
curl -s -G $URL/search --data-urlencode 'q=a b&c'
curl -s -XPURGE $URL/cache/1 -b 'a=1; b=2'
curl -s -F 'title=x y' -F 'note=@note.txt;type=text/plain' $URL/upload
curl -s -F 'picture=@a.bin' $URL/upload
curl -s -T a.bin $URL/files/a
curl -s $URL/text -H 'Content-Type: text/plain' --data-binary $'a\nb ${x}'
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "note.txt").write_text("one\ntwo\n")
    (tmp_path / "a.bin").write_bytes(bytes(range(256)))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(folder: Path, *words: str, **environment: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll", "run", *words, "--headless", "-u", "1", "--only-summary", "--yes"],
        cwd=folder, env=os.environ | environment | {"PLIMSOLL_EXIT_CODE_ON_INVALID": "0"}, capture_output=True,
        text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def said(received: Received) -> tuple[Any, ...]:
    """A request without what each client chooses by itself."""
    headers = {name: value for name, value in received.headers.items() if name not in OWN}
    body: Any = received.body
    if headers.get("content-type", "").startswith("multipart/"):
        message = message_from_bytes(b"Content-Type: " + headers.pop("content-type").encode() + b"\r\n\r\n" + body)
        body = [
            (part["content-disposition"], part.get_content_type(), part.get_payload(decode=True).strip())
            for part in message.get_payload()
        ]
    elif headers.get("content-type") == "application/json":
        import json

        body = json.loads(body)
    elif headers.get("content-type") == "application/x-www-form-urlencoded" and received.method == "POST":
        body = received.form
    return received.method, received.path, headers, body


def test_curl_a_plan_and_a_locustfile_send_the_same(plimsoll, folder):
    with target() as service:
        (folder / "commands.sh").write_text(COMMANDS.replace("$URL", service.url))
        subprocess.run(["bash", "commands.sh"], cwd=folder, check=True, capture_output=True, timeout=60)
        expected = [said(received) for received in service.take()]
        assert len(expected) == 9

        result = plimsoll("scenario", "commands.sh", "-o", "plan.toml")
        assert result.exit_code == 0, result.stderr
        assert result.stdout.splitlines()[0] == "9 steps of 9 requests."
        run(folder, "plan.toml", "--iterations", "1")
        assert [said(received) for received in service.take()] == expected

        result = plimsoll("scenario", "commands.sh", "-o", "locustfile.py")
        assert (
            "Set SCENARIO_AUTHORIZATION_USER, SCENARIO_AUTHORIZATION_PASSWORD, SCENARIO_PASSWORD, SCENARIO_COOKIE in "
        ) in result.stdout
        secrets = {
            "AUTHORIZATION_USER": "ann",
            "AUTHORIZATION_PASSWORD": "s3cret",
            "PASSWORD": "p&w",
            "COOKIE": "a=1; b=2",
        }
        secrets = {f"SCENARIO_{name}": value for name, value in secrets.items()}
        run(folder, "-f", "locustfile.py", "--iterations", "1", **secrets)
        assert [said(received) for received in service.take()] == expected


@pytest.mark.parametrize("source", ["commands.sh", "folder/commands.sh"])
def test_a_file_is_the_body_wherever_the_scenario_is(plimsoll, folder, source):
    (folder / "sub").mkdir()
    (folder / "folder").mkdir()
    (folder / source).parent.joinpath("a.bin").write_bytes(b"\xffmine")
    with target() as service:
        (folder / source).write_text(f"curl --data-binary @a.bin {service.url}/a\ncurl -T a.bin {service.url}/b")
        result = plimsoll("scenario", source, "-o", "sub/plan.toml", "--prove")
        assert (result.exit_code, "Proof: 2 of 2 steps proven by" in result.stdout) == (0, True)
        run(folder, "sub/plan.toml", "--iterations", "1")
        assert plimsoll("scenario", source, "-o", "sub/locustfile.py").exit_code == 0
        run(folder, "-f", "sub/locustfile.py", "--iterations", "1")
        assert [received.body for received in service.take()] == [b"\xffmine"] * (2 * 12 + 4)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.sh", "curl --data-binary @no.bin http://h.test/"),
        ("a.sh", "curl -T no.bin http://h.test/"),
        ("a.http", "POST http://h.test/\n\n< no.bin"),
    ],
)
def test_a_body_file_that_is_not_there_is_a_mistake(plimsoll, folder, name, text):
    (folder / name).write_text(text)
    result = plimsoll("scenario", name)
    assert (result.exit_code, result.stderr) == (2, f"plimsoll: {name}:1: cannot read no.bin: it is no file\n")


def test_a_locustfile_does_not_read_variables_of_the_shell(plimsoll, folder):
    result = plimsoll("scenario", "-o", "locustfile.py", "curl", "http://h.test/", "-d", "pwd=s3cret")
    assert "Set SCENARIO_PWD in the environment: credentials are not written." in result.stdout
    assert 'PWD = os.environ["SCENARIO_PWD"]' in (folder / "locustfile.py").read_text().splitlines()


def test_a_pasted_command(plimsoll, folder):
    result = plimsoll("scenario", "curl", "http://127.0.0.1:8000/", "-H", "A: b c", "-d", "x=1")
    assert result.exit_code == 0
    assert 'post = "/"' in result.stdout
    assert 'A = "b c"' in result.stdout
    assert result.stderr == "1 step of 1 request.\n"


def test_a_scenario_after_a_pasted_command(plimsoll, folder):
    result = plimsoll("scenario", "curl", "http://127.0.0.1:8000/", "-o", "plan.toml", "--force")
    assert result.exit_code == 0
    assert "Written: plan.toml. Run it: plimsoll run plan.toml" in result.stdout
    assert (folder / "plan.toml").exists()


def test_commands_from_the_standard_input(folder):
    done = subprocess.run(
        [sys.executable, "-m", "plimsoll", "scenario", "-"], input="curl http://h.test/a", capture_output=True,
        text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (done.returncode, 'get = "/a"' in done.stdout) == (0, True)


def test_files_that_exist_stay_without_force(plimsoll, folder):
    (folder / "plan.secrets.csv").write_text("mine")
    words = ("scenario", "-o", "plan.toml", "curl", "-u", "a:b", "http://h.test/")
    refused = plimsoll(*words)
    assert refused.exit_code == 2
    assert "plan.secrets.csv exists; choose another name, or replace it with --force" in refused.stderr
    assert not (folder / "plan.toml").exists()
    assert plimsoll("scenario", "--force", *words[1:]).exit_code == 0
    assert (folder / "plan.secrets.csv").stat().st_mode & 0o077 == 0


WRONG = {
    "empty.har": b'{"log": {"entries": []}}',
    "cut.har": b'{"log": {"entries": [{"request": {"url": "http',
    "env.json": b'{"name": "x", "values": [], "_postman_variable_scope": "environment"}',
    "api.json": b'{"openapi": "3.0.0", "paths": {"/a": {"get": {"responses": {}}}}}',
    "flow.har.gz": gzip.compress(b'{"log": {"entries": []}}'),
    "cut.log.gz": gzip.compress(b"GET / " * 100)[:20],
    "access.log": b'1.1.1.1 - - [01/Nov/2020:10:00:00 +0000] "GET / HTTP/1.1" 200 5\n',
    "picture.png": b"\x89PNG\r\n\xff",
}
"""Files that people name by mistake."""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("empty.har",), "empty.har: log.entries is empty, so no request was recorded: open the network tab before "),
        (("cut.har",), "cut.har:1:42: not JSON: Unterminated string starting at; the file ends too early"),
        (("env.json",), "env.json: is an environment of Postman, which has no requests: name the collection"),
        (("api.json",), "api.json: names no host; give it with --set base=http://127.0.0.1:8000"),
        (("flow.har.gz",), "flow.har.gz: is packed by gzip: unpack it first (gunzip); packed access logs are read"),
        (("cut.log.gz",), "cut.log.gz: not a whole gzip file: Compressed file ended before the end-of-stream marker"),
        (("access.log", "note.txt"), "access.log is an access log, and note.txt is none: name files of one kind"),
        (("note.txt", "access.log"), "access.log is an access log, and note.txt is none: name files of one kind"),
        (("picture.png",), "picture.png:1: not UTF-8 text; is this the file of the recording?"),
        ((str(FILES), "-o", "plan.toml"), "is a folder; name the files in it"),
        (("curl", "http://h.test/", "-d", "@none.json"), "<command>:1: cannot read none.json: No such file"),
        (
            (str(FILES / "shop-1.har"), str(FILES / "shop-1.har")),
            "shop-1.har and shop-1.har are the same recording: record the flow once more, or name one of them",
        ),
    ],
)  # fmt: skip
def test_wrong_files_are_named_with_what_to_do(plimsoll, folder, words, message):
    for name, content in WRONG.items():
        (folder / name).write_bytes(content)
    result = plimsoll("scenario", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "plan.toml").exists()


def test_a_recording_without_contents_has_a_note(plimsoll, folder):
    recording = json.loads((FILES / "shop-1.har").read_text())
    for entry in recording["log"]["entries"]:
        entry["response"]["content"].pop("text", None)
    (folder / "bare.har").write_text(json.dumps(recording))
    note = "note: bare.har: no reply has its content, so values in bodies are not taken from replies: "
    assert note in plimsoll("scenario", "bare.har").stderr
    assert "no reply has its content" not in plimsoll("scenario", str(FILES / "shop-1.har")).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "missing argument 'SOURCE...'"),
        (("none.har",), "plimsoll: cannot read none.har: No such file or directory"),
        (("http://h.test/",), "for one request write: plimsoll scenario curl http://h.test/"),
        (("note.txt",), "plimsoll: note.txt: its format is unknown; known are HAR, Postman collection, "),
        (("-o", "plan.yaml", "curl", "http://h.test/"), "--output plan.yaml: write a plan (plan.toml) or a locustfile"),
        (
            ("-o", "no/plan.toml", "curl", "http://h.test/"),
            "--output: cannot write no/plan.toml: there is no folder no; make it first, or choose another",
        ),
        (("curl", "--jason", "{}", "http://h.test/"), "<command>:1: --jason is no option of curl"),
        (("--set", "a", "note.txt"), "--set a: valid is --set NAME=VALUE"),
        (
            ("--set", "bsae=http://h", "todos.http", "--set", "base=http://h"),
            "--set bsae: nothing uses a variable of this name; did you mean base?",
        ),
        (("--set", "x=1", "curl", "http://h.test/"), "--set x: nothing uses a variable of this name; there are none"),
        (("curl http://h.test/ 'x",), "<command>:1: a quote ' has no end"),
    ],
)  # fmt: skip
def test_mistakes_end_with_2_and_one_line(plimsoll, folder, words, message):
    (folder / "todos.http").write_text("@base = http://127.0.0.1\nGET {{base}}/")
    result = plimsoll("scenario", *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_two_recordings_are_proven(plimsoll, folder):
    rules = Shop()
    with target(rules) as service:
        for name in ("shop-1.har", "shop-2.har"):
            text = (FILES / name).read_text().replace(RECORDED_HOST, service.url.removeprefix("http://"))
            (folder / name).write_text(text)
        result = plimsoll("scenario", "shop-1.har", "shop-2.har", "-o", "locustfile.py", "--prove")
        first, *rest = result.stdout.splitlines()
        assert first.startswith(
            "7 steps of 10 requests; 6 values taken from replies; 3 left out: 2 assets, 1 of other "
        )
        assert rest[2] == "Proof: 7 of 7 steps proven by one user, a second user and 10 users at once."
        assert (folder / "locustfile.proof.txt").read_text().splitlines()[1:] == rest[2:-1]
        assert result.exit_code == 0
        run(folder, "-f", "locustfile.py", "--iterations", "1", SCENARIO_PASSWORD=PASSWORD)
        assert rules.refused == []

        (folder / "other.har").write_text(text.replace('"status": 201', '"status": 200'))
        result = plimsoll("scenario", "other.har", "--prove")
        assert result.exit_code == 1
        assert "Proof: 6 of 7 steps proven by one user." in result.stderr
        assert "  6 POST /api/orders            differs: status 201, recorded 200" in result.stderr.splitlines()


@pytest.mark.long
def test_a_plan_is_written_again_with_the_header_that_a_form_needs(plimsoll, folder):
    with target(lambda request: Answer(200 if "origin" in request.headers else 403)) as service:
        sent = {"Origin": service.url, "DNT": "1"}
        (folder / "x.har").write_text(har_with_headers(service.url, sent, ("POST", "/in", "a=1", 200, "", {})))
        result = plimsoll("scenario", "x.har", "-o", "x.toml", "--prove")
    assert result.exit_code == 0, result.output
    assert "Headers of the browser without which a step is refused: origin." in result.stdout
    lines = (folder / "x.toml").read_text().splitlines()
    assert [line for line in lines if line.startswith("headers")] == [f'headers = {{ Origin = "{service.url}" }}']


@pytest.mark.long
def test_the_file_of_people_gets_rows_if_each_user_needs_one(plimsoll, folder):
    names: list[str] = []

    def rules(request):
        names.append(request.form["name"])
        # One user, a second one, ten, and ten again.
        begin = next(begin for begin in (12, 2, 1, 0) if len(names) > begin)
        return Answer(200 if names[begin:].count(names[-1]) == 1 else 409)

    with target(rules) as service:
        for number in (1, 2):
            exchange = ("POST", "/names", f"name=n{number}", 200, "", {})
            (folder / f"{number}.har").write_text(har_with_headers(service.url, {}, exchange))
        result = plimsoll("scenario", "1.har", "2.har", "-o", "x.toml", "--prove")
    assert result.exit_code == 0, result.output
    assert "The file of people has 10 rows, made like those of the recordings" in result.stdout
    assert (folder / "x.people.csv").read_text().split() == ["name", *(f"n{number}" for number in range(1, 11))]


def test_an_insecure_plan_checks_no_certificates(plimsoll, folder):
    words = ("curl", "https://127.0.0.1:9/a")
    assert "verify = false" not in plimsoll("scenario", *words).output
    assert "verify = false" in plimsoll("scenario", "-k", *words).output
