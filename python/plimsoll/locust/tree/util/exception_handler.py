from plimsoll.locust.util.exception_handler import retry

__all__ = ["retry"]
