from plimsoll.locust.contrib.oai import OpenAIClient, OpenAIUser

__all__ = ["OpenAIClient", "OpenAIUser"]
