from __future__ import annotations

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources.exchange import RecordedExchange, RecordedReply, Recording
from plimsoll.sources.selection import SelectionRules, is_asset, select


def exchange(url: str, status: int = 200, kind: str = "", **headers: str) -> RecordedExchange:
    reply = RecordedReply(status, tuple((name.replace("_", "-"), value) for name, value in headers.items()))
    return RecordedExchange("GET", url, reply=reply, kind=kind)


def kept(rules: SelectionRules, *exchanges: RecordedExchange) -> tuple[list[str], dict[str, int]]:
    recording = select(Recording("x.har", exchanges, of_browser=True), rules)
    return [each.url for each in recording.exchanges], recording.left_out


SHOP, API, CDN, LOGIN = "http://shop.test/", "http://api.shop.test/x", "http://cdn.test/a.json", "http://login.test/in"


def test_the_site_of_the_first_request_is_kept():
    urls, left_out = kept(SelectionRules(), exchange(SHOP), exchange(CDN), exchange(API))
    assert (urls, left_out) == ([SHOP, API], {"of other hosts (cdn.test)": 1})


def test_a_host_to_which_it_redirects_is_a_part_of_the_flow():
    urls, _ = kept(SelectionRules(), exchange(SHOP, 302, location=LOGIN), exchange(LOGIN), exchange(CDN))
    assert urls == [SHOP, LOGIN]


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [("all", [SHOP, API, CDN]), ("*.shop.test", [API]), ("cdn.test, shop.test", [SHOP, CDN])],
)
def test_hosts_by_pattern(hosts, expected):
    assert kept(SelectionRules(hosts), exchange(SHOP), exchange(API), exchange(CDN))[0] == expected


def test_two_sites_below_a_public_suffix_are_not_one():
    one, other = "http://www.shop.co.uk/", "http://ads.bank.co.uk/"
    assert kept(SelectionRules(), exchange(one), exchange(other))[0] == [one]


def test_assets_are_left_out_unless_they_are_wanted():
    style = exchange("http://shop.test/a", content_type="text/css")
    assert kept(SelectionRules(), exchange(SHOP), style) == ([SHOP], {"assets": 1})
    assert kept(SelectionRules(assets=True), exchange(SHOP), style) == ([SHOP, style.url], {})


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (exchange("http://h/x", kind="image"), True), (exchange("http://h/x", kind="document"), False),
        (exchange("http://h/x.png", kind="xhr"), False), (exchange("http://h/favicon.ico", kind="other"), True),
        (exchange("http://h/x", content_type="image/png"), True), (exchange("http://h/x.js"), True),
        (exchange("http://h/x.js", content_type="application/json"), False), (exchange("http://h/x"), False),
        (RecordedExchange("GET", "http://h/x", (("Sec-Fetch-Dest", "font"),)), True),
        (RecordedExchange("POST", "http://h/x.png"), False),
    ],
)  # fmt: skip
def test_what_an_asset_is(made, expected):
    assert is_asset(made) is expected


def test_nothing_left_is_a_mistake():
    with pytest.raises(UsageError, match=r"no request is left; its hosts are shop.test: choose with --hosts"):
        kept(SelectionRules("other.test"), exchange(SHOP))


def test_commands_of_curl_are_all_meant():
    recording = Recording("x.sh", (exchange("http://h/a.png"), exchange(CDN)))
    assert select(recording, SelectionRules()) is recording


def test_a_redirect_to_a_broken_url_leads_nowhere():
    reply = RecordedReply(302, (("Location", "http://[/x"),))
    recording = Recording("x.har", (RecordedExchange("GET", "http://h/a", reply=reply),), of_browser=True)
    assert select(recording, SelectionRules()) == recording
