from plimsoll.run.options import get_locustfiles_locally, get_parser, parse_locustfile_option, parse_options
from plimsoll.users.environment import Environment
from plimsoll.users.legacy import LOCUST_VERSION as version  # noqa: N811 - Locust calls it so
from plimsoll.users.log import greenlet_exception_logger, setup_logging
from plimsoll.users.util.keyboard import input_listener
from plimsoll.users.util.load_locustfile import is_shape_class, is_user_class, load_locustfile
from plimsoll.users.util.program import create_environment, main

__all__ = [
    "Environment",
    "create_environment",
    "get_locustfiles_locally",
    "get_parser",
    "greenlet_exception_logger",
    "input_listener",
    "is_shape_class",
    "is_user_class",
    "load_locustfile",
    "main",
    "parse_locustfile_option",
    "parse_options",
    "setup_logging",
    "version",
]
