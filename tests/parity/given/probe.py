"""Loaded as the last locustfile of a run: writes down every event with its arguments."""

from locust import events
from parity import plain, write

KINDS = {
    "request",
    "user_error",
    "report_to_master",
    "worker_report",
    "worker_connect",
    "spawning_complete",
    "init",
    "init_command_line_parser",
    "test_start",
    "test_stopping",
    "test_stop",
    "quitting",
    "quit",
    "reset_stats",
    "cpu_warning",
    "heartbeat_sent",
    "heartbeat_received",
    "usage_monitor",
}

TYPE_ONLY = {"start_time", "response_time", "client_id", "timestamp", "cpu_usage", "memory_usage"}
"""Arguments whose values are times, identities or loads: only that they are there and of which type."""


def argument(name, value):
    """What is compared of an argument."""
    if name in TYPE_ONLY:
        return f"<{type(value).__name__}>"
    if name == "response" and hasattr(value, "status_code"):
        return {"type": type(value).__name__, "status": value.status_code}
    if name == "data" and isinstance(value, dict):
        return sorted(value)
    if name == "context" and isinstance(value, dict):
        return {key: argument(key, each) for key, each in value.items()}
    return plain(value)


@events.quitting.add_listener
def sums(environment, **_):
    """What `environment.stats` has in the end. Registered first, for listeners of this event run in reverse order."""
    stats = environment.stats
    for entry in sorted(stats.entries.values(), key=lambda entry: (entry.name, entry.method)):
        write("note", f"stats {entry.method} {entry.name}", counts(entry))
    write("note", "stats total", counts(stats.total))
    for error in sorted(stats.errors.values(), key=lambda error: (error.name, error.method, str(error.error))):
        write("note", f"error {error.method} {error.name}", [error.to_name(), error.occurrences])
    for caught in environment.runner.exceptions.values():
        write("note", "exception", [caught["count"], caught["msg"], caught["traceback"], sorted(caught["nodes"])])


def counts(entry):
    return [entry.num_requests, entry.num_none_requests, entry.num_failures, entry.total_content_length]


def listen(kind):
    def listener(**arguments):
        write("event", kind, {name: argument(name, value) for name, value in arguments.items()})

    hook = getattr(events, kind, None)
    if hook is None:
        write("note", "missing event", kind)
    else:
        hook.add_listener(listener)


for each in sorted(KINDS):
    listen(each)
