"""The Parquet file of every exchange: nothing but the rows that the workers handed over, and nothing of them lost."""

from __future__ import annotations

import logging
import re
import stat
import struct
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest
from tests.command import TIMEOUT_S

from plimsoll._engine import Histogram, Recorder, exchange_columns, now
from plimsoll.errors import UsageError
from plimsoll.record import OUTCOMES, TIMED, Interval, merge
from plimsoll.run import exchange_log
from plimsoll.run.exchange_log import ExchangeFile
from plimsoll.run.transport.messages import Exchanges
from plimsoll.store import Store

if TYPE_CHECKING:
    from tests.command import Command, CountingTarget

LOG_RS = Path(__file__).parents[2] / "crates" / "record" / "src" / "log.rs"
FIELDS = (
    "serial", "due", "sent", "arrival", "read", "first_byte", "dns", "connect", "tls", "bytes_out", "bytes_in",
    "bytes_body", "endpoint", "kind", "hops", "retries",
)  # fmt: skip
"""The numbers of a row, in their order."""
FORMATS = {"status": "H", "hops": "H", "retries": "H", "endpoint": "i", "outcome": "i", "stamp": "i"}

EPOCH = 1_000_000_000_000

Row = dict[str, int]


def _row(*, outcome: str = "success", source: int = 0, status: int = 0, **fields: int) -> Row:
    stamps = {"due": EPOCH, "sent": EPOCH, "arrival": EPOCH, "read": EPOCH}
    kind = (status << 16) + (OUTCOMES.index(outcome) << 8) + source
    return {**dict.fromkeys(FIELDS, 0), **stamps, "kind": kind, **fields}


def _packed(*rows: Row) -> bytes:
    """As log.rs says that the engine packs them."""
    documented = re.findall(r"^//! \| (\d+) \| (.+) \| (.+) \|$", LOG_RS.read_text(), re.MULTILINE)
    assert [int(place) for place, _, _ in documented] == list(range(len(FIELDS)))
    packed, before = b"", {**dict.fromkeys(FIELDS, 0), "serial": -1}
    for row in rows:
        unexpected, numbers = 0, b""
        for place, name in enumerate(FIELDS):
            match documented[place][2]:
                case "1 more than in the row before":
                    expected = before[name] + 1
                case "as in the row before":
                    expected = before[name]
                case "0":
                    expected = 0
                case other:
                    expected = row[other.strip("`")]
            if difference := row[name] - expected:
                unexpected |= 1 << place
                numbers += _signed((difference + (1 << 63)) % (1 << 64) - (1 << 63))
        packed += struct.pack("<H", unexpected) + numbers
        before = row
    return packed


def _signed(number: int) -> bytes:
    """The sign in the lowest bit, then groups of 7 bits, the lowest first. A ninth byte has 8 bits."""
    rest = 2 * number if number >= 0 else -2 * number - 1
    if rest >> 56:
        return bytes([*(rest >> shift & 0x7F | 0x80 for shift in range(0, 56, 7)), rest >> 56])
    groups = [rest >> shift & 0x7F for shift in range(0, max(1, rest.bit_length()), 7)]
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])


def _exchanges(*rows: Row, epoch: int = EPOCH) -> Exchanges:
    return Exchanges(epoch, [("GET", "/a"), ("POST", "/b")], _packed(*rows))


def _columns(packed: bytes) -> dict[str, list[int]]:
    rows, columns = exchange_columns(packed, 0)
    has_first_byte = columns.pop("has_first_byte")
    assert len(has_first_byte) == (rows + 7) // 8
    return {name: list(struct.unpack(f"<{rows}{FORMATS.get(name, 'Q')}", each)) for name, each in columns.items()}


def _unpacked(packed: bytes) -> list[Row]:
    columns = _columns(packed)
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    for row in rows:
        row["kind"] = (row.pop("status") << 16) + (row.pop("outcome") << 8) + row.pop("stamp")
    return rows


def test_rows_are_packed_as_the_engine_says() -> None:
    recorder = Recorder(now())
    ids = [recorder.endpoint("GET", "/a"), recorder.endpoint("X", "/b")]
    recorder.log(True)
    for place in range(100):
        recorder.custom(ids[place % 3 % 2], 5.0 * place, 10**place % 1_000_003, OUTCOMES[place % 9])
    packed = recorder.take_log()
    assert _packed(*_unpacked(packed)) == packed


def test_any_rows_are_read_as_the_engine_says() -> None:
    rows = [{name: (place // 2 + 1) * (number + 3) for number, name in enumerate(FIELDS)} for place in range(6)]
    assert _unpacked(_packed(*rows)) == rows


def test_what_a_recorder_hands_over_is_what_it_was_told() -> None:
    recorder = Recorder(now())
    ids = [recorder.endpoint("GET", "/a"), recorder.endpoint("X", "/b")]
    recorder.log(True)
    before = now()
    for place, outcome in enumerate(OUTCOMES):
        if outcome != "dropped":
            recorder.custom(ids[place % 2], 5.0, 10 + place, outcome)
    recorder.dropped(ids[1], before - 7)
    columns = _columns(recorder.take_log())
    assert recorder.endpoints() == [("GET", "/a"), ("X", "/b")]
    assert [OUTCOMES[each] for each in columns["outcome"]] == [
        *(each for each in OUTCOMES if each != "dropped"),
        "dropped",
    ]
    assert columns["serial"] == list(range(len(OUTCOMES)))
    assert [arrival - due for arrival, due in zip(columns["arrival"], columns["due"], strict=True)][:3] == [
        5_000_000
    ] * 3
    assert columns["bytes_body"][:3] == [10, 11, 12]
    assert (columns["due"][-1], columns["endpoint"][-1], columns["stamp"][-1]) == (before - 7, ids[1], 1)


def test_other_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="no rows of a log of exchanges"):
        exchange_columns(_packed(_row())[:-1], 0)


def _begun(path: Path) -> ExchangeFile:
    file = ExchangeFile(str(path))
    file.start(1000.0, "kernel")
    return file


def test_columns_are_the_rows_with_names_and_times_since_second_0(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    full = {
        name: 10 + place for place, name in enumerate(("dns", "connect", "tls", "bytes_out", "bytes_in", "bytes_body"))
    }
    with _begun(path) as file:
        file.add(3, _exchanges(
            _row(due=EPOCH - 5, sent=EPOCH + 1, first_byte=EPOCH + 2, arrival=EPOCH + 3, read=EPOCH + 4, status=404,
                 hops=2, retries=1, endpoint=1, outcome="http", source=2, serial=1 << 63, **full),
            _row(outcome="connect"),
        ))  # fmt: skip
    first, second = pyarrow.parquet.read_table(path).to_pylist()
    assert first == {
        "worker": 3, "serial": 1 << 63, "method": "POST", "name": "/b", "outcome": "http", "stamp": "rejected",
        "status": 404, "hops": 2, "retries": 1, "due": -5, "sent": 1, "first_byte": 2, "arrival": 3, "read": 4, **full,
    }  # fmt: skip
    assert (second["first_byte"], second["due"], second["stamp"]) == (None, 0, "kernel")


def test_endpoints_that_come_later_and_differ_by_worker_keep_their_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange_log, "GROUP", 3)
    path = tmp_path / "x.parquet"
    with _begun(path) as file:
        for number in range(7):
            names = [("GET", f"/{number}"), ("GET", "/last")]
            file.add(number % 2, Exchanges(EPOCH, names, _packed(_row(endpoint=number % 2, serial=number))))
    table = pyarrow.parquet.read_table(path)
    assert table["name"].to_pylist() == ["/0", "/last", "/2", "/last", "/4", "/last", "/6"]
    assert table["serial"].to_pylist() == list(range(7))
    assert pyarrow.parquet.ParquetFile(path).num_row_groups == 3


def test_a_disk_that_fails_is_said_once_and_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(exchange_log, "GROUP", 1)
    with caplog.at_level(logging.ERROR), _begun(tmp_path / "x.parquet") as file:

        def fail(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(pyarrow.parquet.ParquetWriter, "write_table", fail)
        for _ in range(5):
            file.add(0, _exchanges(_row()))
    assert [record.getMessage() for record in caplog.records] == [
        "the file of exchanges is not complete: [Errno 28] No space left on device"
    ]


def test_a_disk_that_is_too_slow_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(exchange_log, "GROUP", 1)
    row = len(_packed(_row(serial=1)))
    monkeypatch.setattr(exchange_log, "WAITING", 2 * row)
    write, begun, go_on = pyarrow.parquet.ParquetWriter.write_table, threading.Event(), threading.Event()

    def write_slowly(*arguments: Any) -> None:
        begun.set()
        assert go_on.wait(TIMEOUT_S)
        write(*arguments)

    monkeypatch.setattr(pyarrow.parquet.ParquetWriter, "write_table", write_slowly)
    path = tmp_path / "x.parquet"
    with caplog.at_level(logging.ERROR), _begun(path) as file:
        file.add(0, _exchanges(_row(serial=1)))
        assert begun.wait(TIMEOUT_S)
        file.add(0, _exchanges(_row(serial=2)))
        file.add(0, _exchanges(_row(serial=3), _row(serial=4)))
        file.add(0, _exchanges(_row(serial=5)))
        go_on.set()
    assert pyarrow.parquet.read_table(path)["serial"].to_pylist() == [1, 2, 5]
    assert [record.getMessage() for record in caplog.records] == [
        "the file of exchanges is not complete: the disk is too slow for them"
    ]


def test_only_its_owner_reads_a_new_file_and_one_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "old").touch(0o640)
    (tmp_path / "old").chmod(0o640)
    for name in ("old", "new"):
        with _begun(tmp_path / name):
            pass
    assert [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("old", "new")] == [0o640, 0o600]


def test_an_older_file_stays_until_the_run_begins(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    with ExchangeFile(str(path)):
        pass
    assert not path.exists()
    path.write_text("earlier")
    with ExchangeFile(str(path)):
        pass
    assert path.read_text() == "earlier"
    with _begun(path):
        pass
    assert pyarrow.parquet.read_table(path).num_rows == 0


def test_what_cannot_be_written_is_said_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^cannot write /proc/x/y\.parquet: there is no folder /proc/x; "):
        ExchangeFile("/proc/x/y.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"plimsoll-lab\[parquet\]"):
        ExchangeFile(str(tmp_path / "x.parquet"))


BY_WORKER = """
from locust import HttpUser, constant, task

class Visitor(HttpUser):
    wait_time = constant(0.005)

    @task(3)
    def index(self):
        self.client.get(f"/{self.environment.runner.worker_index}")

    @task
    def fail(self):
        self.client.get("/fail")

    @task
    def refused(self):
        self.client.get("http://127.0.0.1:1/refused")
"""


def _recomputed(table: Any) -> dict[tuple[int, str, str, str], dict[str, Any]]:
    """What the intervals of a run must be, from its single exchanges."""
    made: dict[tuple[int, str, str, str], dict[str, Any]] = {}
    for row in table.to_pylist():
        key = max(0, row["arrival"] // 1_000_000_000), row["method"], row["name"], row["outcome"]
        sums = made.setdefault(key, {"count": 0, "bytes_in": 0, "bytes_out": 0, "bytes_body": 0, "response_sum": 0,
                                     "service_sum": 0, "response": Histogram(), "service": Histogram()})  # fmt: skip
        sums["count"] += 1
        for name in ("bytes_in", "bytes_out", "bytes_body"):
            sums[name] += row[name]
        if row["outcome"] in ("unanswered", "dropped"):
            continue
        for kind, begin in (("response", "due"), ("service", "sent")):
            took = row["arrival"] - row[begin]
            sums[f"{kind}_sum"] += took
            sums[kind].record(max(1, (took + 500) // 1000))
    return made


def _kept(plimsoll: Command) -> list[Interval]:
    with Store.open(str(plimsoll.store), create=False) as store:
        return merge(store.run("last").intervals())


def _compare(table: Any, intervals: list[Interval]) -> None:
    made = _recomputed(table)
    assert made.keys() == {each.key for each in intervals}
    for each in intervals:
        sums = made[each.key]
        for name in ("count", "bytes_in", "bytes_out", "bytes_body", "response_sum", "service_sum"):
            assert sums[name] == getattr(each, name), (each.key, name)
        if each.outcome in TIMED:
            assert sums["response"].buckets() == each.response.buckets(), each.key
            assert sums["service"].buckets() == each.service.buckets(), each.key


def test_the_intervals_of_a_run_follow_from_its_exchanges(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(BY_WORKER)
    done = plimsoll(
        "run", "--headless", "-H", target.url, "-u", "4", "-r", "4", "-t", "2", "-s", "10", "--processes", "2",
        "--exit-code-on-error", "0", "--log-exchanges", "x.parquet",
    )  # fmt: skip
    assert done.code == 0, done
    table = pyarrow.parquet.read_table(plimsoll.directory / "x.parquet")
    _compare(table, _kept(plimsoll))
    rows = table.to_pylist()
    assert {row["name"] for row in rows if row["worker"] == 1} == {"/1", "/fail", "/refused"}
    for worker in (0, 1):
        assert sorted(row["serial"] for row in rows if row["worker"] == worker) == list(
            range(sum(row["worker"] == worker for row in rows))
        )
        assert sum(row["name"] == f"/{worker}" for row in rows) == target.counts[f"/{worker}"] > 0
    assert {row["status"] for row in rows} == {0, 200, 500}
    for row in rows:
        assert row["due"] <= row["sent"] <= row["arrival"] <= row["read"]
        assert (row["first_byte"] is None) == (row["outcome"] == "connect")
        assert row["first_byte"] is None or row["sent"] <= row["first_byte"] <= row["arrival"]


def test_those_of_a_ramp_up_that_is_forgotten_are_not_in_the_file(plimsoll: Command, target: CountingTarget) -> None:
    plimsoll.write(BY_WORKER)
    done = plimsoll(
        "run", "--headless", "-H", target.url, "-u", "2", "-t", "3", "-s", "10", "--reset-stats",
        "--exit-code-on-error", "0", "--log-exchanges", "x.parquet",
    )  # fmt: skip
    assert done.code == 0, done
    table = pyarrow.parquet.read_table(plimsoll.directory / "x.parquet")
    assert 0 < table.num_rows < target.total + 1000
    _compare(table, _kept(plimsoll))


def test_a_full_disk_does_not_end_the_run(plimsoll: Command, target: CountingTarget) -> None:
    done = plimsoll("run", f"{target.url}/", "--headless", "--rate", "40/s", "-t", "1", "--log-exchanges", "/dev/full")
    assert target.total in (0, 40)
    if target.total == 0:  # the disk was found out to be full before anything was sent
        assert (done.code, "cannot write /dev/full: No space left on device" in done.err) == (2, True), done
    else:
        assert (done.code, "the file of exchanges is not complete" in done.err) == (0, True), done
        assert plimsoll.stored()["total"]["requests"] == 40
