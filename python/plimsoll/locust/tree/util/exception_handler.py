from plimsoll.users.util.exception_handler import retry

__all__ = ["retry"]
