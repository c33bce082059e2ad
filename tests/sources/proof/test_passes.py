"""A pass of the proof compares replies with what was recorded."""

from __future__ import annotations

import pytest
from tests.sources.proof.recordings import har, har_with_headers
from tests.sources.recording_target import Answer, target

from plimsoll.sources.making import make_draft
from plimsoll.sources.proof.passes import one_pass


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
        proofs = one_pass(make_draft([str(tmp_path / "x.har")]))
    assert [(proof.state, proof.why) for proof in proofs] == [("differs", why)]


HTML, JSON = {"Content-Type": "text/html"}, {"Content-Type": "application/json; charset=utf-8"}


@pytest.mark.parametrize(
    ("recorded", "now", "why"),
    [
        ((200, "[1]", JSON), Answer(200, "<p>"), "its media type is another one, recorded application/json"),
        ((200, "<p>", HTML), Answer(200, "<p>"), ""),
        (
            (302, "", {"Location": "/home?a=1"}), Answer(302, "", (("Location", "/login"),)),
            "it redirects to another path, recorded /home",
        ),
        ((302, "", {"Location": "http://x.test/home/17#a"}), Answer(302, "", (("Location", "/home/18"),)), ""),
        ((302, "", {"Location": "?page=1"}), Answer(302, "", (("Location", "?page=2"),)), ""),
        ((200, "x" * 5_400, HTML), Answer(200, "<p>no"), "a body of 5 B, recorded 5\u202f400 B"),
        ((200, "x" * 300, HTML), Answer(200, "x" * 1_900), ""),
    ],
    ids=["media-type", "same-type", "other-path", "other-id", "relative", "size", "small-sizes"],
)  # fmt: skip
def test_headers_and_sizes_are_compared(tmp_path, recorded, now, why):
    with target(lambda _: now) as service:
        (tmp_path / "x.har").write_text(har_with_headers(service.url, {}, ("GET", "/", "", *recorded)))
        proof = one_pass(make_draft([str(tmp_path / "x.har")]))[0]
    assert (proof.state, proof.why) == ("differs" if why else "proven", why)


def test_what_differs_between_two_recordings_may_differ_again(tmp_path):
    pages = [
        ("<title>Order 17</title>", {**HTML, "Location": "/new/x"}),
        ("<title>Order 18</title>", {**HTML, "Location": "/new/y"}),
    ]
    now = Answer(302, "<title>Order 19</title>", (("Location", "/new/z"),))
    with target(lambda _: now) as service:
        for number, (page, headers) in enumerate(pages):
            (tmp_path / f"{number}.har").write_text(
                har_with_headers(service.url, {}, ("GET", "/", "", 302, page, headers))
            )
        paths = [str(tmp_path / f"{number}.har") for number in range(2)]
        states = [one_pass(make_draft(paths[:number]))[0].state for number in (1, 2)]
    assert states == ["differs", "proven"]


def test_a_page_that_a_reply_leads_back_to_is_sent_as_its_referrer(tmp_path):
    def rules(request):
        return Answer(302, "", (("Location", request.headers.get("referer", "/")),))

    with target(rules) as service:
        sent = {"Referer": f"{service.url}/milk"}
        (tmp_path / "x.har").write_text(
            har_with_headers(service.url, sent, ("POST", "/add", "n=1", 302, "", {"Location": "/milk"}))
        )
        assert one_pass(make_draft([str(tmp_path / "x.har")]))[0].state == "proven"
