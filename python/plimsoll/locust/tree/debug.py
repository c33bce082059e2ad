from plimsoll.users.debug import PrintListener, run_single_user

__all__ = ["PrintListener", "run_single_user"]
