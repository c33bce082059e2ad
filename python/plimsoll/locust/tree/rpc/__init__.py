from plimsoll.users.messages import Message

__all__ = ["Message"]
