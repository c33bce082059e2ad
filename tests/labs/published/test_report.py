from __future__ import annotations

import pytest
from labs.published.report import read

from plimsoll.errors import UsageError
from plimsoll.importers.studies import find, keep
from plimsoll.record.cells import CellKey
from plimsoll.stats.study import LOCUST, Level
from plimsoll.stats.study_json import to_json
from plimsoll.store import Store


def users(number):
    return Level("users", float(number))


def rates(study, variant):
    return {trial.level.value: trial.total.rate for trial in study.trials if trial.variant == variant}


def at(study, variant, level, operation=""):
    (trial,) = study.cell(CellKey(variant, level, operation))
    return trial


class TestLadderOfClients:
    """Single tables and double ones at each number of clients, then once more, in parts run together."""

    def test_shape(self, published):
        study = published("000")
        assert (study.shape, study.variants) == ("ladder", ("A", "B1", "B2"))
        assert [level.value for level in study.levels] == [48, 96, 162, 240, 336, 460, 510, 578]

    def test_requests_per_second_are_those_of_the_lines_above(self, published):
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
        assert "B2 once more in line 223" in at(study, "B2", users(162)).notes

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

    def test_counts_that_follow_from_a_rounded_share_are_rounded(self, published):
        trial = at(published("004"), "tunnel", Level("/s", 1000.0), "Load spike")
        assert (trial.total.failures, trial.total.rounding) == (120, {"failures": pytest.approx(6)})

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


def map_of(tmp_path, monkeypatch, table):
    """A report with one table, and a map of it."""
    monkeypatch.setattr("labs.published.report.MAPS", tmp_path)
    (tmp_path / "r.toml").write_text(f'shape = "chain"\ntable = [{table}]\n')
    (tmp_path / "r.md").write_text("Name | p50 | p99\n---|---|---\n/a | 1 | 2 |\n/b | 10 20 | 30\n\nprose\n")
    return tmp_path / "r.md"


def test_a_cell_that_is_not_certain_is_skipped_with_its_line(tmp_path, monkeypatch):
    study = read(map_of(tmp_path, monkeypatch, '{ lines = 1, users = 5, variants = "new" }'))
    assert [(each.place, each.text) for each in study.skipped] == [("r.md:4", "/b: 10 20")]
    (trial,) = study.trials
    assert (trial.variant, trial.level) == ("new", users(5))
    assert [dict(each.quantiles) for each in trial.endpoints] == [{0.5: 1, 0.99: 2}, {0.99: 30}]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("{ lines = 6 }", r"r\.md:6: the map says that a table begins here, and there is none"),
        ("{ lines = 9 }", r"r\.md:9: the map names this line, and the report has 6"),
        ('{ lines = 1, titles = ["name", "p99"] }', r"r\.md:3: 6 cells where the map says 2 columns"),
        ("{ lines = 1, clients = 5 }", r"r\.toml:2: table\[0\]\.clients: is not a known field"),
    ],
)
def test_a_map_that_does_not_fit_is_a_mistake(tmp_path, monkeypatch, table, message):
    with pytest.raises(UsageError, match=message):
        read(map_of(tmp_path, monkeypatch, table))


def test_a_report_without_a_map_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"other\.txt: there is no map of this report; there are maps of 000_"):
        read(tmp_path / "other.txt")


@pytest.mark.parametrize("number", ["000", "001", "003", "004"])
def test_a_published_study_comes_back_from_a_store_as_it_was_kept(tmp_path, published, number):
    study = published(number, name="mine", think=0)
    with Store.open(str(tmp_path / "runs.db")) as store:
        key, _ = keep(store, study, digest="d", created=1.0)
        for ref in ("mine", key):
            assert to_json(find(store, ref)) == to_json(study)
