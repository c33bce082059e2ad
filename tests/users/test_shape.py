"""LoadTestShape, the base class."""

from __future__ import annotations

import pytest

from plimsoll.users import LoadTestShape, shape


class Stages(LoadTestShape):
    def tick(self):
        return (10, 1) if self.get_run_time() < 60 else None


def test_tick_is_required():
    class Unfinished(LoadTestShape):
        pass

    with pytest.raises(TypeError, match="tick"):
        Unfinished()


def test_a_derived_shape_is_not_abstract_unless_it_says_so():
    class Base(LoadTestShape):
        abstract = True

    assert (LoadTestShape.abstract, Stages.abstract, Base.abstract) == (True, False, True)


def test_run_time_counts_from_the_start_or_reset(monkeypatch):
    now = 100.0
    monkeypatch.setattr(shape.time, "perf_counter", lambda: now)
    stages = Stages()
    now = 160.0
    assert stages.get_run_time() == 60
    assert stages.tick() is None
    stages.reset_time()
    assert stages.tick() == (10, 1)


def test_users_are_counted_by_the_runner():
    with pytest.raises(RuntimeError, match="does not belong to a test"):
        Stages().get_current_user_count()
