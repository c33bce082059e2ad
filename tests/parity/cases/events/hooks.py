"""EventHook itself: listeners come and go, also while it fires; own hooks; the result of add_listener."""

from locust import User, events, task
from locust.event import EventHook
from parity import note

hook = EventHook()


def first(**arguments):
    note("first", arguments)


@hook.add_listener
def second(**arguments):
    note("second", arguments)
    hook.remove_listener(second)


note("returned", hook.add_listener(first) is first)
hook.add_listener(lambda a, **_: note("third", a))
hook.fire(a=1, b="two")
hook.fire(reverse=True, a=2)
try:
    hook.remove_listener(second)
except Exception as error:
    note("remove", error)
note("listeners", len(hook._handlers))
try:
    events.no_such_event  # noqa: B018
except Exception as error:
    note("missing", error)

events.my_own = EventHook()
events.my_own.add_listener(lambda **arguments: note("own", arguments))
note("kinds", sorted(name for name, value in vars(events).items() if isinstance(value, EventHook) and name != "my_own"))


class Firing(User):
    @task
    def fire(self):
        self.environment.events.my_own.fire(x=1)
        note("same", self.environment.events is events)
        self.environment.runner.quit()
