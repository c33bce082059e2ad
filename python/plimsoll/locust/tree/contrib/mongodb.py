from plimsoll.users.contrib.mongodb import MongoDBClient, MongoDBUser

__all__ = ["MongoDBClient", "MongoDBUser"]
