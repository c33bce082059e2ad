"""What is left of a run when processes die, disks fill up and others read: real processes, real limits."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from plimsoll.stats.view import RunView
from plimsoll.store import Store

# Commits one second after the other, each of 2 endpoints × 3 exchanges and a failure, and says so.
WRITER = """
import sys
from plimsoll.record import Failure, Health, Interval
from plimsoll._engine import Histogram
from plimsoll.record.manifest import Manifest
from plimsoll.store import Store

def second(number):
    intervals = []
    for name in "ab":
        interval = Interval(number, "GET", name, "success", count=3)
        for _ in range(3):
            interval.response.record(1000)
            interval.service.record(900)
        intervals.append(interval)
    health = [Health(number, 0, Histogram(), Histogram(), users=1)]
    return intervals, health, [Failure("GET", "a", "http", "500", 1, 0.0, float(number))]

store = Store.open(sys.argv[1])
writer = store.start_run(Manifest(started=0.0))
"""

FOR_EVER = """
number = 0
while True:
    writer.commit(*second(number))
    print(number, flush=True)
    number += 1
"""


@pytest.fixture
def start(request):
    """Starts a Python process that is gone at the end of the test."""

    def start(code, *arguments):
        command = [sys.executable, "-c", code, *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        def end():
            process.kill()
            process.communicate()

        request.addfinalizer(end)
        return process

    return start


def test_after_kill_9_every_committed_second_is_there_and_whole(store_location, start):
    writer = start(WRITER + FOR_EVER, store_location)
    for _ in range(20):
        assert writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    committed = 20 + len(writer.stdout.read().splitlines())
    writer.wait()

    with Store.open(store_location) as store:
        run = store.run("last")
        assert run.status == "interrupted"
        view = RunView.of(run)
    # The last one may have been committed without having been printed.
    assert committed <= view.last_second + 1 <= committed + 1
    assert view.total.requests_by_second.tolist() == [6] * (view.last_second + 1)
    assert [each.count for each in view.failures] == [view.last_second + 1]
    assert view.generator.users_by_second() == dict.fromkeys(range(view.last_second + 1), 1)


def test_others_read_while_a_run_is_written(store_location, start):
    writer = start(WRITER + FOR_EVER, store_location)
    assert writer.stdout.readline()
    reader = """
import sys
from plimsoll.store import Store
with Store.open(sys.argv[1], create=False) as store:
    seen = []
    while len(seen) < 10 or seen[-1] == seen[0]:
        run = store.run("last")
        assert run.status == "running", run.status
        rows = list(run.intervals())
        seconds = rows[-1].second + 1
        assert [(row.second, row.name) for row in rows] == [(n, name) for n in range(seconds) for name in "ab"]
        seen.append(seconds)
    assert seen == sorted(seen)
"""
    readers = [start(reader, store_location) for _ in range(2)]
    assert [process.communicate(timeout=60)[1] for process in readers] == ["", ""]
    assert [process.returncode for process in readers] == [0, 0]
    assert writer.poll() is None


def test_a_full_disk_is_reported_and_the_run_goes_on_when_there_is_room_again(tmp_path, start):
    # No file of this process may grow over a limit, which is lifted later: as good as a disk without room.
    disk_full = """
import resource
from pathlib import Path
from plimsoll.errors import StoreError

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

writer.commit(*second(0))
limit(max(path.stat().st_size for path in Path(sys.argv[1]).parent.iterdir()) + 100_000)
number, refused = 1, None
while refused is None and number < 10_000:
    try:
        writer.commit(*second(number))
        number += 1
    except StoreError as error:
        refused = str(error)
for _ in range(3):
    try:
        writer.commit(*second(number))
        print("committed all the same")
    except StoreError:
        pass
kept = sum(row.count for row in store.run(writer.id).intervals())
limit(resource.RLIM_INFINITY)
for later in range(number, number + 5):
    writer.commit(*second(later))
writer.finish("finished", 0.0)
print(refused, kept == 6 * number, number + 5, sep="|")
"""
    path = tmp_path / "runs.db"
    out, err = start(WRITER + disk_full, str(path)).communicate(timeout=60)
    assert err == ""
    refused, readable, seconds = out.strip().split("|")
    assert "cannot keep a second of the run: disk I/O error (the disk is full or failing)" in refused
    assert readable == "True"
    with Store.open(str(path)) as store:
        view = RunView.of(store.run("last"))
    assert view.total.requests_by_second.tolist() == [6] * int(seconds)
    assert [each.count for each in view.failures] == [int(seconds)]
