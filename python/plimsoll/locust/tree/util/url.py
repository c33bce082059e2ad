from plimsoll.locust.util.url import is_url

__all__ = ["is_url"]
