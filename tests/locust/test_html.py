from __future__ import annotations

import re
from argparse import Namespace
from html.parser import HTMLParser

import pytest

from plimsoll.locust.environment import Environment
from plimsoll.locust.html import get_html_report, process_html_filename
from plimsoll.users.user import User


class Visitor(User):
    host = "http://of-the-class"


class Cells(HTMLParser):
    """The rows of all tables, and what may not be in a page that needs no other file."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [name for name, _ in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._inside = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.rows[-1][-1] += data


@pytest.fixture
def environment() -> Environment:
    environment = Environment(user_classes=[Visitor], locustfile="<mine>.py", profile="nightly")
    for milliseconds in (10.0, 20.0, 20.0):
        environment.stats.log_request("GET", "/<b>", milliseconds, 100)
    environment.stats.log_request("POST", "/a", 30.0, 0)
    environment.stats.log_error("POST", "/a", "<script>alert(1)</script>")
    return environment


def test_every_endpoint_its_times_and_failures_are_there(environment: Environment) -> None:
    page = Cells(get_html_report(environment))
    # The table of percentiles comes later.
    rows = {(row[0], row[1]): row for row in reversed(page.rows)}
    assert rows["GET", "/<b>"][2:8] == ["3", "0", "16.67", "10.0", "20.0", "100.0"]
    assert rows["POST", "/a"][2:4] == ["1", "1"]
    assert ("", "Aggregated") in rows
    times = next(row for row in reversed(page.rows) if row[1] == "/<b>")
    assert [float(each) for each in times[2:]] == pytest.approx([20.0] * 8, rel=0.002)
    failure = next(row for row in page.rows if row[1:3] == ["POST", "/a"])
    assert (failure[0], failure[3]) == ("1", "<script>alert(1)</script>")


def test_nothing_of_the_targets_is_markup_and_no_other_file_is_needed(environment: Environment) -> None:
    text = get_html_report(environment, theme="dark")
    assert "<script" not in text
    assert 'class="dark"' in text
    assert Cells(text).links == []
    assert "Target Host: http://of-the-class" in text
    assert "Script: &lt;mine&gt;.py" in text
    assert re.search(r"During: \d{4}-\d\d-\d\dT[\d:]+Z – \d{4}-\d\d-\d\dT[\d:]+Z", text)
    environment.host = "http://chosen"
    assert "Target Host: http://chosen" in get_html_report(environment)


def test_a_page_without_failures_has_no_table_of_them() -> None:
    text = get_html_report(Environment())
    assert "Request Statistics" in text
    assert "Failures</h2>" not in text


def test_marks_in_the_name_of_the_file() -> None:
    options = Namespace(num_users=50, spawn_rate=0.5, run_time=None, html_file="r_{u}_{r}_{t}.html")
    process_html_filename(options)
    assert options.html_file == "r_50_0.5_{t}.html"
