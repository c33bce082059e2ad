from plimsoll.locust.inspectuser import get_ratio, print_task_ratio, print_task_ratio_json

__all__ = ["get_ratio", "print_task_ratio", "print_task_ratio_json"]
