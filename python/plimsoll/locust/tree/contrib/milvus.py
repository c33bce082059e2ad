from plimsoll.locust.contrib.milvus import MilvusUser, MilvusV2Client

__all__ = ["MilvusUser", "MilvusV2Client"]
