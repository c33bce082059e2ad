from plimsoll.users.contrib.postgres import PostgresClient, PostgresUser

__all__ = ["PostgresClient", "PostgresUser"]
