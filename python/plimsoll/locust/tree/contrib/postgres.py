from plimsoll.locust.contrib.postgres import PostgresClient, PostgresUser

__all__ = ["PostgresClient", "PostgresUser"]
