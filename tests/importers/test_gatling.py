"""Files are written by the formats of Gatling 3.12 (text) and 3.15 (binary), as its sources have them."""

from __future__ import annotations

import struct

import pytest

from plimsoll.errors import UsageError
from plimsoll.stats.study import Level

T = 1_795_176_000_000
MESSAGE = "status.find.in(200), but actually found 500"

TEXT = "\n".join(
    "\t".join(map(str, cells))
    for cells in (
        ("RUN", "my.Simulation", "simulation", T, " ", "3.12.0"),
        ("USER", "scn", "START", T), ("USER", "scn", "START", T + 10),
        ("REQUEST", "", "home", T, T + 100, "OK", " "),
        ("REQUEST", "cart,pay", "submit", T + 1000, T + 1500, "KO", MESSAGE),
        ("GROUP", "cart,pay", T, T + 1500, 1500, "KO"),
        ("USER", "scn", "END", T + 1600), ("ERROR", "no attribute named x is defined", T),
    )
)  # fmt: skip


def check(trial):
    home, submit = trial.endpoint(("", "home")), trial.endpoint(("", "cart / pay / submit"))
    assert (home.requests, home.failures, home.max) == (1, 0, 100)
    assert (submit.requests, submit.failures, submit.max) == (1, 1, 500)
    assert [(kind.status, kind.message) for kind in submit.kinds] == [(500, MESSAGE)]
    assert (trial.level, trial.duration) == (Level("users", 2.0), 1.5)
    assert trial.total.course.requests.tolist() == [1, 1]
    assert "1 errors of the simulation itself" in trial.notes


def test_text(read_text):
    study = read_text(TEXT, "simulation.log")
    check(study.trials[0])
    assert study.about["gatling"] == "3.12.0"


def test_older_text_with_users_and_scenarios(read_text):
    with_user = f"REQUEST\t7\tg\thome\t{T}\t{T + 5}\tOK\t \n"
    with_scenario = f"REQUEST\tscn\t7\t\tx\t{T}\t{T + 6}\tKO\tbad\n"
    text = f"RUN\ta\tb\t{T}\t \t3.0.0\n{with_user}{with_scenario}"
    (trial,) = read_text(text, "simulation.log").trials
    assert {each.name for each in trial.endpoints} == {"g / home", "x"}


def string(text):
    raw = text.encode("latin-1") if text.isascii() else text.encode("utf-16-le")
    return struct.pack(">i", len(raw)) + (raw + bytes([not text.isascii()]) if raw else b"")


def binary(version, *records):
    run = b"\0" + string(version) + string("my.Simulation") + struct.pack(">q", T) + string("")
    run += struct.pack(">i", 1) + string("scn") + struct.pack(">i", 1) + struct.pack(">i", 3) + b"xyz"
    return run + b"".join(records)


def cached(index, text):
    return struct.pack(">i", index) + string(text)


def again(index):
    return struct.pack(">i", -index)


RECORDS = [
    b"\2" + struct.pack(">i?i", 0, True, 0), b"\2" + struct.pack(">i?i", 0, True, 10),
    b"\1" + struct.pack(">i", 0) + cached(1, "home") + struct.pack(">ii?", 0, 100, True) + cached(2, ""),
    b"\1" + struct.pack(">i", 2) + cached(3, "cart") + cached(4, "pay") + cached(5, "submit")
    + struct.pack(">ii?", 1000, 1500, False) + cached(6, MESSAGE),
    b"\3" + struct.pack(">i", 2) + again(3) + again(4) + struct.pack(">iii?", 0, 1500, 1500, False),
    b"\2" + struct.pack(">i?i", 0, False, 1600), b"\4" + cached(7, "größer") + struct.pack(">i", 0),
]  # fmt: skip


@pytest.mark.parametrize("version", ["3.13.5", "3.14.0", "3.15.1"])
def test_binary(read_text, version):
    check(read_text(binary(version, *RECORDS), "simulation.log").trials[0])


def test_names_in_utf_16_and_again(read_text):
    request = struct.pack(">ii?", 0, 9, True)
    records = [
        b"\1" + struct.pack(">i", 0) + cached(1, "größer €") + request + cached(2, ""),
        b"\1" + struct.pack(">i", 0) + again(1) + request + again(2),
    ]
    (trial,) = read_text(binary("3.15.1", *records), "simulation.log").trials
    assert [(each.name, each.requests) for each in trial.endpoints] == [("größer €", 2)]


def test_other_releases_are_refused(read_text):
    with pytest.raises(UsageError, match=r"binary log of Gatling 3\.16\.0; those of 3\.13, 3\.14, 3\.15 can be read"):
        read_text(binary("3.16.0", *RECORDS), "simulation.log")


def test_a_log_that_was_cut_off_is_read_up_to_there(read_text):
    (trial,) = read_text(binary("3.15.1", *RECORDS)[:-3], "simulation.log").trials
    assert any("cut off" in note for note in trial.notes)
    assert trial.total.requests == 2


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (b"\x09", "record 2 is of unknown kind 9"),
        (b"\1" + struct.pack(">i", 0) + again(8), "names string 8, which is not there"),
        (b"\1" + struct.pack(">i", 2**30), "damaged: a length of 1073741824"),
    ],
)
def test_damaged_binary(read_text, record, message):
    with pytest.raises(UsageError, match=message):
        read_text(binary("3.15.1", record), "simulation.log")


def test_damaged_text(read_text):
    with pytest.raises(UsageError, match=r"simulation\.log:2: is no REQUEST record"):
        read_text(f"RUN\ta\tb\t{T}\t \t3.12.0\nREQUEST\t\thome\t{T}\tOK\n", "simulation.log")
