from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from plimsoll.errors import UsageError
from plimsoll.importers import read
from plimsoll.importers.tables.reader import aligned_cells, delimited_cells, pipe_cells
from plimsoll.importers.tables.text_table import StatedLoad
from plimsoll.stats.study import LOCUST, Level

MARKDOWN = """# Results

| Endpoint | # Requests | p50 (old) | p50 (new) | p99 (old) | p99 (new) |
|:---------|-----------:|----------:|----------:|----------:|----------:|
| `GET /a` | 1,000      | 1.5 s     | 900 ms    | **3 s**   | 2 s       |
| `GET /b` | 10         | 10 ms     | 12 ms     | n/a       | 1,020 ms  |
"""


def test_lines_of_each_form_have_their_cells():
    assert pipe_cells("| a | b\\|c |") == ["a", "b\\|c"]
    assert delimited_cells('a,"b,c"', ",") == ["a", "b,c"]
    assert delimited_cells("a\tb", "\t") == ["a", "b"]
    assert aligned_cells("  GET /a    10  20") == ["GET /a", "10", "20"]
    assert (pipe_cells("a"), delimited_cells("a", ","), aligned_cells("one phrase")) == (None, None, None)


def test_markdown_with_units_marks_and_named_arms(read_text):
    study = read_text(MARKDOWN.replace("# Requests | ", "").replace("1,000      | ", "").replace("10         | ", ""))
    assert study.variants == ("old", "new")
    old, new = study.trials
    assert dict(old.endpoint(("", "GET /a")).quantiles) == {0.5: 1500, 0.99: 3000}
    assert dict(old.endpoint(("", "GET /b")).quantiles) == {0.5: 10}
    assert dict(new.endpoint(("", "GET /b")).quantiles) == {0.5: 12, 0.99: 1020}


def test_a_measure_that_is_there_once_among_others_that_are_there_twice_is_not_certain(read_text):
    with pytest.raises(UsageError, match=r"report\.md:3: .*the whole table is left out: column"):
        read_text(MARKDOWN.replace(" (old)", "").replace(" (new)", ""))


@pytest.mark.parametrize("between", [",", ";", "\t", "   "])
def test_text_with_any_separator(read_text, between):
    lines = ["name,requests,errors,avg,p95,rps", "/a,1000,3,12.5,40,9.9", "/b,0,0,-,-,-"]
    study = read_text("\n".join(line.replace(",", between) for line in lines), "r.txt", users=3, unit="s")
    (trial,) = study.trials
    a, b = trial.endpoints
    assert (a.requests, a.failures, a.mean, a.quantile(0.95), a.rate) == (1000, 3, 12500, 40000, 9.9)
    assert (b.requests, b.mean) == (0, None)
    assert (trial.variant, trial.level) == ("r", Level("users", 3))


def test_columns_are_what_the_user_says_where_their_titles_do_not(read_text):
    text = "what,took,build,n,x\n/a,1.5,old,10,7\n/a,1.25,new,12,7\n"
    columns = ["what=name", "took=p50 (s)", "build=variant", "n=requests", "x=-"]
    study = read_text(text, "r.csv", column=columns, users=5)
    assert [(t.variant, t.endpoints[0].requests, t.endpoints[0].quantile(0.5)) for t in study.trials] == [
        ("old", 10, 1500), ("new", 12, 1250),
    ]  # fmt: skip
    assert not study.skipped
    with pytest.raises(UsageError, match=r"no table with results was found.*--column TITLE=MEANING"):
        read_text(text, "r.csv", users=5)


def test_what_the_user_says_of_a_column_wins_over_its_title(read_text):
    study = read_text("name,p50,rps\n/a,1,2\n", "r.csv", column=["p50=p99"])
    assert dict(study.trials[0].endpoints[0].quantiles) == {0.99: 1}


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("p50", r"column: 'p50' is not TITLE=MEANING; a meaning is name, method, .* or rps, or - for a column"),
        ("p50=speed", "'p50=speed' is not TITLE=MEANING"),
        ("p51=p99", r"report\.md: no table has a column 'p51'; there are 'name', 'p50' and 'p99'"),
    ],
)
def test_a_column_that_does_not_fit_is_a_mistake_with_what_there_is(read_text, column, message):
    with pytest.raises(UsageError, match=message):
        read_text("name,p50,p99\n/a,1,2\n", column=[column])


def test_with_columns_a_file_is_read_as_a_table_whatever_else_it_looks_like(files):
    study = read(files / "locust_stats.csv", column=["Median Response Time=-"])
    assert study.trials[0].notes[0] == "read from locust_stats.csv:1"


def test_a_table_with_a_column_of_users_is_a_ladder(read_text):
    study = read_text("| Users | RPS | p99 |\n|---|---|---|\n| 1 | 10 | 5 |\n| 2 | 19 | 6 |\n")
    assert [(t.level, t.total.rate) for t in study.trials] == [(Level("users", 1), 10), (Level("users", 2), 19)]
    with pytest.raises(UsageError, match=r"gives the levels \(1 user, 2 users\); leave out --users"):
        read_text("| Users | RPS | p99 |\n|---|---|---|\n| 1 | 10 | 5 |\n| 2 | 19 | 6 |\n", users=5)


def test_rates_that_were_offered_are_levels_of_the_open_model(read_text):
    rows = "direct,300,99.5%,8\ntunnel,300,50%,90\n"
    study = read_text(f"impl,target rate,success rate,p99\n{rows}", "r.csv", duration=10)
    assert [(t.variant, t.level, t.total.requests, t.total.failures) for t in study.trials] == [
        ("direct", Level("/s", 300), 3000, 15), ("tunnel", Level("/s", 300), 3000, 1500),
    ]  # fmt: skip


def test_endpoints_at_several_levels_of_several_variants_in_one_table(read_text):
    rows = "".join(f"{v},{u},/a,{u * 10},{r}\n" for v, r in (("x", 5), ("y", 6)) for u in (1, 2))
    study = read_text(f"version,users,endpoint,requests,p95\n{rows}", "r.csv")
    assert {(t.variant, t.level.value, t.endpoints[0].quantile(0.95)) for t in study.trials} == {
        ("x", 1, 5), ("x", 2, 5), ("y", 1, 6), ("y", 2, 6),
    }  # fmt: skip


def test_several_tables_are_variants_with_their_headings_or_numbers(read_text):
    table = "Name | p50 | p99\n---|---|---\n/a | {} | 9\n\n"
    assert read_text(f"# Old\n{table.format(1)}# New\n{table.format(2)}").variants == ("Old", "New")
    study = read_text(table.format(1) + table.format(2))
    assert [(t.variant, t.endpoints[0].quantile(0.5)) for t in study.trials] == [("table 1", 1), ("table 2", 2)]
    assert read_text(table.format(1) + table.format(2), variant=["table 1=base"]).variants == ("base", "table 2")


def test_the_row_of_sums_is_no_endpoint(read_text):
    (trial,) = read_text("Type,Name,# requests,p99\nGET,/a,5,1\n,Aggregated,5,1\n", "r.csv", tool="locust").trials
    assert [each.key for each in trial.endpoints] == [("GET", "/a")]
    assert trial.total.requests == 5
    assert trial.precision == LOCUST


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("/b | 1x | 20", "no number"),
        ("/b | 10 MB | 20", "unit 'mb'"),
        ("/b | -5 | 20", "less than nothing"),
        ("/b | 10", "2 cells where the table has 3 columns"),
        ("| | 10 | 20 |", "no name"),
        ("/a | 10 | 20", "second time"),
    ],
)
def test_what_is_not_certain_is_skipped_with_its_line_and_the_rest_stays(read_text, row, why):
    study = read_text(f"Name | p50 | p99\n---|---|---\n/a | 1 | 2\n{row}\n/c | 3 | 4\n")
    (skipped,) = study.skipped
    assert (skipped.place, why in skipped.why) == ("report.md:4", True), skipped
    (trial,) = study.trials
    assert {"/a", "/c"} <= {each.name for each in trial.endpoints}


def test_a_column_that_is_not_known_is_named(read_text):
    study = read_text("Name | p50 | p99 | Apdex\n---|---|---|---\n/a | 1 | 2 | 0.9\n")
    assert [(each.text, each.place) for each in study.skipped] == [("Apdex", "report.md:1")]


@pytest.mark.parametrize("text", ["nothing but prose\n", "Test Runner | |\n---|---|\nRAM | 8 GB |\n"])
def test_a_file_without_results(read_text, text):
    with pytest.raises(UsageError, match=r"report\.md: no table with results was found"):
        read_text(text)


def test_a_table_without_names_says_how_to_name_a_column(read_text):
    with pytest.raises(UsageError, match=r"report\.md:1: .*no column says what was measured; .*--column TITLE=name"):
        read_text("p50 | p95 | p99\n---|---|---\n1 | 2 | 3\n")


def test_tables_of_locust_are_known_by_their_titles(read_text):
    titles = "Type,Name,Request Count,Median Response Time,Average Content Size"
    assert read_text(f"{titles}\nGET,/a,5,1,9\n", column=["Type=method"]).trials[0].precision == LOCUST


def test_all_digits_are_kept_and_known(read_text):
    study = read_text("Name | p50 | p99\n---|---|---\n/a | 250310 | 2.25\n")
    assert study.trials[0].endpoint(("", "/a")).quantile(0.5) == 250_310
    assert (study.trials[0].precision.digits, study.trials[0].precision.floor) == (None, 0.01)


CELLS = some.sampled_from(["10", "20", "2.5", "300 ms", "12000310", "-", "", "1 2", "x", "99%", "1,000", "POST"])
HEADERS = some.sampled_from(
    [
        "Name | p50 | p99", "Method | Name | # requests | RPS", "Name | p50 | p50 | 95% | 95%", "Users | RPS | p99",
        "Impl. | Req/sec | Success rate | Max", "Variant | Offered | Name | p99", "p50 | p99", "Name | p50 | what?",
        "Type,Name,Request Count,50%,Requests/s",
    ]
)  # fmt: skip


@some.composite
def texts(draw):
    lines = []
    for _ in range(draw(some.integers(1, 4))):
        header = draw(HEADERS)
        between = "," if "," in header else " | "
        width = len(header.split(between))
        lines += [draw(some.sampled_from(["", "# Old", "# New"])), header, *draw(some.sampled_from([[], ["---|---|"]]))]
        for _ in range(draw(some.integers(0, 4))):
            name = draw(some.sampled_from(["/a", "/b", "Aggregated", "7", ""]))
            lines.append(between.join([name, *draw(some.lists(CELLS, min_size=width - 2, max_size=width))]))
    return "\n".join(lines)


@given(texts())
def test_any_text_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "report.txt"
    path.write_text(text)
    try:
        study = read(path)
    except UsageError as error:
        assert "report.txt" in str(error)
        return
    cells = [(trial.variant, trial.level, trial.operation) for trial in study.trials]
    assert len(set(cells)) == len(cells), "two runs of one file would be taken for repeats"
    assert len({trial.id for trial in study.trials}) == len(cells)


@pytest.mark.parametrize(
    ("cell", "value", "rounding"),
    [
        ("12.3k", 12_300, 50), ("12K", 12_000, 500), ("1.25M", 1_250_000, 5_000), ("~12,300", 12_300, 50),
        ("≈ 12,345", 12_345, 0.5), ("about 40", 40, 5), ("ca. 500", 500, 50), ("12,300", 12_300, 0), ("~~7~~", 7, 0),
    ],
)  # fmt: skip
def test_a_count_that_is_rounded_is_known_as_such(read_text, cell, value, rounding):
    (trial,) = read_text(f"Endpoint | Requests | p50 (ms)\n/a | {cell} | 5\n").trials
    (row,) = trial.endpoints
    assert (row.requests, row.rounding) == (value, {"requests": rounding} if rounding else {})


def test_what_is_no_count_is_skipped(read_text):
    study = read_text("Endpoint | Requests | p50 (ms)\n/a | 12.3 | 5\n/b | 1.2345k | 5\n/c | 5 ms | 5\n")
    assert [each.text for each in study.skipped] == ["/a: 12.3", "/b: 1.2345k", "/c: 5 ms"]


def test_failures_from_a_share_are_as_exact_as_the_share(read_text):
    text = "Impl. | Target rate | Success rate\na | 400 | 82.66%\nb | 400 | 100%\n"
    a, b = read_text(text, duration=1200).trials
    assert (a.total.requests, a.total.failures, a.total.rounding) == (480_000, 83_232, {"failures": pytest.approx(24)})
    assert (b.total.failures, b.total.rounding) == (0, {})


def test_levels_may_be_in_thousands(read_text):
    users, rate = (read_text(f"Impl. | {title} | p50 (ms)\na | 1.5k | 5\n").trials[0] for title in ("Users", "Offered"))
    assert (users.level, rate.level) == (Level("users", 1500), Level("/s", 1500))


LOCUST_PAGE = """Load of create (10 VUS, 180 seconds)

Method | Name | # Requests | # Fails | Average (ms) | Min (ms) | Max (ms) | Average size (bytes) | RPS | Failures/s |
---|---|---|---|---|---|---|---|---|---|
POST | /keys | 207 | 0 | 8502 | 1306 | 14281 | 630 | 1.2 | 0.0 |
Aggregated | 207 | 0 | 8502 | 1306 | 14281 | 630 | 1.2 | 0.0 |

Method | Name | 50%ile (ms) | 99%ile (ms) | 100%ile (ms) |
---|---|---|---|---|
POST | /keys | 7200 | 14000 | 14000 |
Aggregated | 7200 | 14000 | 14000 |
"""


def test_the_two_tables_of_locusts_page_are_one_with_the_load_above_them(read_text):
    (trial,) = read_text(LOCUST_PAGE).trials
    (post,) = trial.endpoints
    assert (trial.level, trial.duration, trial.precision) == (Level("users", 10), 180, LOCUST)
    assert (post.label, post.requests, post.quantile(0.99), post.quantile(1.0)) == ("POST /keys", 207, 14000, 14000)
    assert trial.total.requests == 207
    assert trial.total.quantile(0.5) == 7200


def test_tables_with_other_rows_or_the_same_measures_are_not_joined(read_text):
    other_rows = LOCUST_PAGE.replace("POST | /keys | 7200", "POST | /locks | 7200")
    assert len(read_text(other_rows).trials) == 2
    same = LOCUST_PAGE.replace("99%ile (ms) | 100%ile (ms)", "99%ile (ms) | Max (ms)")
    assert len(read_text(same).trials) == 2
    another_load = LOCUST_PAGE.replace("\nMethod | Name | 50", "(30 VUS, 180 seconds)\nMethod | Name | 50")
    assert [str(trial.level) for trial in read_text(another_load).trials] == ["10 users", "30 users"]


def test_tables_of_other_endpoints_at_each_load_are_operations(read_text):
    get = LOCUST_PAGE.replace("(10 VUS, 180 seconds)", "").replace("POST | /keys", "GET | /keys")
    text = "".join(LOCUST_PAGE.replace("(10 VUS", f"({users} VUS") + get for users in (10, 30))
    study = read_text(text)
    assert study.variants == ("report",)
    assert study.operations == ("POST /keys", "GET /keys")
    assert [(str(trial.level), trial.operation) for trial in study.trials] == [
        ("10 users", "POST /keys"), ("10 users", "GET /keys"), ("30 users", "POST /keys"), ("30 users", "GET /keys"),
    ]  # fmt: skip
    assert read_text(text, operation=("create", "get")).operations == ("create", "get")


LADDER = """No. of clients = {users}
req/s = {rate}
Methods | median response time | 95% |
---|
GET_thread | {p50} | 900 |
No. of clients = {users}
req/s = 18.7 27min = 18.6
Methods | median response time | median response time | 95% | 95% |
---|
GET_thread | 280 | 270 | 370 | 340 |
"""


def test_a_load_that_is_stated_above_each_table(read_text):
    """The same tables follow one another at each load; the rate of two runs in one line is not certain."""
    text = LADDER.format(users=48, rate=9.4, p50=250) + LADDER.format(users=96, rate=18.5, p50=270)
    study = read_text(text)
    assert study.variants == ("table 1", "table 2 arm 1", "table 2 arm 2")
    found = [(trial.variant, trial.users, trial.total and trial.total.rate) for trial in study.trials]
    assert found[::3] == [("table 1", 48, 9.4), ("table 1", 96, 18.5)]
    assert [rate for variant, _, rate in found if variant != "table 1"] == [None] * 4
    without_last = text[: text.rindex("No. of clients")]
    assert read_text(without_last).variants == study.variants
    without_first = text[text.index("No. of clients", 1) :]
    assert read_text(without_first).variants[0] == "table 1 arm 1", "which table is missing is not certain"


@pytest.mark.parametrize(
    ("line", "load"),
    [
        ("No. of clients = 48", StatedLoad(Level("users", 48))),
        ("Users = 20 Req/s = 31.6", StatedLoad(Level("users", 20), 31.6)),
        ("Load (50 users, 3 min)", StatedLoad(Level("users", 50), None, 180)),
        ("Peak (5 connections)", StatedLoad(Level("users", 5))),
        ("Users/second: 5", None),
        ("Peak (5 stars)", None),
        ("Users = 20 of 48", None),
        ("Users = 20 27min = 18", None),
        ("GET | /users?a = 5", None),
    ],
)
def test_what_a_line_states_of_a_load(line, load):
    assert StatedLoad.of(line) == load


def test_columns_between_single_blanks(read_text):
    """All of the header are known titles, and a row has as many words."""
    text = """Impl. Req/sec Success rate P99 (corrected) Max
tunnel 600 100% 40.07ms 147.3ms
tunnel 1000 99.90% 793.4ms 1228ms

Tunnel is better in all respects.
"""
    with pytest.raises(UsageError, match="no table with results"):
        read_text(text.replace("Impl.", "Of what"))
    study = read_text(text, column=["Req/sec=offered"])
    assert [(str(trial.level), trial.total.quantile(0.99)) for trial in study.trials] == [
        ("600/s", 40.07), ("1000/s", 793.4),
    ]  # fmt: skip
    (skipped,) = read_text(text).skipped
    assert skipped.why.startswith("is there a second time; --column TITLE=users or TITLE=offered says which column is")
