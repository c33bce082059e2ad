from plimsoll.locust.util.date import format_duration, format_safe_timestamp, format_utc_timestamp

__all__ = ["format_duration", "format_safe_timestamp", "format_utc_timestamp"]
