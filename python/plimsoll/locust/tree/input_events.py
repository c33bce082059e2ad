from plimsoll.locust.util.keyboard import InitError, get_poller, input_listener

__all__ = ["InitError", "get_poller", "input_listener"]
