from plimsoll.locust.util.directory import get_abspaths_in

__all__ = ["get_abspaths_in"]
