from plimsoll.users.util.directory import get_abspaths_in

__all__ = ["get_abspaths_in"]
