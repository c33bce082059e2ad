"""Ids of what a client has made come from the reply that made it."""

from __future__ import annotations

import pytest
from tests.sources.correlation.test_correlating import TOKEN, correlated, get, post, reply

from plimsoll.sources.draft import Variable
from plimsoll.sources.exchange import RecordedExchange

JSON = "application/json"


def made(body: str, path: str = "/notes") -> RecordedExchange:
    return post(path, '{"title": "x"}', JSON, reply(body, status=201))


def listed(*ids: str) -> RecordedExchange:
    items = ", ".join(f'{{"id": "{name}"}}' for name in ids)
    return get("/notes", reply(f'{{"items": [{items}]}}'))


def test_the_reply_that_made_it_is_preferred_to_a_later_list():
    first = (made('{"id": "n4"}'), listed("n4"), get("/notes/n4"))
    second = (made('{"id": "n7"}'), listed("n7"), get("/notes/n7"))
    draft = correlated(*first, second=second)
    assert [[extract.what for extract in step.extracts] for step in draft.steps] == [["/id"], [], []]
    assert draft.steps[2].path == ("/notes/", Variable("note_id", "reply"))


def test_an_id_is_taken_though_both_recordings_have_the_same():
    flow = (made('{"id": 4, "rank": 1}'), get("/notes/4?rank=1"), post("/notes/4", '{"id": 4, "rank": 1}', JSON))
    draft = correlated(*flow, second=flow)
    assert [extract.comment for extract in draft.steps[0].extracts] == [
        "the same in both recordings: likely; step 2 has it in its path"
    ]
    taken = Variable("note_id", "reply")
    assert (draft.steps[1].path, draft.steps[2].path) == (("/notes/", taken, "?rank=1"), ("/notes/", taken))
    assert draft.steps[2].body == ('{"id": ', taken, ', "rank": 1}')


@pytest.mark.parametrize("location", ["/issues/4", "http://h.test/issues/4", "http://127.0.0.4/issues/4?x=4"])
def test_a_redirect_says_what_was_made(location):
    created = post("/projects/shop/issues", "{}", JSON, reply("", ("Location", location), status=302))
    draft = correlated(created, get("/issues/4/edit"), get("/lists/4"))
    assert [(extract.what, extract.part) for extract in draft.steps[0].extracts] == [("Location", "issues/([0-9]+)")]
    assert draft.steps[1].path == ("/issues/", Variable("issues", "reply"), "/edit")
    assert draft.steps[2].variables == []


@pytest.mark.parametrize(
    "flow",
    [
        (made('{"id": 4}', "/notes"), get("/users/4")),
        (made('{"rank": 4}'), get("/notes/4")),
        (get("/notes", reply('{"id": 4}')), get("/notes/4")),
        (post("/notes", '{"name": "milk"}', JSON, reply('{"name": "milk"}')), get("/notes/milk")),
    ],
    ids=["another-collection", "no-id", "nothing-made", "a-name-of-the-client"],
)
def test_what_is_the_same_in_both_recordings_is_no_id_without_evidence(flow):
    draft = correlated(*flow, second=flow)
    assert [step.extracts for step in draft.steps] == [[], []]


def test_a_link_of_a_page_ends_where_its_quotes_do():
    page = '<a href="/notes/">All</a><a href="/notes/{}/">x</a>'
    first = (
        get("/", reply(page.format(4))),
        get("/notes/4/"),
        get("/", reply(page.format(TOKEN))),
        get(f"/notes/{TOKEN}/"),
    )
    second = (get("/", reply(page.format(5))), get("/notes/5/"), get("/", reply(page.format("b1"))), get("/notes/b1/"))
    draft = correlated(*first, second=second)
    assert [extract.what for step in draft.steps for extract in step.extracts] == [
        "notes/([0-9]+)", """notes/([^/"'<>\\s]+)""",
    ]  # fmt: skip


def test_a_broken_redirect_leads_nowhere():
    created = post("/orders", "{}", JSON, reply("", ("Location", "http://[/orders/4"), status=302))
    assert correlated(created, get("/orders/4"), second=(created, get("/orders/4"))).steps[0].extracts == []


def batch(path: str) -> RecordedExchange:
    return post("/batch", f'{{"requests": [{{"path": "{path}"}}]}}', JSON)


def test_what_was_made_is_taken_from_the_reply_that_made_it_wherever_it_is_sent():
    first = (made('{"data": {"id": "n4"}}'), listed("n4"), batch("/notes/n4"))
    second = (made('{"data": {"id": "n7"}}'), listed("n7"), batch("/notes/n7"))
    draft = correlated(*first, second=second)
    assert [[extract.what for extract in step.extracts] for step in draft.steps] == [["/data/id"], [], []]


def test_an_id_of_graphql_is_named_after_what_has_it():
    query = '{"query": "mutation { add { id } }"}'
    flows = [
        (
            post("/graphql", query, JSON, reply(f'{{"data": {{"addNote": {{"id": "{word}"}}}}}}')),
            post("/graphql", f'{{"variables": {{"id": "{word}"}}}}', JSON),
        )
        for word in ("4", "7")
    ]
    draft = correlated(*flows[0], second=flows[1])
    assert [extract.name for extract in draft.steps[0].extracts] == ["add_note_id"]


def edited(tag: str, listed_tag: str) -> tuple[RecordedExchange, ...]:
    """A client that edits a note, looks at the list, and deletes the note if nobody else has edited it."""
    put = RecordedExchange("PUT", "http://h.test/notes/4", reply=reply("{}", ("ETag", f'"{tag}"')))
    seen = get("/notes", reply("[]", ("ETag", f'"{listed_tag}"')))
    delete = RecordedExchange("DELETE", "http://h.test/notes/4", (("If-Match", f'"{tag}"'),), reply=reply())
    return put, seen, delete


def test_a_condition_is_that_of_the_resource_and_not_of_a_list():
    draft = correlated(*edited("a1", "a1"), second=edited("b2", "b2"))
    assert [[extract.what for extract in step.extracts] for step in draft.steps] == [["ETag"], [], []]


def test_a_condition_is_made_of_a_revision_in_json():
    flows = [
        (
            RecordedExchange("PUT", "http://h.test/notes/4", reply=reply(f'{{"revision": {number}}}')),
            RecordedExchange("DELETE", "http://h.test/notes/4", (("If-Match", f'"{number}"'),), reply=reply()),
        )
        for number in (17, 23)
    ]
    draft = correlated(*flows[0], second=flows[1])
    assert draft.steps[1].headers == [("If-Match", ('"', Variable("revision", "reply"), '"'))]
