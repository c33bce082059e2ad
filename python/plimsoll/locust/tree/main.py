from plimsoll.locust.environment import Environment
from plimsoll.locust.legacy import LOCUST_VERSION as version  # noqa: N811 - Locust calls it so
from plimsoll.locust.options.parsed import get_locustfiles_locally, get_parser, parse_locustfile_option, parse_options
from plimsoll.locust.program import create_environment, main
from plimsoll.locust.util.keyboard import input_listener
from plimsoll.locust.util.load_locustfile import is_shape_class, is_user_class, load_locustfile
from plimsoll.users.log import greenlet_exception_logger, setup_logging

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
