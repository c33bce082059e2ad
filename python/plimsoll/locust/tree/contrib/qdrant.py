from plimsoll.locust.contrib.qdrant import QdrantLocustClient, QdrantUser

__all__ = ["QdrantLocustClient", "QdrantUser"]
