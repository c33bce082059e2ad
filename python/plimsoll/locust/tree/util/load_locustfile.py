from plimsoll.locust.util.load_locustfile import (
    is_shape_class,
    is_user_class,
    load_locustfile,
    load_locustfile_pytest,
)

__all__ = ["is_shape_class", "is_user_class", "load_locustfile", "load_locustfile_pytest"]
