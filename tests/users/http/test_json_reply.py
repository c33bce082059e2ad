"""`response.json()`: what the engine reads is what requests and `json` read."""

from __future__ import annotations

import gzip
import json
import random
from typing import TYPE_CHECKING, Any

import pytest
import requests
from requests.structures import CaseInsensitiveDict
from requests.utils import get_encoding_from_headers
from tests.users.recording_server import RecordingServer, answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.users.conftest import SessionBench

JSON = "application/json"

TEXTS: dict[str, bytes] = {
    text: text.encode()
    for text in (
        '{"status": "accepted", "items": [1, -2, 2.5, 1e3, 1E-3, -0.0, true, false, null, "", {}, []]}',
        *(" 1\n", "\t[ ]\r", "{ }", '{"a" : 1 , "b":\n2}', '{"a":1,"a":2}', '{"": 1}'),
        *("0", "-0", "-0.0", "1e999", "-1e999", "0.1", "5e-324", "123456789.123", "9007199254740993.0"),
        *("9223372036854775807", "-9223372036854775808", "9223372036854775808", "123456789012345678901234567890"),
        *("0.30000000000000004", "2.2250738585072011e-308", "1.7976931348623159e308", "1" * 5000),
        *('"é 日本 😀"', r'"\" \\ \/ \b \f \n \r \t"', r'"\u0000\u001f\u00e9\ud83d\ude00"', r'"a\u0041"'),
        *(r'"\ud800"', r'"\ud800\u0041"', r'"\udc00\ud800"', r'"\ud83d\\de00"', r'{"\ud800": 1}', r'"\uD83D\uDE00"'),
        *("NaN", "Infinity", "-Infinity", "[NaN]", "nul", "tru", "True", "nulls", "true1"),
        *("", " ", "{", "[", '"', "[1", "[1,", "[1,]", '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', "{1:2}"),
        *("01", "-", "-a", "1.", ".5", "1e", "1e+", "+1", "0x1", "1 2", "[1 2]", '{"a" 1}', "{a:1}", "'a'"),
        *('"\n"', '"\x1f"', '"\x7f"', r'"\u12"', r'"\u12g4"', r'"\u+123"', r'"\x41"', r'"\ud83d\u12"', '"\\', '"\\é"'),
        *("\ufeff1", "\xa01", "\x0b1", "[" * 32 + "]" * 32, "[" * 40 + "]" * 40, "[1]x", "[]]", "/**/1", "[1]\x00"),
    )
}
TEXTS |= {"no UTF-8": b'"\xff"', "UTF-16": '{"a": 1}'.encode("utf-16"), "half a character": b'"\xe2\x82"'}


class Target(RecordingServer):
    """Answers each request with the same body."""

    def say(self, body: bytes, content_type: str | None, *headers: tuple[str, str]) -> None:
        lines = headers if content_type is None else (("Content-Type", content_type), *headers)
        self.answers["/"] = answer(200, body, lines)


@pytest.fixture
def target() -> Iterator[Target]:
    with Target() as target:
        yield target


def result(read: Callable[[], Any]) -> Any:
    """The value, with the types of all its parts, or the error."""
    try:
        return repr(read())
    except Exception as error:
        return type(error), str(error)


def by_requests(body: bytes, content_type: str | None) -> Any:
    response = requests.Response()
    response.status_code, response._content = 200, body
    response.headers = CaseInsensitiveDict({} if content_type is None else {"Content-Type": content_type})
    response.encoding = get_encoding_from_headers(response.headers)
    return result(response.json)


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_a_body_is_read_as_by_requests(text: str, target: Target, session_bench: SessionBench) -> None:
    target.say(TEXTS[text], JSON)
    response = session_bench.http(target.url).get("/")
    expected = by_requests(TEXTS[text], JSON)
    assert result(response.json) == expected
    assert response.content == TEXTS[text]
    assert result(response.json) == expected


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_a_body_of_the_fast_session_is_read_as_by_json(text: str, target: Target, session_bench: SessionBench) -> None:
    target.say(TEXTS[text], JSON)
    response = session_bench.fast(target.url).get("/")
    assert result(response.json) == result(lambda: json.loads(TEXTS[text].decode(errors="replace")))


CONTENT_TYPES = (
    *(f"application/json{it}" for it in ("; charset=utf-8", ";charset=UTF-8", "; charset=latin-1", "; charset=Utf-8")),
    *('application/json; charset="utf-8"', "application/json; charset=nonsense", "application/json;"),
    *("application/jsonx", "Application/JSON", "application/vnd.api+json", "text/json", "text/html; charset=utf-8", ""),
    None,
)


@pytest.mark.parametrize("content_type", CONTENT_TYPES)
@pytest.mark.parametrize("body", [b'{"a": "\xc3\xa9"}', b'"\xe9"', b"{"])
def test_a_content_type_counts_as_in_requests(
    body: bytes, content_type: str | None, target: Target, session_bench: SessionBench
) -> None:
    target.say(body, content_type)
    assert result(session_bench.http(target.url).get("/").json) == by_requests(body, content_type)


def test_random_bodies_are_read_as_by_requests(target: Target, session_bench: SessionBench) -> None:
    session, rng = session_bench.http(target.url), random.Random(1)
    for _ in range(1500):
        body = damaged(json.dumps(random_value(rng, 4), ensure_ascii=rng.random() < 0.5).encode(), rng)
        target.say(body, JSON)
        assert result(session.get("/").json) == by_requests(body, JSON), body


def test_more_names_than_are_kept_are_read_as_by_requests(target: Target, session_bench: SessionBench) -> None:
    session = session_bench.http(target.url)
    long = "n" * 33
    body = json.dumps({f"name {number}": {f"other {number}": number, long: number} for number in range(3000)}).encode()
    target.say(body, JSON)
    for _ in range(2):
        assert result(session.get("/").json) == by_requests(body, JSON)


def test_texts_of_each_length_are_read_as_by_requests(
    any_place: list[str], target: Target, session_bench: SessionBench
) -> None:
    for is_ascii in (True, False):
        body = json.dumps([any_place, {text: text for text in any_place}], ensure_ascii=is_ascii).encode()
        target.say(body, JSON)
        session = session_bench.http(target.url)
        for _ in range(2):
            assert result(session.get("/").json) == by_requests(body, JSON)


def random_value(rng: random.Random, depth: int) -> Any:
    kind = rng.randrange(8 if depth else 6)
    if kind == 6:
        return [random_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    if kind == 7:
        return {random_text(rng): random_value(rng, depth - 1) for _ in range(rng.randrange(4))}
    number = rng.choice([rng.randrange(-10, 10), rng.getrandbits(70), rng.uniform(-1, 1), rng.uniform(-1, 1) * 1e300])
    return [number, number, random_text(rng), True, False, None][kind]


def random_text(rng: random.Random) -> str:
    return "".join(
        rng.choice('abc"\\/\n\x01\x7fé€😀') for _ in range(rng.choice([rng.randrange(6), rng.randrange(45)]))
    )


def damaged(body: bytes, rng: random.Random) -> bytes:
    """The same in half of all cases; else with one byte removed or another one put in."""
    place = rng.randrange(len(body))
    rest = body[place + 1 :] if rng.random() < 0.5 else body[place:]
    return (
        body
        if rng.random() < 0.5
        else body[:place] + rng.choice([b"", *map(bytes, zip(b'0"\\,:[]{} e.-u\xc3'))]) + rest
    )


def test_a_coded_body_is_decoded(target: Target, session_bench: SessionBench) -> None:
    target.say(gzip.compress(b'{"a": 1}'), JSON, ("Content-Encoding", "gzip"))
    for session in (session_bench.http(target.url), session_bench.fast(target.url)):
        assert session.get("/").json() == {"a": 1}


def test_a_streamed_body_is_read_to_its_end(target: Target, session_bench: SessionBench) -> None:
    target.say(b'{"a": 1}', JSON)
    for session in (session_bench.http(target.url), session_bench.fast(target.url)):
        assert session.get("/", stream=True).json() == {"a": 1}


def test_an_encoding_that_user_code_assigns_counts(target: Target, session_bench: SessionBench) -> None:
    target.say(b'"\xc3\xa9"', JSON)
    response = session_bench.http(target.url).get("/")
    assert response.json() == "é"
    response.encoding = "latin-1"
    assert response.encoding == "latin-1"
    assert response.text == '"Ã©"'
    response.encoding = None
    assert response.encoding is None


def test_a_function_that_a_script_puts_into_json_is_called(
    monkeypatch: pytest.MonkeyPatch, target: Target, session_bench: SessionBench
) -> None:
    target.say(b"1", JSON)
    loads = json.loads
    monkeypatch.setattr(json, "loads", lambda text, **_: ("read", loads(text)))
    for session in (session_bench.http(target.url), session_bench.fast(target.url)):
        assert session.get("/").json() == ("read", 1)


def test_a_missing_response_has_no_json(target: Target, session_bench: SessionBench) -> None:
    target.answers["/"] = answer(302, b"1", (("Content-Type", JSON), ("Location", "/")))
    with pytest.raises(TypeError):
        session_bench.fast(target.url).get("/").json()
    with pytest.raises(requests.exceptions.JSONDecodeError):
        session_bench.http(target.url).get("/").json()
