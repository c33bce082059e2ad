from plimsoll.locust.debug import PrintListener, run_single_user

__all__ = ["PrintListener", "run_single_user"]
