from plimsoll.locust.contrib.mongodb import MongoDBClient, MongoDBUser

__all__ = ["MongoDBClient", "MongoDBUser"]
