from plimsoll.users.contrib.oai import OpenAIClient, OpenAIUser

__all__ = ["OpenAIClient", "OpenAIUser"]
