from __future__ import annotations

from dataclasses import fields, replace
from itertools import chain, pairwise

import pytest
from sqlalchemy import text

from plimsoll.errors import StoreError
from plimsoll.record import CaughtException, Failure
from plimsoll.record.facts import RunFacts
from plimsoll.record.manifest import Manifest
from plimsoll.stats.view import RunView
from plimsoll.store import RunWriter, Store
from plimsoll.store.database import Database
from plimsoll.store.reader import StoredRun


@pytest.fixture
def writer(store):
    return store.start_run(Manifest(started=0.0))


def total(store, writer):
    return RunView.of(store.run(writer.id)).total


def test_what_is_committed_can_be_read_back(store, writer, make_interval, make_health):
    intervals = [
        make_interval([1.25, 2.5, 9.75], second=3, name="/a", untimed=2),
        make_interval([3_700_000.0], second=4, name="/a", outcome="timeout"),
    ]
    intervals[0].hops, intervals[0].retries = 4, 5
    health = make_health(3, 1, lag_us=[5, 900], delay_us=[7], cpu=0.25, users=50)
    health.in_flight, health.dropped, health.user_stamps, health.rejected_stamps = 9, 8, 7, 6
    health.waiting, health.offered, health.exhausted = 5, 1 << 40, 4
    failures = [Failure("GET", "/a", "timeout", "no answer after 30 s", 1, 1000.5, 1001.5)]
    exceptions = [CaughtException("division by zero", "Traceback …", 3, {0, 2})]
    writer.commit(intervals, [health], failures, exceptions)

    run = store.run(writer.id)
    assert [plain(each) for each in run.intervals()] == [plain(each) for each in intervals]
    assert [plain(each) for each in run.health()] == [plain(health)]
    assert list(run.failures()) == failures
    assert list(run.exceptions()) == exceptions


def test_requests_by_worker_can_be_read_back(store, writer, make_interval, make_health):
    health = make_health(0, 3)
    health.count(make_interval([2.0] * 9))
    health.count(make_interval([7.0], outcome="http"))
    writer.commit([], [health, make_health(0, 4)])
    counted, other = store.run(writer.id).health()
    assert (counted.worker, counted.requests, counted.failures, counted.response.count) == (3, 10, 1, 10)
    assert (other.requests, other.failures, other.response) == (0, 0, None)


def test_retransmissions_can_be_read_back_and_may_be_unknown(store, writer, make_health):
    rows = [make_health(second) for second in range(3)]
    for row, count in zip(rows, (7, None, 0), strict=True):
        row.retransmissions = count
    writer.commit([], rows)
    assert [row.retransmissions for row in store.run(writer.id).health()] == [7, None, 0]


def test_only_long_histograms_are_compressed(store_location, store, writer, make_interval):
    few, many = make_interval([1.0, 20.0]), make_interval([number / 10 for number in range(1000)])
    writer.commit([few, many])
    database = Database(store_location)
    with database.read("look at it") as connection:
        stored = connection.execute(text("SELECT response FROM interval ORDER BY id")).scalars().all()
    database.close()
    assert stored[0] == few.response.encode(compressed=False)
    assert stored[1] == many.response.encode()
    assert [each.response.buckets() for each in store.run(writer.id).intervals()] == [
        few.response.buckets(), many.response.buckets(),
    ]  # fmt: skip


def plain(row):
    """Comparable: a histogram by its buckets."""
    values = [getattr(row, each.name) for each in fields(row)]
    return [value.buckets() if hasattr(value, "buckets") else value for value in values]


def test_rows_come_second_by_second(store, writer, make_interval, make_health):
    for second in (2, 0, 1):
        writer.commit([make_interval([1], second=second)], [make_health(second)])
    run = store.run(writer.id)
    assert [each.second for each in run.intervals()] == [each.second for each in run.health()] == [0, 1, 2]


@pytest.mark.parametrize("most", [1, 2, 3, 4, 100])
def test_columns_are_cut_between_two_seconds(store, writer, make_interval, most):
    for second, rows in enumerate((1, 5, 2, 0, 3)):
        writer.commit([make_interval([1], second=second, name=f"/{row}") for row in range(rows)])
    run = store.run(writer.id)
    parts = [list(columns.seconds) for columns in run.columns(most)]
    assert list(chain.from_iterable(parts)) == [0, 1, 1, 1, 1, 1, 2, 2, 4, 4, 4]
    assert all(before[-1] < after[0] for before, after in pairwise(parts))
    assert [each.second for each in run.intervals(2)] == [2, 2, 4, 4, 4]


def test_a_name_that_comes_while_a_run_is_read_is_known(store, writer, make_interval, monkeypatch):
    writer.commit([make_interval([1], name="/first")], [])
    run = store.run(writer.id)
    read = StoredRun._result

    def late(self, query, most):
        """The run goes on between the two queries."""
        if most == 7:
            writer.commit([make_interval([2], name="/second")], [])
        return read(self, query, most)

    monkeypatch.setattr(StoredRun, "_result", late)
    (columns,) = run.columns(7)
    assert [name for _, name, _ in columns.rows] == ["/first", "/second"]


def test_rows_of_one_key_add_up(store, writer, make_interval, make_health):
    for _ in range(3):
        writer.commit([make_interval([1, 2])], [make_health(lag_us=[1])])
    view = RunView.of(store.run(writer.id))
    assert (view.total.requests, view.generator.lag.count) == (6, 3)


@pytest.mark.parametrize(
    ("second", "is_varied", "text"),
    [("lost 1.1.1.1:50001", False, "lost 1.1.1.1:50001"), ("lost 1.1.1.1:50001", True, "lost [address]"),
     ("lost 1.1.1.1:50002", False, "lost [address]")],
)  # fmt: skip
def test_messages_that_differ_are_known_to_differ(store, writer, second, is_varied, text):
    for example, varied in (("lost 1.1.1.1:50001", False), (second, is_varied), ("lost 1.1.1.1:50001", False)):
        writer.commit([], [], [Failure("GET", "/", "reset", "lost [address]", 1, 1.0, 1.0, example, varied)])
    (failure,) = store.run(writer.id).failures()
    assert (failure.text, failure.example, failure.count) == (text, "lost 1.1.1.1:50001", 3)


def test_failures_and_exceptions_merge_by_key(store, writer):
    for first, last, worker in ((5.0, 6.0, 1), (3.0, 4.0, 0), (7.0, 8.0, 1)):
        failures = [Failure("GET", "/", outcome, "no", 2, first, last) for outcome in ("http", "reset")]
        writer.commit([], [], failures, [CaughtException("m", "t", 1, {worker}), CaughtException("m", "u", 1, {9})])
    run = store.run(writer.id)
    assert sorted(run.failures(), key=lambda each: each.key) == [
        Failure("GET", "/", "http", "no", 6, 3.0, 8.0),
        Failure("GET", "/", "reset", "no", 6, 3.0, 8.0),
    ]
    assert sorted(run.exceptions(), key=lambda each: each.traceback) == [
        CaughtException("m", "t", 3, {0, 1}),
        CaughtException("m", "u", 3, {9}),
    ]


def test_exceptions_at_one_place_are_kept_as_one_with_the_first_message(store, writer):
    frames = '  File "a.py", line 1, in buy\n'
    for item in range(3):
        writer.commit([], [], [], [CaughtException(f"item {item}", f"{frames}ValueError: item {item}\n", 1, {item})])
    (kept,) = store.run(writer.id).exceptions()
    assert kept == CaughtException("item 0", f"{frames}ValueError: item 0\n", 3, {0, 1, 2})


def test_two_runs_do_not_mix(store, make_interval):
    writers = [store.start_run(Manifest(started=0.0)) for _ in range(2)]
    for number, writer in enumerate(writers):
        failure = Failure("GET", "/", "http", "no", number + 1, 0.0, 0.0)
        writer.commit([make_interval([1] * (number + 1))], [], [failure], [CaughtException("m", "t", number + 1, {0})])
    for number, writer in enumerate(writers):
        run = store.run(writer.id)
        assert total(store, writer).requests == number + 1
        assert [each.count for each in (*run.failures(), *run.exceptions())] == [number + 1] * 2


AWKWARD = ["", " ", "ü€😀", "a\0b", "\ud800", "x" * 20_000, "' OR 1=1; --", "%s %(a)s :b ?", "line\r\nline"]


@pytest.mark.parametrize("awkward", AWKWARD, ids=lambda value: ascii(value[:12]))
def test_any_text_can_be_kept(store, writer, make_interval, awkward):
    for _ in range(2):
        writer.commit(
            [make_interval([1], name=awkward, method=awkward)],
            [],
            [Failure(awkward, awkward, "http", awkward, 1, 0.0, 0.0)],
            [CaughtException(awkward, awkward, 1, {0})],
        )
    kept = awkward.replace("\0", "\ufffd").replace("\ud800", "?")
    view = RunView.of(store.run(writer.id))
    assert [(each.method, each.name, each.requests) for each in view.endpoints] == [(kept, kept, 2)]
    assert [(each.message, each.count) for each in view.failures] == [(kept, 2)]
    assert [(each.message, each.traceback, each.count) for each in view.exceptions] == [(kept, kept, 2)]


def test_no_password_is_kept_in_names_or_messages(store, writer, make_interval):
    url = "http://ann:s3cret@host/x"
    failure = Failure("GET", url, "connect", f"cannot reach {url}", 1, 0.0, 0.0)
    writer.commit([make_interval([1], name=url)], [], [failure], [CaughtException(url, url, 1, {0})])
    run = store.run(writer.id)
    kept = repr([*run.failures(), *run.exceptions(), *run.intervals()])
    assert "s3cret" not in kept
    assert "ann:***@host" in kept


def test_a_commit_that_fails_keeps_nothing_and_can_be_repeated(store_location, make_interval, make_health):
    database = Database(store_location)
    with Store.open(store_location) as store:
        writer = store.start_run(Manifest(started=0.0))
        second = [make_interval([1, 2], name="/new")], [make_health()], [Failure("GET", "/n", "http", "m", 1, 0.0, 0.0)]
        with database.write("break it") as connection:
            connection.execute(text("ALTER TABLE failure RENAME TO away"))
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot keep a second of the run"):
                writer.commit(*second)
            assert list(store.run(writer.id).intervals()) == list(store.run(writer.id).health()) == []
        with database.write("mend it") as connection:
            connection.execute(text("ALTER TABLE away RENAME TO failure"))
        writer.commit(*second)
        writer.commit(*second)
        run = store.run(writer.id)
        assert total(store, writer).requests == 4
        assert [each.count for each in run.failures()] == [2]
    database.close()


def test_a_commit_whose_success_was_not_heard_of_is_not_counted_twice(store_location, store, make_interval):
    database = Database(store_location)
    writer = store.start_run(Manifest(started=0.0))
    unaware = RunWriter(database, writer.id)
    writer.commit([make_interval([1, 2])])
    unaware.commit([make_interval([1, 2])])
    assert total(store, writer).requests == 2
    unaware.commit([make_interval([3], second=1)])
    assert total(store, writer).requests == 3
    database.close()


def test_a_run_that_was_deleted_meanwhile(store_location, store, writer, make_interval):
    database = Database(store_location)
    with database.write("delete it") as connection:
        connection.execute(text("DELETE FROM run"))
    with pytest.raises(StoreError, match="no longer in the store"):
        writer.commit([make_interval([1])])
    database.close()


def test_damaged_data_is_reported(store_location, store, writer, make_interval):
    writer.commit([make_interval([1])])
    database = Database(store_location)
    with database.write("damage it") as connection:
        connection.execute(text("UPDATE interval SET response = :junk"), {"junk": b"junk"})
    database.close()
    with pytest.raises(StoreError, match="is damaged: not an HdrHistogram"):
        list(store.run(writer.id).intervals())


def test_a_connection_that_the_server_cut_is_made_again(postgresql_url, make_interval):
    other = Database(postgresql_url)
    with Store.open(postgresql_url) as store:
        writer = store.start_run(Manifest(started=0.0))
        writer.commit([make_interval([1])])
        with other.read("cut") as connection:
            cut = connection.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )
            assert cut.all()
        writer.commit([make_interval([1])])
        assert total(store, writer).requests == 2
    other.close()


def test_a_store_that_has_forgotten_seconds_gets_no_more_of_them(store, store_location, writer, make_interval):
    for second in range(2):
        writer.commit([make_interval([1], second=second)])
    database = Database(store_location)
    with database.write("forget a second") as connection:
        connection.execute(text("UPDATE run SET batch = 1"))
        connection.execute(text("DELETE FROM interval WHERE second = 1"))
    database.close()
    writer._kept = None  # as after an error
    with pytest.raises(StoreError, match=r"seconds of run .* that it had are gone from it"):
        writer.commit([make_interval([1], second=2)])


def test_a_run_has_one_writer_and_another_process_goes_on_only_when_that_is_gone(
    store_location, store, writer, make_interval, make_health
):
    writer.commit([make_interval([1.0], second=0)], [make_health(0, 0)])
    with pytest.raises(StoreError, match="another process goes on with run"):
        store.resume_run(store.run(writer.id), [], RunFacts())
    with pytest.raises(StoreError, match="another process goes on with run"):
        store.resume_run(replace(store.run(writer.id), id="none"), [], RunFacts())
    database = Database(store_location)
    with database.write("have another machine's process write it") as connection:
        connection.execute(text("UPDATE run SET writer = 'vm-b 1 0.00', written = 0"))
    database.close()

    seen = store.run(writer.id)
    assert seen.status == "interrupted"
    with pytest.raises(StoreError, match="is gone, or another process goes on with it"):
        writer.commit([make_interval([1.0], second=1)])
    with pytest.raises(StoreError, match="is gone, or another process goes on with it"):
        writer.finish("finished", 9.0)
    again = store.resume_run(seen, ["continued"], RunFacts.from_json({"resumed": []}))
    now = store.run(writer.id)
    assert (now.status, now.notes, now.facts.to_json()) == ("running", ["continued"], {"resumed": []})
    again.commit([make_interval([1.0], second=1)])
    again.finish("finished", 2.0, ["continued"])
    assert total(store, writer).requests == 2
    assert store.run(writer.id).status == "finished"
