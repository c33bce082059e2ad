from plimsoll.users.shape import LoadTestShape, LoadTestShapeMeta

__all__ = ["LoadTestShape", "LoadTestShapeMeta"]
