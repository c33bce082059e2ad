from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.load.targets import MOST_ENDPOINTS, read_targets

HTTP = """\
# two services
GET http://127.0.0.1:8000/a?b=c

POST http://127.0.0.1:8000/items/${x}
Content-Type: application/json
X-Empty:
# in between
X-Two: a:b ${y}
@body
PURGE http://h:9
GET http://127.0.0.1:8000/last
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "body").write_bytes(b"\xff\x00")
    return tmp_path / "targets.txt"


def steps(definition: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for flow in definition["flows"] for step in flow["steps"]]


def test_the_http_format_is_sent_in_turn(file: Path) -> None:
    file.write_text(HTTP)
    definition = read_targets(str(file))
    assert definition["choice"] == "in_turn"
    assert [target["url"] for target in definition["targets"]] == ["http://127.0.0.1:8000", "http://h:9"]
    none: dict[str, Any] = {"body": None, "headers": []}
    assert steps(definition) == [
        {**none, "name": "/a", "target": 0, "method": "GET", "path": "/a?b=c"},
        {
            "name": "/items/${x}", "target": 0, "method": "POST", "path": "/items/$${x}", "body": {"base64": "/wA="},
            "headers": [["Content-Type", "application/json"], ["X-Empty", ""], ["X-Two", "a:b $${y}"]],
        },
        {**none, "name": "/", "target": 1, "method": "PURGE", "path": "/"},
        {**none, "name": "/last", "target": 0, "method": "GET", "path": "/last"},
    ]  # fmt: skip


def test_the_json_format_says_the_same(file: Path) -> None:
    file.write_text(
        '{"method": "GET", "url": "http://127.0.0.1:8000/a?b=c"}\n\n'
        '{"method": "POST", "url": "http://h/i", "body": "/wA=", "header": {"A": ["b", "c"], "D": "e"}}\n'
    )
    definition = read_targets(str(file))
    assert definition["choice"] == "in_turn"
    assert [target["url"] for target in definition["targets"]] == ["http://127.0.0.1:8000", "http://h"]
    assert steps(definition) == [
        {"name": "/a", "target": 0, "method": "GET", "path": "/a?b=c", "body": None, "headers": []},
        {
            "name": "/i", "target": 1, "method": "POST", "path": "/i", "body": {"base64": "/wA="},
            "headers": [["A", "b"], ["A", "c"], ["D", "e"]],
        },
    ]  # fmt: skip


def test_a_body_is_also_looked_for_in_the_current_folder(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = file.parent / "here"
    here.mkdir()
    (here / "other").write_bytes(b"x")
    monkeypatch.chdir(here)
    file.write_text("POST http://h/\n@other\n\nPOST http://h/\n@body\n")
    assert [step["body"] for step in steps(read_targets(str(file)))] == [{"base64": "eA=="}, {"base64": "/wA="}]


def test_a_host_replaces_the_only_origin(file: Path) -> None:
    file.write_text("GET http://a/x\nGET http://a/y\n")
    definition = read_targets(str(file), "http://b:9")
    assert [target["url"] for target in definition["targets"]] == ["http://b:9"]
    assert [step["path"] for step in steps(definition)] == ["/x", "/y"]
    file.write_text("GET http://a/x\nGET http://c/y\n")
    with pytest.raises(UsageError, match=r"--host cannot replace them all: .* has http://a and http://c"):
        read_targets(str(file), "http://b:9")


@pytest.mark.parametrize(("count", "names"), [(MOST_ENDPOINTS, MOST_ENDPOINTS), (MOST_ENDPOINTS + 1, 1)])
def test_very_many_endpoints_are_counted_as_one(file: Path, count: int, names: int) -> None:
    file.write_text("".join(f"GET http://h/{number}\n" for number in range(count)))
    found = {step["name"] for step in steps(read_targets(str(file)))}
    assert len(found) == names
    assert names > 1 or found == {"targets.txt"}


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("# a\n\nget http://h/\n", 3, "does not begin a target; METHOD URL is expected"),
        ("GET\n", 1, "does not begin a target"),
        ("GET h/\n", 1, '"h/" is not a URL'),
        ("GET http://h:port/\n", 1, ""),
        ("GET http://h/\nA: b\nnothing\n", 3, '"nothing" is not a header; valid is Name: value'),
        ("GET http://h/\nA B: c\n", 2, '"A B" cannot be the name of a header'),
        ("GET http://h/\n\nA: b\n", 3, "does not begin a target"),
        ("POST http://h/\n@none\n", 2, "cannot read "),
        ("POST http://h/\n@body\n@body\n", 3, "a second body"),
        ("GET http://h/\n\nGET http://h/\nContent-Length: 5\n", 3, ""),
        ('{"method": "GET"}\n', 1, "url: is missing"),
        ('{"url": "http://h"}\n', 1, "method: is missing"),
        ('{"method": "GET", "url": "http://h"}\n{"method": "G T", "url": "http://h"}\n', 2, 'method: "G T" cannot be'),
        ('{"method": "GET", "url": "http://h"}\n{\n', 2, "not JSON: "),
        ('{"method": "GET", "url": "http://h"}\n[]\n', 2, "[] is not an object"),
        ('{"method": "GET", "url": "http://h", "headers": {}}\n', 1, "headers: is no field; did you mean header?"),
        ('{"method": "GET", "url": "http://h", "header": []}\n', 1, "header: [] is not an object"),
        ('{"method": "GET", "url": "http://h", "header": {"A": [1]}}\n', 1, "header: A: 1 is not text"),
        ('{"method": "GET", "url": "http://h", "body": "a b"}\n', 1, 'body: "a b" is not base64: "YSBi" is'),
        ('{"method": "GET", "url": "http://h", "body": {"a": 1}}\n', 1, '{"a": 1} is not base64: "eyJhIjogMX0=" is'),
        ('{"method": "GET", "url": "http://[fe80::1%25eth0]/"}\n', 1, "has the zone of a link-local address"),
    ],
)
def test_a_mistake_is_told_by_file_and_line(file: Path, text: str, line: int, reason: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError) as refused:
        read_targets(str(file))
    assert str(refused.value).startswith(f"{file}:{line}: ")
    assert reason in str(refused.value)


@pytest.mark.parametrize("text", ["", "\n# nothing\n"])
def test_a_file_without_targets_is_refused(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(UsageError, match="has no targets"):
        read_targets(str(file))
    with pytest.raises(UsageError, match=r"cannot read .*none"):
        read_targets(str(file.parent / "none"))


def test_a_list_is_refused_with_how_to_make_lines_of_it(file: Path) -> None:
    file.write_text('[{"method": "GET", "url": "http://h/"}]\n')
    with pytest.raises(UsageError, match=r"is a list; one JSON object per line is expected: jq -c"):
        read_targets(str(file))


def test_a_script_of_another_tool_is_named(tmp_path: Path) -> None:
    script = tmp_path / "test.js"
    script.write_text('import http from "k6/http";')
    with pytest.raises(UsageError, match="Plimsoll does not run scripts of k6"):
        read_targets(str(script))
