from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources.curl import is_curl, read_curl
from plimsoll.sources.exchange import FormPart
from plimsoll.sources.source_input import SourceInput

if TYPE_CHECKING:
    from plimsoll.sources.exchange import RecordedExchange


def read(text: str) -> list[RecordedExchange]:
    return list(read_curl(SourceInput("x.sh", text)).exchanges)


def only(text: str) -> RecordedExchange:
    (exchange,) = read(text)
    return exchange


@pytest.mark.parametrize(
    ("options", "method", "body"),
    [
        ("", "GET", None),
        ("-I", "HEAD", None),
        ("-X DELETE", "DELETE", None),
        ("-XPUT -d a=1", "PUT", b"a=1"),
        ("-d a=1 -d b=2", "POST", b"a=1&b=2"),
        ("--data-raw '@x'", "POST", b"@x"),
        ("--data-urlencode 'a=b c&d'", "POST", b"a=b+c%26d"),
        ("--data-urlencode 'b c'", "POST", b"b+c"),
        ("--json '{\"a\": 1}'", "POST", b'{"a": 1}'),
        ("-sSLd a=1", "POST", b"a=1"),
        ("--request PATCH --data=a=1", "PATCH", b"a=1"),
    ],
)
def test_method_and_body(options, method, body):
    exchange = only(f"curl {options} http://127.0.0.1/x")
    assert (exchange.method, exchange.body) == (method, body)


@pytest.mark.parametrize(
    ("words", "url"),
    [
        ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("http://h.test?a=1#x", "http://h.test/?a=1"),
        ("-G -d a=1 -d b=2 'http://h/x?c=3'", "http://h/x?c=3&a=1&b=2"),
        ("--url http://h/y", "http://h/y"),
        ("-g 'http://h/[1-3]'", "http://h/[1-3]"),
        ("http://ann:secret@h/z", "http://h/z"),
        ("--resolve h.test:80:127.0.0.9 http://h.test/x", "http://127.0.0.9:80/x"),
    ],
)
def test_urls(words, url):
    assert only(f"curl {words}").url == url


def test_headers():
    exchange = only("curl -H 'A: 1' -H B:2 -A me -e http://r/ -b 'c=d' -u ann:pw --json '{}' -H 'Accept:' http://h/")
    assert exchange.headers == (
        ("Authorization", "Basic YW5uOnB3"), ("A", "1"), ("B", "2"), ("User-Agent", "me"), ("Referer", "http://r/"),
        ("Cookie", "c=d"), ("Content-Type", "application/json"),
    )  # fmt: skip


@pytest.mark.parametrize("url", ["-u ann:pw http://h/", "http://ann:pw@h/"])
def test_a_given_authorization_replaces_that_of_the_user(url):
    exchange = only(f"curl -H 'authorization: Bearer t' {url}")
    assert exchange.headers == (("authorization", "Bearer t"),)
    assert only(f"curl -H 'Authorization:' {url}").headers == ()


@pytest.mark.parametrize("scheme", ["http://", ""])
def test_the_password_of_a_proxy_is_not_kept(scheme):
    recording = read_curl(SourceInput("x.sh", f"curl -x {scheme}ann:s3cret@p:1 http://h/"))
    assert recording.exchanges[0].connection.proxy == f"{scheme}p:1"
    assert recording.notes == (
        "x.sh:1: user and password of the proxy are not written; the proxy is used without them",
    )


def test_forms_and_files(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    (tmp_path / "b.txt").write_text("x\ny\n")
    source = SourceInput("c.sh", "curl -F a=1 -F 'f=@a.png;type=image/png' -F 't=<b.txt' http://h/\n"
                         "curl -d @b.txt http://h/\ncurl --data-binary @b.txt http://h/\ncurl -T a.png http://h/",
                         tmp_path / "c.sh")  # fmt: skip
    first, second, third, fourth = read_curl(source).exchanges
    assert first.parts == (
        FormPart("a", b"1"), FormPart("f", b"\x89PNG", "a.png", "image/png"), FormPart("t", b"x\ny\n"),
    )  # fmt: skip
    assert (first.method, second.body) == ("POST", b"xy")
    assert (third.method, third.body_file, third.body) == ("POST", str(tmp_path / "b.txt"), None)
    assert (fourth.method, fourth.body_file) == ("PUT", str(tmp_path / "a.png"))


def test_how_a_host_is_reached():
    exchange = only("curl -k --http2 --cert a.pem --key b.pem -x http://p:1 -m 2.5 https://h/")
    own = exchange.connection
    assert (own.verify, own.http2, own.certificate, own.key, own.proxy) == (False, True, "a.pem", "b.pem", "http://p:1")
    assert exchange.timeout == 2.5
    assert only("curl --cacert ca.pem https://h/").connection.verify == "ca.pem"
    for options, proxy in (
        ("-x socks5h://p", "socks5h://p"),
        ("--socks5 p:1", "socks5://p:1"),
        ("--socks5-hostname me:s3cret@p", "socks5h://p"),
    ):
        assert only(f"curl {options} http://h/").connection.proxy == proxy


def test_several_requests():
    urls = [exchange.url for exchange in read("curl http://h/1 http://h/2 --next -d x http://h/3\n$ curl http://h/4")]
    assert urls == ["http://h/1", "http://h/2", "http://h/3", "http://h/4"]


def test_what_is_not_done_is_named():
    recording = read_curl(SourceInput("x.sh", "\ncurl -L --retry 3 --ntlm -u a:b -b jar.txt http://h/"))
    assert [note.partition(": ")[0] for note in recording.notes] == ["x.sh:2"] * 4
    assert [word in " ".join(recording.notes) for word in ("-L", "--retry", "--ntlm", "jar.txt")] == [True] * 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("curl", "x.sh:1: the command has no URL"),
        (
            "curl --jason '{}' http://h/",
            "x.sh:1: --jason is no option of curl that is known here; did you mean --json?",
        ),
        ("curl http://h/ -d", "x.sh:1: --data needs a value"),
        ("curl -! http://h/", "x.sh:1: -! is no option of curl"),
        ("\nwget http://h/", "x.sh:2: 'wget' is no command of curl"),
        ("curl http://h/?a=1&b=2", "x.sh:1: 'b=2' is no command of curl; put URLs and texts with & into quotes"),
        ("curl ftp://h/", "'ftp://h/' is not a URL that can be loaded"),
        ("curl http://ann:pass@h:x/", "x.sh:1: 'http://ann:***@h:x/'"),
        ("curl 'http://h/{a,b}'", "curl makes several URLs of {a,b}; write each of them, or say --globoff"),
        ("curl -d @no-such-file http://h/", "x.sh:1: cannot read no-such-file"),
        ("curl -d @- http://h/", "reads its body from the standard input"),
        ("curl -H nonsense http://h/", "-H 'nonsense' is no header"),
        ("""curl -H "'X-Key: s3cr3t'" http://h/""", "x.sh:1: the name of a header has a quote: -H 'X-Key…; one pair"),
        ("curl -F nonsense http://h/", "has no name"),
        ("curl -d a -F b=c http://h/", "-d, -F and -T do not go together"),
        ("curl --resolve h http://h/", "--resolve h is not understood"),
        ("curl -m soon http://h/", "--max-time soon is no number of seconds"),
    ],
)
def test_mistakes(text, message):
    with pytest.raises(UsageError) as raised:
        read(text)
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("curl http://h", True), ("# x\n$ curl http://h", True), ("  curl.exe x", True), ("GET http://h", False),
     ('{"log": "\ncurl x"}', False), ("a curl x", False)],
)  # fmt: skip
def test_is_curl(text, expected):
    assert is_curl(SourceInput("x", text)) is expected


def test_short_and_long_options_are_those_of_the_installed_curl():
    """Every option that curl lists is known here, or it is refused by name; so no option is taken for a URL."""
    from plimsoll.sources import curl_options as own

    try:
        listed = subprocess.run(["curl", "--help", "all"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("curl is not installed")
    for line in listed.splitlines():
        name = next((word.rstrip(",")[2:] for word in line.split() if word.startswith("--")), "")
        takes_value = re.search(rf"--{name} [<\[]", line) is not None
        if name in own.VALUES or name in own.NAMED_WITH_VALUE or name in own.NOTHING_WITH_VALUE:
            assert takes_value, line
        elif name in own.NOTHING or name in own.NAMED or name in own.SWITCHES:
            assert not takes_value, line
