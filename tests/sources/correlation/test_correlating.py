"""Values that come from replies, by their places. `tests/sources/test_proof.py` proves them on a real server."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from plimsoll.errors import UsageError
from plimsoll.sources.correlation.correlating import Correlation
from plimsoll.sources.correlation.value_forms import is_telling
from plimsoll.sources.draft import Variable
from plimsoll.sources.drafting import draft_of
from plimsoll.sources.exchange import RecordedExchange, RecordedReply, Recording
from plimsoll.sources.reply_values import ReplyPlace, encoded_places_of, places_of, value_at

TOKEN, OTHER = "a81f3c9d77e2", "f02b6e5a1c48"


def reply(body: str = "", *headers: tuple[str, str], status: int = 200) -> RecordedReply:
    return RecordedReply(status, headers, body.encode())


def get(path: str, answer: RecordedReply | None = None, *headers: tuple[str, str]) -> RecordedExchange:
    return RecordedExchange("GET", f"http://h.test{path}", headers, reply=answer or reply())


def post(path: str, body: str, kind: str, answer: RecordedReply | None = None) -> RecordedExchange:
    return RecordedExchange(
        "POST", f"http://h.test{path}", (("Content-Type", kind),), body.encode(), reply=answer or reply()
    )


def correlated(*exchanges: RecordedExchange, second: tuple[RecordedExchange, ...] = ()):
    draft = draft_of(Recording("one.har", exchanges, of_browser=True))
    other = draft_of(Recording("two.har", second, of_browser=True)) if second else None
    Correlation(draft, other).run()
    return draft


@pytest.mark.parametrize(
    ("answer", "kind", "what"),
    [
        (reply(f'{{"a": [{{"key": "{TOKEN}"}}]}}'), "json", "/a/0/key"),
        (reply(f'{{"a/b~": "{TOKEN}"}}'), "json", "/a~1b~0"),
        (reply("", ("X-Next", TOKEN)), "header", "X-Next"),
        (reply("", ("Set-Cookie", f"xsrf={TOKEN}; Path=/")), "cookie", "xsrf"),
        (reply("", ("Location", f"/cb?code={TOKEN}&s=1"), status=302), "header", "Location"),
        (reply(f'<input name="t" value="{TOKEN}">'), "regex", 'name="t"[^>]*?value="([^"]*)"'),
        (reply(f"<input value='{TOKEN}' id='t'>"), "regex", "value='([^']*)'[^>]*?id='t'"),
        (reply(f'<meta content="{TOKEN}" name="csrf">'), "regex", 'content="([^"]*)"[^>]*?name="csrf"'),
        (reply(f'<a href="/items/{TOKEN}">x</a>'), "regex", 'items/([^"]+)'),
        (reply(f"<script>var csrf = '{TOKEN}';</script>"), "regex", "csrf = '([^']+)"),
        (reply(f"{TOKEN}"), None, None),
    ],
)
def test_a_value_is_found_at_its_place(answer, kind, what):
    place = next(places_of(answer, TOKEN), None)
    if kind is None:
        assert place is None
        return
    assert place is not None
    assert (place.kind, place.what) == (kind, what)
    assert value_at(answer, place) == TOKEN


def test_a_pattern_that_finds_another_value_first_is_not_used():
    answer = reply(f'<a href="/items/x1">1</a><a href="/items/{TOKEN}">2</a>')
    for place in places_of(answer, TOKEN):
        assert value_at(answer, place) == TOKEN


def test_json_places_have_only_leaves():
    answer = reply('{"a": {"b": null, "c": true, "d": 17, "e": 1.5}}')
    places = {value: next(places_of(answer, value), None) for value in ("17", "1.5", "null", "true")}
    assert places["17"] == ReplyPlace("json", "/a/d", "d")
    assert places["1.5"] is not None
    assert [value_at(answer, ReplyPlace("json", what, "")) for what in ("/a", "/a/b", "/a/d", "/x/1", "")] == [
        None, None, "17", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (get(f"/x/{TOKEN}"), "path"),
        (get(f"/x?t={TOKEN}&u=1"), "path"),
        (post("/x", f"t={TOKEN}&u=1", "application/x-www-form-urlencoded"), "body"),
        (post("/x", f'{{"a": ["{TOKEN}"]}}', "application/json"), "body"),
        (get("/x", None, ("X-T", TOKEN)), "header"),
        (get("/x", None, ("Authorization", f"Bearer {TOKEN}")), "header"),
    ],
)
def test_a_value_is_found_wherever_it_is_sent(sent, text):
    draft = correlated(get("/start", reply(f'{{"key": "{TOKEN}"}}')), sent)
    step = draft.steps[1]
    assert step.variables == [Variable("start_key", "reply")]
    assert Variable("start_key", "reply") in {"path": step.path, "body": step.body, "header": step.headers[0][1]
                                             if step.headers else ()}[text]  # fmt: skip
    assert draft.samples == {"start_key": TOKEN}


def test_the_latest_reply_wins_and_a_value_is_taken_once():
    page = reply(f'{{"key": "{TOKEN}"}}')
    draft = correlated(get("/a", page), get("/b", page), get(f"/c/{TOKEN}"), get("/d", page), get(f"/e/{TOKEN}"))
    assert [len(step.extracts) for step in draft.steps] == [0, 1, 0, 0, 0]


CLAIMS = base64.urlsafe_b64encode(f'{{"sub":"{TOKEN}"}}'.encode()).decode().rstrip("=")
SPECIAL = "a+/b=81f3c9d77e2"


@pytest.mark.parametrize(
    ("answer", "value", "place"),
    [
        (
            reply('<input name="t" value="a&#x2B;/b&#61;81f3c9d77e2">'), SPECIAL,
            ReplyPlace("regex", 'name="t"[^>]*?value="([^"]*)"', "t", decode=("html",)),
        ),
        (
            reply("<script>t = 'a+\\u002Fb\\u003d81f3c9d77e2'"), SPECIAL,
            ReplyPlace("regex", "t = '([^']+)", "t", decode=("json",)),
        ),
        (
            reply("", ("Set-Cookie", "XSRF-TOKEN=a%2B%2fb%3D81f3c9d77e2; Path=/")), SPECIAL,
            ReplyPlace("cookie", "XSRF-TOKEN", "XSRF-TOKEN", decode=("url",)),
        ),
        (
            reply("", ("Link", '</x?after=a%2B/b%3D81f3c9d77e2>; rel="next"')), SPECIAL,
            ReplyPlace("header", "Link", "after", "after=([^>]+)", ("url",)),
        ),
        (
            reply(f'{{"t": "{base64.b64encode(TOKEN.encode()).decode()}"}}'), TOKEN,
            ReplyPlace("json", "/t", "t", decode=("base64",)),
        ),
        (
            reply(f'{{"t": "eyJhIjoxfQ.{CLAIMS}.x"}}'), TOKEN,
            ReplyPlace("json", "/t", "sub", decode=("jwt",), within='"sub"\\s*:\\s*"?([^",}]+)'),
        ),
        (reply("", ("X-T", TOKEN.upper())), TOKEN, ReplyPlace("header", "X-T", "X-T", decode=("lower",))),
    ],
    ids=["html", "unicode-escapes", "cookie", "link", "base64", "jwt", "case"],
)  # fmt: skip
def test_a_value_is_seen_through_its_encoding(answer, value, place):
    assert next(places_of(answer, value), None) is None
    assert next(encoded_places_of(answer, value)) == place
    assert value_at(answer, place) == value


def test_what_the_client_sent_first_is_its_own():
    draft = correlated(get(f"/search?q={TOKEN}", reply(f'{{"q": "{TOKEN}"}}')), get(f"/more?q={TOKEN}"))
    assert [step.variables for step in draft.steps] == [[], []]


def test_short_ids_of_replies_are_taken_where_ids_stand():
    made = reply('{"id": 7, "page": 2, "size": 30}')
    draft = correlated(post("/orders", "{}", "application/json", made), get("/orders/7?page=2&size=30"))
    assert draft.steps[1].path == ("/orders/", Variable("order_id", "reply"), "?page=2&size=30")


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a81f3c9d77e2", True), ("eyJhbGciOiJIUzI1NiJ9.e30.x", True), ("1234567890", True), ("production", False),
     ("2026-11-29", False), ("ann@shop.test", False), ("hello world 12345", False), ("1.2.3.4.5.6", False),
     ("x1", False),
     ("https://shop.test/a1b2c3", False), ("12345678", False), ("abcdefghijklmnopqrstuvwx", True)],
)  # fmt: skip
def test_what_looks_like_no_coincidence(value, expected):
    assert is_telling(value) is expected


def flow(token: str, request: str, typed: str, tab: str = "same") -> tuple[RecordedExchange, ...]:
    page = reply(f'{{"other": "{tab}", "t": "{token}"}}')
    return get("/a", page), get(f"/b?t={token}&r={request}&q={typed}&tab={tab}")


UUIDS = ("0b2f7c1e-1111-4a4a-8b8b-000000000001", "9c8d7e6f-2222-4b4b-9c9c-000000000002")


def test_two_recordings_tell_replies_generators_and_the_persons_choice_apart():
    draft = correlated(*flow("ab", UUIDS[0], "milk"), second=flow("cd", UUIDS[1], "tea"))
    assert [(extract.name, extract.what) for extract in draft.steps[0].extracts] == [("t", "/t")]
    assert draft.steps[1].path == (
        "/b?t=", Variable("t", "reply"), "&r=", Variable("uuid", "made"), "&q=", Variable("q", "data"), "&tab=same",
    )  # fmt: skip
    assert draft.data == {"q": ["milk", "tea"]}


@pytest.mark.parametrize(
    ("sent", "variable"),
    [
        (("1772323200", "1772330000"), Variable("unix", "made")),
        (("1772323203000", "1772330000000"), Variable("unix_ms", "made")),
        (("2026-03-01T00:00:05Z", "2026-03-01T01:53:20.001Z"), Variable("now", "made")),
        (("1772323200", "1772330100"), Variable("r", "data")),
        (("1772323200", "1772330000000"), Variable("r", "data")),
        (("2026-03-01T00:00:05Z", "2026-13-01T01:53:20Z"), Variable("r", "data")),
        (("2026-03-01", "2026-03-02"), Variable("r", "data")),
    ],
)
def test_the_time_of_the_client_is_known_by_that_of_the_recordings(sent, variable):
    first, second = (
        tuple(replace(exchange, sent_at=sent_at) for exchange in flow(token, value, "milk"))
        for token, value, sent_at in (("ab", sent[0], 1772323201.5), ("cd", sent[1], 1772330000.0))
    )
    assert correlated(*first, second=second).steps[1].path[3] == variable
    without = correlated(*flow("ab", sent[0], "milk"), second=flow("cd", sent[1], "milk"))
    assert without.steps[1].path[3] == Variable("r", "data")


def test_a_place_counts_only_if_both_recordings_have_their_value_there():
    first = (get("/a", reply(f'{{"x": "{TOKEN}", "y": "{TOKEN}"}}')), get(f"/b?t={TOKEN}"))
    second = (get("/a", reply(f'{{"x": "9", "y": "{OTHER}"}}')), get(f"/b?t={OTHER}"))
    assert correlated(*first, second=second).steps[0].extracts[0].what == "/y"


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            (get("/a"), post("/b", "", "x/y")),
            "step 2 differs: GET /b of one.har is not in two.har; are these recordings",
        ),
        ((get("/z"), get("/b")), "step 1 differs: GET /a of one.har is not in two.har"),
    ],
)
def test_recordings_of_two_flows_are_refused(second, message):
    with pytest.raises(UsageError) as raised:
        correlated(get("/a"), get("/b"), second=second)
    assert message in str(raised.value)


def test_requests_of_a_page_may_come_in_another_order_or_not_at_all():
    first = (get("/a", reply('{"t": "ab"}')), get("/x/1"), get("/b?t=ab"), get("/once"))
    second = (get("/a", reply('{"t": "cd"}')), get("/b?t=cd"), get("/x/2"))
    draft = correlated(*first, second=second)
    assert draft.steps[2].variables == [Variable("t", "reply")]
    assert draft.notes == ["step 4 is in one recording only: GET /once"]


def test_what_a_page_fetched_in_one_recording_only_is_left_out():
    fetched = replace(get("/once"), kind="xhr")
    first, second = (get("/a"), fetched, get("/b")), (get("/a"), get("/b"))
    draft = correlated(*first, second=second)
    assert ([step.name for step in draft.steps], draft.notes) == (["/a", "/b"], [])
    assert draft.left_out == {"in one recording only (GET /once)": 1}
    # It may be the same as another request that the second recording alone has.
    assert len(correlated(*first, second=(*second, get("/twice"))).steps) == 3


def test_a_value_in_an_encoding_without_a_place_stays_and_is_named():
    draft = correlated(get("/a", reply("a&amp;b1234567")), get("/b", None, ("X-T", "a&b1234567")))
    assert draft.steps[1].variables == []
    assert draft.notes == ["step 2 sends X-T, which the reply of step 1 has in another encoding: it stays as recorded"]


def test_steps_whose_paths_differ_by_ids_without_digits_are_the_same():
    first = (get("/a", reply('{"id": "qwertzuiopas"}')), get("/notes/qwertzuiopas"))
    second = (get("/a", reply('{"id": "yxcvbnmasdf2"}')), get("/notes/yxcvbnmasdf2"))
    draft = correlated(*first, second=second)
    assert draft.steps[1].path == ("/notes/", Variable("a_id", "reply"))
    assert (draft.notes, draft.data) == ([], {})


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("/b?from=%2Fitems%2F{}%3Fpage%3D1", ("/b?from=%2Fitems%2F", Variable("t", "reply"), "%3Fpage%3D1")),
        ("/b/{}.json", ("/b/", Variable("t", "reply"), ".json")),
        ("/b?q=item+{}", ("/b?q=", Variable("q", "data"))),
        ("/b?q={}/{}x", ("/b?q=", Variable("q", "data"))),
    ],
    ids=["url-in-a-parameter", "suffix", "typed", "one-word-is-new"],
)
def test_words_of_a_value_come_from_replies(sent, expected):
    pages = [reply(f'{{"t": "{word}"}}') for word in ("73", "84")]
    first, second = (
        (get("/a", page), get(sent.replace("{}", word))) for page, word in zip(pages, ("73", "84"), strict=True)
    )
    draft = correlated(*first, second=second)
    path = draft.steps[1].path
    assert tuple(piece for piece in path if piece) == expected
    assert [extract.name for extract in draft.steps[0].extracts] == (["t"] if expected[1].origin == "reply" else [])


def test_a_word_in_a_document_within_a_string_is_found():
    first, second = (
        (
            get("/a", reply(f'{{"t": "{word}"}}')),
            post("/b", f'{{"q": "{{\\"id\\": \\"{word}\\"}}"}}', "application/json"),
        )
        for word in (TOKEN, OTHER)
    )
    assert correlated(*first, second=second).steps[1].body == (
        '{"q": "{\\"id\\": \\"',
        Variable("t", "reply"),
        '\\"}"}',
    )


def test_a_number_is_found_as_a_whole():
    page = "<p class='x{0}'>17 1234 items, {0}00</p><tr id='comment-{0}'>"
    first, second = ((get("/a", reply(page.format(word))), get(f"/b?c={word}")) for word in ("7", "9"))
    assert [extract.what for extract in correlated(*first, second=second).steps[0].extracts] == ["comment-([0-9]+)"]


def test_the_name_of_an_element_is_preferred_to_the_text_before():
    page = '<p>at 09:{0}</p><input name="minute" value="{0}">'
    first, second = ((get("/a", reply(page.format(word))), get(f"/b?m={word}")) for word in ("49", "51"))
    assert [extract.what for extract in correlated(*first, second=second).steps[0].extracts] == [
        'name="minute"[^>]*?value="([^"]*)"'
    ]


def operation(text: str, answer: str = "{}") -> RecordedExchange:
    sent = post("/graphql", f'{{"query": "{text}"}}', "application/json", reply(answer))
    return replace(sent, kind="fetch")


def test_operations_of_graphql_are_the_same_by_their_names():
    """They go to one path, and a page sends them in any order, and some not each time."""
    first = (operation("query Me { me }"), operation("query Jobs { jobs }"), operation("mutation Add { add }"))
    second = (operation("mutation Add { add }"), operation("query Me { me }"))
    draft = correlated(*first, second=second)
    assert ([step.name for step in draft.steps], draft.data, draft.notes) == (["Me", "Add"], {}, [])
    assert draft.left_out == {"in one recording only (POST /graphql (query Jobs))": 1}
    with pytest.raises(UsageError, match=r"step 1 differs: POST /graphql \(mutation Add\) of one.har"):
        correlated(operation("mutation Add { add }"), second=(operation("mutation Drop { drop }"),))


def test_actions_to_one_path_are_the_same_by_their_fields():
    form = "application/x-www-form-urlencoded"
    first = (post("/ajax", "action=save&id=4", form), post("/ajax", "action=list", form))
    draft = correlated(*first, second=(first[1], first[0]))
    assert draft.data == {}


def test_errors_of_graphql_are_failures():
    """Their status is 200."""
    steps = draft_of(Recording("x.har", (operation("{ me }"), operation("{ me }", '{"errors": []}')))).steps
    assert [step.lacks for step in steps] == [['"errors"'], []]


def test_scripts_of_a_page_that_do_something_else_are_not_the_same():
    first, second = (
        (get("/a"), replace(get(f"/ajax?action={name}&nonce={TOKEN}"), kind="xhr"), get("/b"))
        for name in ("check", "news")
    )
    draft = correlated(*first, second=second)
    assert ([step.name for step in draft.steps], draft.data) == (["/a", "/b"], {})
    assert draft.left_out == {"in one recording only (GET /ajax (check))": 1}


def test_calls_of_json_rpc_are_the_same_by_their_methods():
    calls = [
        replace(
            post("/rpc", f'{{"jsonrpc": "2.0", "method": "{name}", "params": []}}', "application/json"), kind="fetch"
        )
        for name in ("list", "add")
    ]
    assert correlated(*calls, second=(calls[1], calls[0])).data == {}


def list_of(count: int) -> RecordedReply:
    """A page with links, and with their number in its text."""
    links = "".join(f'<a href="/items/edit/{number}">x</a>\n' for number in range(1, count + 1))
    return reply(f"{links}<strong>Items:</strong> {count}")


def test_the_length_of_a_list_is_not_the_id_of_its_last_element():
    flows = [(get("/items/list/", list_of(count)), get(f"/items/edit/{count}")) for count in (2, 3)]
    draft = correlated(*flows[0], second=flows[1])
    assert draft.steps[0].extracts == []
    assert draft.data == {"edit": ["2", "3"]}


def test_an_id_in_the_text_of_a_page_without_its_link_is_taken():
    flows = [(get("/made", reply(f"<p>Order {number} is made")), get(f"/orders/{number}")) for number in (2, 3)]
    draft = correlated(*flows[0], second=flows[1])
    assert [extract.what for extract in draft.steps[0].extracts] == ["Order ([0-9]+)"]
