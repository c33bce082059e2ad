from plimsoll.users.contrib.qdrant import QdrantLocustClient, QdrantUser

__all__ = ["QdrantLocustClient", "QdrantUser"]
