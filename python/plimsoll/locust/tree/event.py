from plimsoll.users.events import EventHook, Events

__all__ = ["EventHook", "Events"]
