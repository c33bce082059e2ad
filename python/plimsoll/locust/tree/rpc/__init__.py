from plimsoll.locust.messages import Message

__all__ = ["Message"]
