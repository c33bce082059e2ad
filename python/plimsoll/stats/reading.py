"""One pass over a recorded run: its sums, and the course of each endpoint second by second."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from plimsoll.record import STREAM_ROWS, TIMES_OF
from plimsoll.stats.course import CourseBuilder, GeneratorCourseBuilder, numbers_of
from plimsoll.stats.view import RunView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plimsoll.record import Health
    from plimsoll.stats.columns import IntervalColumns
    from plimsoll.stats.seconds import Key
    from plimsoll.stats.study import Course, GeneratorCourse
    from plimsoll.stats.view import RecordedRun


class RunReading:
    """A recorded run, read once. A view leaves out the warm-up; the courses have every second.

    times_of: whose times count; None for the run's own setting. Raises StoreError for an unreadable run.
    """

    def __init__(self, run: RecordedRun, times_of: str | None = None) -> None:
        self._timed = TIMES_OF[times_of or run.manifest.times_of]
        self._courses: dict[Key, CourseBuilder] = {}
        self._users: dict[int, dict[int, int]] = {}
        """By second and worker."""
        self._total = CourseBuilder(self._timed)
        self._generator = GeneratorCourseBuilder()
        self._traffic: list[NDArray[np.int64]] = []
        """Rows of the second, and the bytes received and sent."""
        self.view = RunView.of(run, times_of, self)
        self.observed = run.observed()
        """Of the target."""

    def add_columns(self, columns: IntervalColumns) -> None:
        endpoints: dict[Key, dict[str, Sequence[int]]] = {}
        total: dict[str, list[int]] = {}
        for (method, name, outcome), rows in columns.rows.items():
            endpoints.setdefault((method, name), {})[outcome] = rows
            if method not in STREAM_ROWS:
                total.setdefault(outcome, []).extend(rows)
        numbers = numbers_of(columns)
        for key, outcomes in endpoints.items():
            course = self._courses.get(key)
            if course is None:
                course = self._courses[key] = CourseBuilder(self._timed)
            course.add(columns, numbers, outcomes)
        self._total.add(columns, numbers, total)
        wanted = (columns.seconds, columns.numbers["bytes_in"], columns.numbers["bytes_out"])
        self._traffic.append(np.array(wanted, dtype=np.int64)[:, [row for rows in total.values() for row in rows]])

    def add_health(self, row: Health) -> None:
        users = self._users.setdefault(row.second, {})
        # A second may have several rows; only one of them has the worker's state, the others have 0.
        users[row.worker] = max(users.get(row.worker, 0), row.users)
        self._generator.add(row)

    @property
    def seconds(self) -> int:
        """The length of the courses."""
        return self.view.last_second + 1

    @property
    def users_by_second(self) -> NDArray[np.float64] | None:
        """NaN in a second without a worker's report; None if no worker reported anything."""
        if not self._users:
            return None
        seconds = (self._users.get(each) for each in range(self.seconds))
        return np.array([math.nan if workers is None else sum(workers.values()) for workers in seconds])

    @property
    def generator(self) -> GeneratorCourse | None:
        """None if no worker reported anything."""
        return self._generator.course(self.seconds)

    @property
    def traffic(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Bytes received and sent in each second."""
        received, sent = np.zeros((2, self.seconds), dtype=np.int64)
        for second, more_received, more_sent in self._traffic:
            np.add.at(received, second, more_received)
            np.add.at(sent, second, more_sent)
        return received, sent

    def course(self, key: Key) -> Course:
        """Of an endpoint; of all together for any other key."""
        return self._courses.get(key, self._total).course(self.seconds, self.view.warmup)
