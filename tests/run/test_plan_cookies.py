"""Cookies of plans, side by side with curl's: what each sends back to which host and path.

The hosts exist only behind a proxy, which is a server of this test. Both clients send the same requests, in the same
order, and have one jar for all of them.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.users.recording_server import RecordingServer, answer

if TYPE_CHECKING:
    from tests.command import Command


@dataclass(frozen=True)
class Case:
    """A request with `lines` of Set-Cookie in its response, and requests after it. `{n}` is the number of the case."""

    sender: str
    lines: tuple[str, ...]
    others: tuple[str, ...] = ()

    def urls(self, number: int) -> list[str]:
        places = [self.sender, self.sender, *self.others]
        return ["http://" + place.replace("{n}", str(number)) for place in places]

    def answer(self, number: int) -> bytes:
        return answer(200, b"", tuple(("Set-Cookie", line.replace("{n}", str(number))) for line in self.lines))


_FAMILY = ("a.x{n}.test/", "b.x{n}.test/", "x{n}.test/", "c.a.x{n}.test/", "ax{n}.test/")
_PATHS = ("h{n}.test/", "h{n}.test/a", "h{n}.test/a/b", "h{n}.test/a/b/c", "h{n}.test/ab", "h{n}.test/a/?x=/b")
CASES = [
    # Domains.
    Case("a.x{n}.test/", ("c=1",), _FAMILY),
    Case("a.x{n}.test/", ("c=1; Domain=x{n}.test",), _FAMILY),
    Case("a.x{n}.test/", ("c=1; Domain=.X{n}.Test",), _FAMILY),
    Case("a.x{n}.test/", ("c=1; Domain=a.x{n}.test",), _FAMILY),
    Case("a.x{n}.test/", ("c=1; Domain=b.x{n}.test",), _FAMILY),
    Case("a.x{n}.test/", ("c=1; Domain=c.a.x{n}.test",), _FAMILY),
    Case("ax{n}.test/", ("c=1; Domain=x{n}.test",), _FAMILY),
    Case("x{n}.test/", ("c=1; Domain=x{n}.test",), _FAMILY),
    Case("x{n}.test/", ("c=1",), _FAMILY),
    Case("a.x{n}.test/", ("far=1; Domain=example.net", "c=1; Domain=x{n}.test"), ("example.net/", *_FAMILY)),
    Case("a.x{n}.test/", ("c=1; Domain=test",), ("y{n}.test/",)),
    Case("a.x{n}.test/", ("c=host", "c=domain; Domain=x{n}.test"), _FAMILY),
    Case("a.x{n}.test/", ("c=1; Domain=x{n}.test", "c=; Domain=x{n}.test; Max-Age=0"), _FAMILY),
    Case("a.x{n}.test/", ("c=1; Domain=x{n}.test", "c=; Max-Age=0"), _FAMILY),
    # Public suffixes.
    Case("a{n}.com/", ("c=1; Domain=com",), ("b{n}.com/",)),
    Case("a{n}.co.uk/", ("c=1; Domain=co.uk",), ("b{n}.co.uk/",)),
    Case("a{n}.co.uk/", ("c=1; Domain=a{n}.co.uk",), ("w.a{n}.co.uk/",)),
    Case("a{n}.github.io/", ("c=1; Domain=github.io",), ("b{n}.github.io/",)),
    Case("w.a{n}.github.io/", ("c=1; Domain=a{n}.github.io",), ("b.a{n}.github.io/",)),
    Case("w.a{n}.kawasaki.jp/", ("c=1; Domain=a{n}.kawasaki.jp",), ("b.a{n}.kawasaki.jp/",)),
    Case("city.kawasaki.jp/", ("c=1; Domain=city.kawasaki.jp",), ("w.city.kawasaki.jp/",)),
    # Addresses.
    Case("10.0.0.{n}/", ("c=1",), ("10.0.0.1{n}/",)),
    Case("10.0.0.{n}/", ("c=1; Domain=10.0.0.{n}",), ("1.10.0.0.{n}.test/",)),
    Case("10.0.0.{n}/", ("c=1; Domain=0.0.{n}",)),
    # Paths.
    Case("h{n}.test/a/b", ("c=1",), _PATHS),
    Case("h{n}.test/a/b/", ("c=1",), _PATHS),
    Case("h{n}.test/login?next=/a/b", ("c=1",), _PATHS),
    Case("h{n}.test/a/b", ("c=1; Path=/",), _PATHS),
    Case("h{n}.test/a/b", ("c=1; Path=/ab",), _PATHS),
    # Not here: a Path that does not begin with /. curl takes it for /, RFC 6265 for the directory of the request.
    Case("h{n}.test/a/b", ("c=top; Path=/", "c=deep; Path=/a"), _PATHS),
    # Ages, secure cookies over http, and prefixes.
    Case("h{n}.test/", ("c=1; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT",)),
    Case("h{n}.test/", ("c=1", "c=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT")),
    Case("h{n}.test/", ("c=1", "c=2; Max-Age=-5")),
    Case("h{n}.test/", ("c=1; Expires=Fri, 31 Dec 2100 23:59:59 GMT", "d=2; Expires=soon")),
    Case("h{n}.test/", ("c=1; Secure", "d=2")),
    Case("h{n}.test/", ("__Secure-c=1", "__Secure-d=1; Secure", "__Host-e=1; Path=/", "f=1")),
    # The machine itself counts as secure.
    Case("127.0.0.1/", ("c=1; Secure", "__Host-d=1; Secure; Path=/", "__Host-e=1; Secure; Path=/x", "__Secure-f=1")),
]


def _cookies(server: RecordingServer) -> list[tuple[str, list[str]]]:
    """(URL, cookies in any order) of each request."""
    return [(got.target, sorted(filter(None, (got.header("Cookie") or "").split("; ")))) for got in server.got]


def _plan(urls: list[str], proxy: str) -> str:
    hosts = [url.split("/")[2] for url in urls]
    targets = "".join(
        f'[[target]]\nname = "{host}"\nurl = "http://{host}"\nproxy = "{proxy}"\n' for host in dict.fromkeys(hosts)
    )
    steps = "".join(
        f'[[flow.step]]\ntarget = "{host}"\nget = "{url.partition(host)[2]}"\n'
        for host, url in zip(hosts, urls, strict=True)
    )
    return f"cookies = true\n{targets}[[flow]]\n{steps}"


def test_plans_send_the_cookies_that_curl_sends(plimsoll: Command) -> None:
    curl = shutil.which("curl")
    if curl is None or b"PSL" not in subprocess.run([curl, "--version"], capture_output=True, check=True).stdout:
        pytest.skip("needs curl with a list of public suffixes")
    urls = [url for number, case in enumerate(CASES) for url in case.urls(number)]
    answers = {case.urls(number)[0].partition("?")[0]: case.answer(number) for number, case in enumerate(CASES)}
    found = []
    for client in ("curl", "plan"):
        with RecordingServer(dict(answers)) as proxy:
            if client == "curl":
                subprocess.run([curl, "-s", "-b", "", "-x", proxy.url, "--noproxy", "", *urls], check=True)
            else:
                plimsoll.write(_plan(urls, proxy.url), "plan.toml")
                done = plimsoll("run", "plan.toml", "--headless", "-u", "1", "--iterations", "1")
                assert done.code == 0, done
            found.append(_cookies(proxy))
    assert [url for url, _ in found[0]] == urls
    assert [url for url, _ in found[1]] == urls
    differences = [(curls, plans) for curls, plans in zip(*found, strict=True) if curls != plans]
    assert not differences
    assert sum(bool(cookies) for _, cookies in found[1]) > len(CASES), "most cases have cookies to send"
