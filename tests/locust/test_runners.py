"""The runner as locustfiles see it."""

from __future__ import annotations

import gevent
import pytest
from tests.users.user_helpers import wait_until_user_waits

from plimsoll.locust import runners
from plimsoll.locust.api import Environment, LoadTestShape
from plimsoll.locust.messages import Message
from plimsoll.locust.runners import LocalRunner, MasterRunner, Runner, WorkerRunner
from plimsoll.users import log
from plimsoll.users.exceptions import RunnerAlreadyExistsError, StopTest
from plimsoll.users.tasks import task
from plimsoll.users.user import User
from plimsoll.users.wait_time import constant


class Shopper(User):
    wait_time = constant(1000)

    @task
    def browse(self):
        pass


class Clerk(Shopper):
    pass


class Asked:
    """A controller that notes what it is asked for."""

    def __init__(self):
        self.calls = []

    def start(self, users, rate, classes):
        self.calls.append(("start", users, rate, classes))

    def stop(self):
        self.calls.append(("stop",))

    def quit(self):
        self.calls.append(("quit",))

    def send(self, type, data, client_id):
        self.calls.append(("send", type, data, client_id))


@pytest.fixture
def asked():
    return Asked()


@pytest.fixture
def make(asked):
    """Makes runners, whose background work ends with the test."""
    made = []

    def runner(kind=LocalRunner, *place, **settings):
        environment = Environment(user_classes=[Clerk, Shopper], **settings)
        places = dict(zip(("worker_index", "worker_count"), place, strict=False))
        made.append(kind(environment, controller=asked, **places))
        return made[-1]

    yield runner
    for each in made:
        each.user_greenlets.kill()
        each.greenlet.kill()


@pytest.fixture
def master(make):
    runner = make(MasterRunner)
    for index in range(2):
        runner.connect(f"host_{index}", index)
    return runner


def test_a_runner_belongs_to_one_environment_and_its_shape(make, asked):
    class Stages(LoadTestShape):
        def tick(self):
            return None

    shape = Stages()
    runner = make(shape_class=shape)
    assert runner.environment.runner is shape.runner is runner
    assert shape.get_current_user_count() == 0
    with pytest.raises(RunnerAlreadyExistsError):
        LocalRunner(runner.environment, asked)


def test_users_are_counted_as_long_as_they_live(make):
    runner = make()
    users = [cls(runner.environment) for cls in (Shopper, Shopper, Clerk)]
    for user in users:
        user.start(runner.user_greenlets)
    for user in users:
        wait_until_user_waits(user)
    assert runner.user_count == 3
    assert runner.user_classes_count == {"Clerk": 1, "Shopper": 2}
    users[0].stop()
    assert runner.user_classes_count == {"Clerk": 1, "Shopper": 1}
    runner.user_greenlets.kill()
    assert runner.user_count == 0


def test_the_controller_is_asked_to_start_and_stop(make, asked):
    runner = make()
    runner.start(12.7, 3)
    runner.start(5, 0.5, user_classes=[Clerk])
    runner.stop()
    runner.quit()
    assert asked.calls == [("start", 12, 3.0, None), ("start", 5, 0.5, ["Clerk"]), ("stop",), ("quit",)]
    assert (runner.target_user_count, runner.spawn_rate) == (5, 0.5)


@pytest.mark.parametrize(("users", "rate"), [(-1, 1), (1, 0), (1, -2), (1, float("inf")), (1, float("nan"))])
def test_numbers_that_make_no_sense(make, asked, users, rate):
    with pytest.raises(ValueError, match=r"user_count|spawn_rate"):
        make().start(users, rate)
    assert asked.calls == []


def test_start_waits_for_the_users_of_a_test_that_runs(make):
    runner, states = make(), []

    def restart():
        runner.start(2, 1, wait=True)
        states.append(runner.state)

    runner.start(1, 1, wait=True)
    runner.all_spawned()
    waiter = gevent.spawn(restart)
    gevent.sleep(0)
    assert (runner.state, states) == ("spawning", [])
    runner.all_spawned()
    waiter.join(timeout=30)
    assert states == ["running"]


def test_users_may_be_spawned_and_stopped_by_hand(make):
    runner = make()
    users = runner.spawn_users({"Shopper": 3, "Clerk": 1})
    for user in users:
        wait_until_user_waits(user)
    assert runner.user_classes_count == {"Clerk": 1, "Shopper": 3}
    assert runner.state == "spawning"
    runner.stop_users({"Shopper": 2, "Clerk": 5})
    assert runner.user_classes_count == {"Clerk": 0, "Shopper": 1}


def test_a_message_of_a_single_process_goes_to_its_own_listener(make, asked, caplog):
    runner, got = make(), []
    runner.register_message("greeting", lambda environment, msg: got.append((environment, msg)), concurrent=True)
    data = object()
    runner.send_message("greeting", data)
    assert got == [(runner.environment, Message("greeting", data, "local"))]
    runner.send_message("unheard of")
    assert "unheard of" in caplog.text
    assert asked.calls == []


def test_a_type_of_messages_has_one_listener(make):
    runner = make()
    runner.register_message("greeting", print)
    with pytest.raises(ValueError, match="'greeting' have a listener already"):
        runner.register_message("greeting", print)


def test_messages_that_come_in_call_their_listener(make, caplog):
    runner, got = make(WorkerRunner, 0, 2), []

    def slow(environment, msg):
        gevent.sleep(0)
        got.append(("slow", msg.data))

    runner.register_message("at once", lambda environment, msg: got.append((msg.type, msg.data, msg.node_id)))
    runner.register_message("beside", slow, concurrent=True)
    runner.register_message("failing", lambda environment, msg: 1 / 0)
    runner.deliver("beside", 1, "me")
    runner.deliver("failing", None, "me")
    runner.deliver("at once", 2, "me")
    runner.deliver("unheard of", None, "me")
    assert got == [("at once", 2, "me")]
    gevent.sleep(0.01)
    assert got[1:] == [("slow", 1)]
    assert "ZeroDivisionError" in caplog.text and "unheard of" in caplog.text


def test_messages_between_processes_are_the_controllers(make, asked):
    make(WorkerRunner, 0, 2).send_message("to main", [1])
    make(MasterRunner).send_message("to one", None, "host_1")
    assert asked.calls == [("send", "to main", [1], None), ("send", "to one", None, "host_1")]


def test_a_worker_has_its_number_and_starts_nothing(make):
    worker = make(WorkerRunner, 1, 3)
    assert isinstance(worker, Runner)
    assert not isinstance(worker, LocalRunner | MasterRunner)
    assert (worker.worker_index, worker.worker_count, worker.worker_state) == (1, 3, "ready")
    assert worker.client_id != make().client_id
    with pytest.raises(NotImplementedError, match="MasterRunner"):
        worker.start(1, 1)


def test_a_workers_report_is_what_listeners_make_of_it(make):
    worker = make(WorkerRunner, 0, 2)
    seen = []
    worker.environment.events.report_to_master.add_listener(
        lambda client_id, data: seen.append((client_id, list(data)))
    )
    worker.environment.events.report_to_master.add_listener(lambda client_id, data: data.update(own=[1]))
    report = worker.make_report()
    assert report["user_classes_count"] == {"Clerk": 0, "Shopper": 0}
    assert (report["user_count"], report["own"]) == (0, [1])
    assert {"stats", "stats_total", "errors"} <= report.keys(), "somebody listens"
    assert seen[0][0] == worker.client_id and "user_count" in seen[0][1], "what is ours is there before"


def test_a_report_that_nobody_reads_has_no_statistics(make):
    worker = make(WorkerRunner, 0, 2)
    assert worker.make_report().keys() == {"user_classes_count", "user_count"}
    worker.reports_are_read = True
    assert "stats" in worker.make_report()


def test_a_worker_hears_heartbeats_and_new_settings_of_classes(make):
    worker = make(WorkerRunner, 0, 2)
    received = []
    worker.environment.events.heartbeat_received.add_listener(lambda **arguments: received.append(arguments))
    worker.receive_heartbeat()
    assert received == [{"client_id": worker.client_id, "timestamp": worker.last_heartbeat_timestamp}]
    before = Clerk.weight
    worker.deliver("update_user_class", {"user_class_name": "Clerk", "weight": 7}, worker.client_id)
    assert Clerk.weight == 7
    Clerk.weight = before


def test_the_main_node_knows_its_workers(master):
    connected = []
    master.environment.events.worker_connect.add_listener(lambda client_id: connected.append(client_id))
    master.connect("host_2", 2)
    assert connected == ["host_2"]
    assert (master.worker_count, master.worker_index_max) == (3, 3)
    assert [master.get_worker_index(f"host_{index}") for index in range(3)] == [0, 1, 2]
    assert len(master.clients.ready) == 3


def test_the_main_node_adds_up_the_users_of_its_workers(master):
    assert master.receive("host_0", "running", {"Shopper": 2, "Clerk": 1}, 5.0, 10)
    master.take_report("host_1", {"user_classes_count": {"Shopper": 4, "Clerk": 0}, "user_count": 4})
    assert master.user_count == 7
    assert master.reported_user_classes_count == master.user_classes_count == {"Shopper": 6, "Clerk": 1}
    master.lose("host_0")
    assert (master.user_count, master.worker_count, len(master.clients.missing)) == (4, 1, 1)
    master.leave("host_1")
    assert (master.user_count, list(master.clients)) == (0, ["host_0"])


def test_the_main_node_fires_reports_and_heartbeats_of_workers_it_knows(master):
    events, got = master.environment.events, []
    events.worker_report.add_listener(lambda client_id, data: got.append((client_id, data["own"])))
    events.heartbeat_sent.add_listener(lambda client_id, timestamp: got.append(client_id))
    data = {"user_classes_count": {}, "user_count": 0, "own": 1}
    master.take_report("host_1", data)
    master.take_report("nobody", data)
    assert master.receive("host_0", "running", {}, 0.0, 0)
    assert not master.receive("nobody", "running", {}, 0.0, 0)
    assert got == [("host_1", 1), "host_0"]


def test_a_busy_worker_is_told_of_once(master, caplog):
    for _ in range(2):
        master.receive("host_0", "running", {}, 95.0, 0)
    assert caplog.text.count("uses 95 % of a core") == 1
    assert master.worker_cpu_warning_emitted


def test_the_main_node_knows_when_all_are_there(master):
    master.start(3, 1)
    assert not master.spawning_completed
    master.receive("host_0", "running", {"Shopper": 3}, 0.0, 0)
    master.all_spawned()
    assert (master.spawning_completed, master.state) == (True, "running")
    assert master.target_user_classes_count == {"Shopper": 3}


def test_exceptions_are_counted_by_traceback(make):
    runner = make()
    runner.log_exception("local", "boom", "line 1")
    runner.log_exception("other", "boom", "line 1", 4)
    runner.log_exception("local", "boom", "line 2")
    assert sorted(row["count"] for row in runner.exceptions.values()) == [1, 5]
    assert {"local", "other"} in [row["nodes"] for row in runner.exceptions.values()]


def test_background_work_that_fails_is_told_and_may_end_the_test(make, asked, monkeypatch, caplog):
    monkeypatch.setattr(log, "unhandled_greenlet_exception", False)
    runner = make()

    def give_up():
        raise StopTest("enough")

    runner.spawn(give_up).join(timeout=30)
    gevent.sleep(0.01)
    assert (asked.calls, log.unhandled_greenlet_exception) == ([("quit",)], False)
    runner.spawn(lambda: 1 / 0).join(timeout=30)
    gevent.sleep(0.01)
    assert log.unhandled_greenlet_exception
    assert "ZeroDivisionError" in caplog.text


def test_a_locustfile_may_set_the_intervals(make, monkeypatch):
    monkeypatch.setattr(runners, "HEARTBEAT_INTERVAL", 0.01)
    monkeypatch.setattr(runners, "HEARTBEAT_LIVENESS", -1)
    master = make(MasterRunner)
    master.connect("host_0", 0)
    gevent.sleep(0.1)
    assert len(master.clients.missing) == 1
