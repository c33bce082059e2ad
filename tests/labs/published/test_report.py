from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from labs.published.report import read

from plimsoll.errors import UsageError
from plimsoll.importers.studies import find, keep
from plimsoll.stats.study import LOCUST, Level
from plimsoll.stats.study_json import to_json
from plimsoll.store import Store


def users(number):
    return Level("users", float(number))


def rates(study, variant):
    return {trial.level.value: trial.total.rate for trial in study.trials if trial.variant == variant}


def at(study, variant, level, operation=""):
    (trial,) = study.cell(variant, level, operation)
    return trial


class TestLadderOfClients:
    """Single tables and double ones at each number of clients, then once more, in parts run together."""

    def test_shape(self, published):
        study = published("000")
        assert (study.shape, study.variants) == ("ladder", ("A", "B1", "B2"))
        assert [level.value for level in study.levels] == [48, 96, 162, 240, 336, 460, 510, 578]

    def test_requests_per_second_come_from_the_text_around(self, published):
        study = published("000")
        assert rates(study, "A") == {48: 9.4, 96: 18.5, 162: 31, 240: 44.6, 336: 53, 460: 44.5, 510: 32.4, 578: 26.7}
        assert rates(study, "B1") == {48: 9.6, 96: 18.7, 162: 31.5, 240: 44.7, 336: 48.9, 460: 32.4}
        assert rates(study, "B2") == {
            48: 8.9, 96: 18.6, 162: 31.6, 240: 45.4, 336: 54.3, 460: 49.1, 510: 33.9, 578: 40.2,
        }  # fmt: skip

    def test_each_arm_has_its_columns(self, published):
        study = published("000")
        key = ("", "GET_thread")
        quantiles = [dict(at(study, arm, users(240)).endpoint(key).quantiles) for arm in study.variants]
        assert quantiles == [
            {0.5: 240, 0.95: 360, 0.99: 470}, {0.5: 340, 0.95: 710, 0.99: 1500}, {0.5: 230, 0.95: 370, 0.99: 600},
        ]  # fmt: skip
        assert at(study, "A", users(336)).endpoint(key).quantile(0.99) == 3300
        assert all(len(at(study, "A", users(level)).endpoints) == 11 for level in (48, 96, 162, 240, 336, 460))

    def test_a_table_that_is_told_again_is_one_run(self, published):
        study = published("000")
        assert len(study.trials) == 22
        assert "once more in line 220" in at(study, "A", users(162)).notes
        assert "once more in line 223" in at(study, "B2", users(162)).notes

    def test_garbled_tables_are_named_with_their_lines_and_left_out(self, published):
        study = published("000")
        lines = {int(each.place.rpartition(":")[2]): each for each in study.skipped}
        assert {205, 207, 208, 210, 212, 215, 216, 217, 218, 237, 260, 273} <= lines.keys()
        assert all(line > 200 for line in lines)
        assert "run together" in lines[205].why
        assert "15000310" in lines[207].text
        assert not {51048.0, 57896.0, 338.9, 329.4} & {
            number for trial in study.trials for number in (trial.level.value, trial.total.rate)
        }

    def test_nothing_of_a_garbled_row_comes_out(self, published):
        times = {
            value for trial in published("000").trials for each in trial.endpoints for value in each.quantiles.values()
        }
        assert max(times) == 13000
        assert not times & {15000310, 19000300, 9000}

    def test_its_times_have_two_digits_whatever_made_them(self, published):
        precision = published("000").trials[0].precision
        assert (precision.tool, precision.digits, precision.clock) == ("unknown", 2, "unknown")
        assert published("000", tool="locust").trials[0].precision == LOCUST


class TestOperations:
    """Two tables for each operation, at three numbers of users."""

    UPLOAD = "POST /cckm/google/upload-key"

    def test_shape(self, published):
        study = published("001")
        assert (study.shape, len(study.operations), len(study.trials)) == ("operations", 4, 12)
        assert study.operations[0] == self.UPLOAD
        assert [level.value for level in study.levels] == [10, 30, 50]
        assert not study.skipped

    def test_both_tables_tell_of_one_run(self, published):
        trial = at(published("001", think=0), "as published", users(30), self.UPLOAD)
        (upload,) = trial.endpoints
        assert (upload.requests, upload.failures, upload.mean, upload.min, upload.max) == (207, 0, 23659, 2793, 29505)
        assert (upload.quantile(0.5), upload.quantile(0.99), upload.quantile(1.0)) == (25000, 29000, 30000)
        assert (upload.size, trial.duration, trial.users, trial.think) == (630, 180, 30, 0)
        assert trial.total.requests == 207
        assert trial.precision == LOCUST

    def test_rates_are_no_coarser_than_they_must_be(self, published):
        trial = at(published("001"), "as published", users(10), self.UPLOAD)
        assert trial.total.rate == pytest.approx(207 / 180)
        assert any("requests / duration" in note for note in trial.notes)

    def test_paths_are_the_same_wherever_their_cells_were_wrapped(self, published):
        study = published("001")
        keys = {key for operation in study.operations[3:] for key in study.endpoints(operation)}
        assert keys == {
            ("GET", "/cckm/google/keys/[id]/versions"),
            ("POST", "/cckm/google/keys/[id]/versions/[versionID]/schedule-destroy"),
        }

    def test_failures_have_the_status_that_the_text_names(self, published):
        study = published("001")
        destroy = at(study, "as published", users(10), study.operations[3]).endpoints[1]
        assert [(kind.status, kind.count) for kind in destroy.kinds] == [(400, 200)]
        (claim,) = study.claims
        assert (claim.relation, claim.value, claim.place.rpartition(":")[2]) == (">", 0.9, "174")


class TestJournal:
    """Seven tables one after the other, with what was changed in between."""

    def test_shape(self, published):
        study = published("003")
        assert study.shape == "chain"
        assert study.variants == tuple(f"step {number}" for number in range(1, 8))
        assert study.against == ("previous", "baseline")
        assert not study.skipped

    def test_a_row_of_sums_without_a_type(self, published):
        trial = published("003").trials[0]
        assert [each.key for each in trial.endpoints] == [("GET", "/todos/"), ("POST", "/todos/")]
        assert (trial.total.requests, trial.total.rate) == (2635, 21.95868209541772)
        assert (trial.total.mean, trial.total.size) == (2131.9328273244782, 42907.55294117647)

    def test_the_load_is_what_the_text_says(self, published):
        trials = published("003").trials
        assert {(trial.users, trial.ramp) for trial in trials} == {(50, 10)}
        durations = [round(trial.duration, 1) for trial in trials]
        assert durations == [120.0, 119.9, 119.8, 119.9, 119.9, 66.5, 96.9]

    def test_what_was_changed_stands_above_the_table(self, published):
        study = published("003")
        assert study.changes["step 2"].startswith("CREATE INDEX")
        assert "orjson" in study.changes["step 5"]
        assert "step 6" not in study.changes
        assert "rows=100" in study.trials[6].collected["explain"]
        assert "explain" not in study.trials[0].collected

    def test_names_can_be_told(self, published):
        assert published("003", variant=["step 7=both"]).variants[-2:] == ("step 6", "both")
        names = ["base", "index", "replica", "async", "orjson", "limit", "both"]
        study = published("003", variant=names)
        assert study.variants == tuple(names)
        assert study.changes["orjson"].startswith("Try to use orjson")
        with pytest.raises(UsageError, match="2 names for 7 that were found"):
            published("003", variant=["a", "b"])
        with pytest.raises(UsageError, match="no 'step 8'"):
            published("003", variant=["step 8=x"])


class TestRates:
    """A row for each implementation and rate."""

    def test_shape(self, published):
        study = published("004")
        assert (study.shape, study.variants) == ("rates", ("tunnel", "koding"))
        assert study.operations == ("Load spike", "Constant pressure")
        assert {str(level) for level in study.levels} == {f"{rate}/s" for rate in (300, 400, 500, 600, 800, 900, 1000)}
        assert not study.skipped

    def test_units_stand_in_the_cells(self, published):
        trial = at(published("004"), "koding", Level("/s", 1000.0), "Load spike")
        assert (trial.total.quantile(0.99), trial.total.max) == (16081.551359, 23494.866864)
        assert (trial.offered, trial.users, trial.duration) == (1000, None, 120)
        assert trial.facts["success rate"] == 0.9495
        assert (trial.total.requests, trial.total.failures) == (120_000, 6060)

    def test_a_dash_is_not_known(self, published):
        trial = at(published("004"), "koding", Level("/s", 400.0), "Constant pressure")
        assert (trial.total.quantile(0.99), trial.total.max) == (None, None)
        assert trial.facts["success rate"] == 0.8266

    def test_a_unit_that_is_missing_is_that_of_the_column_and_noted(self, published):
        trial = at(published("004"), "tunnel", Level("/s", 400.0), "Constant pressure")
        assert trial.total.quantile(0.99) == 1175.904255
        assert any("line 69" in note and "no unit" in note for note in trial.notes)
        other = at(published("004"), "tunnel", Level("/s", 500.0), "Constant pressure")
        assert not any("no unit" in note for note in other.notes)

    def test_times_were_corrected_afterwards(self, published):
        trial = published("004").trials[0]
        assert (trial.precision.tool, trial.precision.clock) == ("vegeta", "corrected")
        assert trial.generator.open_files == 20_000


def test_a_level_for_all_is_refused_where_the_file_has_several(published):
    with pytest.raises(UsageError, match=r"48 users, 96 users.*cannot be given"):
        published("000", users=5)


MARKDOWN = """# Results

With 20 users, duration: 2m.

| Endpoint | p50 (old) | p50 (new) | p99 (old) | p99 (new) |
|:---------|----------:|----------:|----------:|----------:|
| `GET /a` | 1.5 s     | 900 ms    | **3 s**   | 2 s       |
| `GET /b` | 10 ms     | 12 ms     | n/a       | 1,020 ms  |
"""


def test_markdown_with_units_marks_and_named_arms(read_text):
    study = read_text(MARKDOWN, users=20)
    assert study.variants == ("old", "new")
    old, new = study.trials
    assert old.duration == 120
    assert dict(old.endpoint(("", "GET /a")).quantiles) == {0.5: 1500, 0.99: 3000}
    assert dict(old.endpoint(("", "GET /b")).quantiles) == {0.5: 10}
    assert dict(new.endpoint(("", "GET /b")).quantiles) == {0.5: 12, 0.99: 1020}


def test_csv_with_its_own_delimiter_and_unit(read_text):
    study = read_text(
        "name;requests;errors;avg;p95;rps\n/a;1000;3;12.5;40;9.9\n/b;0;0;;;\n", "r.csv", users=3, unit="s"
    )
    (trial,) = study.trials
    a, b = trial.endpoints
    assert (a.requests, a.failures, a.mean, a.quantile(0.95), a.rate) == (1000, 3, 12500, 40000, 9.9)
    assert (b.requests, b.mean) == (0, None)


def test_a_table_with_a_column_of_users_is_a_ladder(read_text):
    study = read_text("| Users | RPS | p99 |\n|---|---|---|\n| 1 | 10 | 5 |\n| 2 | 19 | 6 |\n")
    assert [(trial.level, trial.total.rate) for trial in study.trials] == [(users(1), 10), (users(2), 19)]


def test_endpoints_at_several_levels_of_several_variants_in_one_table(read_text):
    rows = "".join(f"{v},{u},/a,{u * 10},{r}\n" for v, r in (("x", 5), ("y", 6)) for u in (1, 2))
    study = read_text(f"version,users,endpoint,requests,p95\n{rows}", "r.csv")
    assert {(t.variant, t.level.value, t.endpoints[0].quantile(0.95)) for t in study.trials} == {
        ("x", 1, 5), ("x", 2, 5), ("y", 1, 6), ("y", 2, 6),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("/b | 1x | 20", "no number"),
        ("/b | 10 20 | 20", "no number"),
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
    assert trial.endpoint(("", "/c")).quantile(0.5) == 3


def test_a_garbled_cell_does_not_take_its_row_along(read_text):
    study = read_text("Name | p50 | p99\n---|---|---\n/b | 1x | 20\n")
    assert dict(study.trials[0].endpoints[0].quantiles) == {0.99: 20}


def test_a_column_that_is_not_known_is_named(read_text):
    study = read_text("Name | p50 | p99 | Apdex\n---|---|---|---\n/a | 1 | 2 | 0.9\n")
    assert [(each.text, each.place) for each in study.skipped] == [("Apdex", "report.md:1")]


@pytest.mark.parametrize("level", ["users =", "users = 5, users = 6"])
def test_a_level_that_is_not_certain_is_named_and_not_known(read_text, level):
    study = read_text(f"users = 3\n{level}\nName | p50 | p99\n/a | 1 | 2\n")
    assert [(each.place, each.text) for each in study.skipped] == [("report.md:2", level)]
    assert study.trials[0].level is None
    assert read_text(f"{level}\nName | p50 | p99\n/a | 1 | 2\n", users=7).trials[0].users == 7


@pytest.mark.parametrize(
    "prose", ["our users: they wait", "as with users = many", "first 5 users, then 6 users", "x: 7 users"]
)
def test_prose_about_users_is_no_level(read_text, prose):
    study = read_text(f"{prose}\nName | p50 | p99\n/a | 1 | 2\n")
    assert (study.trials[0].level, study.skipped) == (None, ())


def test_rates_that_fit_no_column_are_not_given_to_one(read_text):
    study = read_text("users = 5\nreq/s = 1 2 3\nName | p50 | p99\n/a | 1 | 2\n")
    assert study.trials[0].total is None
    assert "3 rates for 1 column" in study.skipped[0].why


@pytest.mark.parametrize("text", ["", "nothing but prose\n", "Test Runner | |\n---|---|\nRAM | 8 GB |\n"])
def test_a_file_without_results(read_text, text):
    with pytest.raises(UsageError, match=r"report\.md: no table with results was found"):
        read_text(text)


def test_a_file_of_which_nothing_can_be_read(read_text):
    with pytest.raises(UsageError, match=r"report\.md:1: .*no column says what was measured"):
        read_text("p50 | p95 | p99\n---|---|---\n1 | 2 | 3\n")


@pytest.mark.parametrize(
    ("title", "cells", "shares"),
    [
        ("Errors (%)", ("0.5", "0"), [0.005, 0]), ("Error rate", ("0.5%", "0"), [0.005, 0]),
        ("Error rate", ("0.5", "25"), [0.005, 0.25]), ("Error rate", ("0.5", "0.25"), [0.5, 0.25]),
        ("Success rate", ("99.5", "1"), [0.005, 0.99]),
    ],
)  # fmt: skip
def test_shares_are_in_percent_where_anything_says_so(read_text, title, cells, shares):
    rows = "".join(f"v{number},{100 * number},{cell},5\n" for number, cell in enumerate(cells, 1))
    study = read_text(f"Variant,Users,{title},p99\n{rows}", "r.csv")
    assert [1 - trial.facts["success rate"] for trial in study.trials] == pytest.approx(shares)


GRID = "".join(f"/{number} | {number}0 | {number}00\n" for number in range(10, 30))


def test_two_numbers_run_together_are_told_by_how_the_file_rounds(read_text):
    study = read_text(f"Name | p50 | p99\n---|---|---\n{GRID}/x | 250310 | 2100\n")
    (skipped,) = study.skipped
    assert (skipped.place, skipped.text) == ("report.md:23", "/x: 250310")
    assert "two numbers may have run together" in skipped.why
    assert dict(study.trials[0].endpoint(("", "/x")).quantiles) == {0.99: 2100}


def test_a_long_time_that_rounds_as_the_others_is_kept_and_so_is_one_with_more_digits(read_text):
    study = read_text(f"Name | p50 | p99\n---|---|---\n{GRID}/x | 250000 | 2345\n")
    assert dict(study.trials[0].endpoint(("", "/x")).quantiles) == {0.5: 250_000, 0.99: 2345}
    assert not study.skipped


def test_a_file_that_does_not_round_has_no_such_rule(read_text):
    rows = "".join(f"/{number} | {number}1.5 | {number}37.25\n" for number in range(10, 30))
    study = read_text(f"Name | p50 | p99\n---|---|---\n{rows}/x | 250310 | 2100\n")
    assert study.trials[0].endpoint(("", "/x")).quantile(0.5) == 250_310
    assert (study.trials[0].precision.digits, study.trials[0].precision.floor) == (None, 0.01)


CELLS = some.sampled_from(["10", "20", "2.5", "300 ms", "12000310", "-", "", "1 2", "x", "99%", "1,000", "POST"])
HEADERS = some.sampled_from(
    [
        "Name | p50 | p99", "Method | Name | # requests | RPS", "Name | p50 | p50 | 95% | 95%", "Users | RPS | p99",
        "Impl. | Req/sec | Success rate | Max", "Variant | Users | Name | p99", "p50 | p99", "Name | p50 | what?",
        "users = 7 req/s = 5 Methods | p50 | p99", "Type,Name,Request Count,50%,Requests/s",
    ]
)  # fmt: skip
AROUND = some.sampled_from(
    ["", "prose", "# Old", "# New", "users = 5", "users = 6", "users =", "req/s = 5", "req/s = 5 6", "duration: 3m"]
)


@some.composite
def reports(draw):
    lines = []
    for _ in range(draw(some.integers(1, 5))):
        lines += draw(some.lists(AROUND, max_size=4))
        header = draw(HEADERS)
        between = "," if "," in header else " | "
        width = len(header.split(between))
        lines += [header, *draw(some.sampled_from([[], ["---|---|"]]))]
        for _ in range(draw(some.integers(0, 4))):
            name = draw(some.sampled_from(["/a", "/b", "Aggregated", "7", ""]))
            cells = draw(some.lists(CELLS, min_size=width - 2, max_size=width))
            lines.append(between.join([name, *cells]))
    return "\n".join(lines)


@settings(deadline=None)
@given(reports())
def test_any_report_is_read_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "report.txt"
    path.write_text(text)
    try:
        study = read(path)
    except UsageError as error:
        assert "report.txt" in str(error)
        return
    cells = [(trial.variant, trial.level, trial.operation) for trial in study.trials]
    assert len(set(cells)) == len(cells), "two runs of one report would be taken for repeats"
    assert len({trial.id for trial in study.trials}) == len(cells)


def test_the_same_levels_under_two_headings_are_two_variants(read_text):
    table = "users = {}\n\nName | p50 | p99\n/a | {} | 9\n\n"
    ladder = [table.format(users, users) for users in (1, 2)]
    slower = [table.format(users, 2 * users) for users in (1, 2)]
    study = read_text("\n".join(["# Old", *ladder, "# New", *slower]))
    assert study.variants == ("Old", "New")
    assert [trial.endpoints[0].quantile(0.5) for trial in study.trials] == [1, 2, 2, 4]
    assert read_text("\n".join([*ladder, *slower])).variants == ("as published", "as published (2)")


def test_steps_are_named_by_their_headings_if_each_has_one(read_text):
    table = "Name | p50 | p99\n/a | {} | 9\n"
    parts = [f"# {name}\n\n{table.format(index)}\n" for index, name in enumerate(["Base", "With index", "Async"])]
    study = read_text("".join(parts))
    assert (study.variants, study.shape) == (("Base", "With index", "Async"), "chain")


def test_a_very_long_line_takes_no_time(read_text):
    start = time.monotonic()
    study = read_text("users 10 second load, " * 500_000 + "\nName | p50 | p99\n/a | 1 | 2\n")
    assert len(study.trials) == 1
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("number", ["000", "001", "003", "004"])
def test_a_published_study_comes_back_from_a_store_as_it_was_kept(tmp_path, published, number):
    study = published(number, name="mine", think=0)
    with Store.open(str(tmp_path / "runs.db")) as store:
        key, _ = keep(store, study, digest="d", created=1.0)
        for ref in ("mine", key):
            assert to_json(find(store, ref)) == to_json(study)
