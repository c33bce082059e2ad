from plimsoll.locust.shape import LoadTestShape, LoadTestShapeMeta

__all__ = ["LoadTestShape", "LoadTestShapeMeta"]
