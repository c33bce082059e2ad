from plimsoll.locust.util.timespan import parse_timespan

__all__ = ["parse_timespan"]
