from dataclasses import replace
from html.parser import HTMLParser

from plimsoll.record import CaughtException, Failure
from plimsoll.report.html import html

VOID = {"meta", "br", "hr", "img"}


class Page(HTMLParser):
    """Cells of the tables, and what is wrong with the nesting of elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.elements: list[str] = []
        self.feed(text)
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        assert not any(name in ("src", "href") for name, _ in attributes), "it needs nothing else"
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.elements.append(tag)

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1].append(data)


def test_it_has_the_numbers_of_the_run(view, run, valid):
    rows = {tuple(row[:2]): row for row in reversed(Page(html(view, run, valid)).rows)}
    get = rows["GET", "/todos"]
    assert get[2:4] == ["204", "4"]
    assert rows["POST", "/todos"][2:4] == ["12", "4"]
    total = next(row for row in Page(html(view, run, valid)).rows if row[0] == "Aggregated")
    assert total[1:3] == ["217", "9"]


def test_what_users_wrote_is_text_and_not_markup(view, run, valid):
    evil = "</td><script>alert(1)</script>"
    failure = Failure("GET", evil, "http", evil, 1, 1.0, 2.0)
    view.add([], [], [failure], [CaughtException(evil, evil, 1, {0})])
    run.notes = [evil]
    page = html(view, run, valid)
    assert "script" not in Page(page).elements
    assert page.count("&lt;script&gt;") >= 4


def test_an_invalid_run_says_so_before_its_numbers(view, run, valid, invalid):
    page = html(view, run, invalid)
    assert page.index("INVALID") < page.index("# Requests")
    assert all(reason in page for reason in invalid.validity.reasons)
    assert "INVALID" not in html(view, run, valid)


def test_thresholds_are_there_if_there_are_any(view, run, valid, invalid):
    assert "p100 &lt; 30s" in html(view, run, invalid)
    assert "<h2>Thresholds" not in html(view, run, replace(valid, thresholds=()))


def test_a_run_that_was_not_kept_has_a_page_too(view, valid):
    assert "was not kept" in html(view, None, valid)
