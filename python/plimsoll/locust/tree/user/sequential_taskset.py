from plimsoll.users.sequential import SequentialTaskSet, SequentialTaskSetMeta

__all__ = ["SequentialTaskSet", "SequentialTaskSetMeta"]
