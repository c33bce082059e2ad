"""`--minimise` keeps the headers that the target asks for."""

from __future__ import annotations

import pytest
from tests.sources.proof.recordings import har_with_headers
from tests.sources.recording_target import Answer, target

from plimsoll.sources.making import make_draft
from plimsoll.sources.proof.headers import bring_back, minimise

SENT = {
    "User-Agent": "Mozilla/5.0", "Accept": "application/json", "X-Requested-With": "XMLHttpRequest", "X-Theme": "dark",
    "Referer": "http://shop.test/form?code=s3cret", "If-None-Match": "abc", "X-Api-Key": "s3cret",
}  # fmt: skip


@pytest.mark.parametrize(
    ("needed", "left_out", "brought_back"),
    [
        ((), ("accept", "x-requested-with", "x-theme"), ()),
        pytest.param(("x-theme", "referer"), ("accept", "x-requested-with"), ("referer",), marks=pytest.mark.long),
    ],
    ids=["none", "own-and-browser"],
)
def test_headers_that_the_target_needs_stay(tmp_path, needed, left_out, brought_back):
    def rules(request):
        return Answer(200 if all(name in request.headers for name in needed) else 403)

    with target(rules) as service:
        exchange = ("GET", "/", "", 200, "", {})
        (tmp_path / "x.har").write_text(har_with_headers(service.url, SENT, exchange, exchange))
        result = minimise(make_draft([str(tmp_path / "x.har")]))
    assert (result.left_out, result.brought_back) == (left_out, brought_back)
    names = {name.lower() for name, _ in result.draft.steps[1].headers}
    assert names == {*needed, "x-api-key"}
    assert all("s3cret" not in text for step in result.draft.steps for _, text in step.headers)


def test_headers_of_the_browser_come_back_if_a_step_needs_them(tmp_path):
    def rules(request):
        return Answer(200 if "referer" in request.headers else 403)

    with target(rules) as service:
        (tmp_path / "x.har").write_text(har_with_headers(service.url, SENT, ("GET", "/", "", 200, "", {})))
        result = bring_back(make_draft([str(tmp_path / "x.har")]))
    assert (result.left_out, result.brought_back) == ((), ("referer",))
    names = {name.lower() for name, _ in result.draft.steps[0].headers}
    assert names == {"accept", "x-requested-with", "x-theme", "x-api-key", "referer"}


def test_a_scenario_that_is_refused_with_all_headers_stays_as_it_is(tmp_path):
    with target(lambda _: Answer(403)) as service:
        (tmp_path / "x.har").write_text(har_with_headers(service.url, SENT, ("GET", "/", "", 200, "", {})))
        draft = make_draft([str(tmp_path / "x.har")])
        result = minimise(draft)
    assert (result.draft is draft, result.left_out, result.brought_back) == (True, (), ())
