from plimsoll.locust.options.arguments import (
    json_user_config,
    positive_integer,
    setup_parser_arguments,
    timespan,
)
from plimsoll.locust.options.parsed import (
    DEFAULT_CONFIG_FILES,
    UIExtraArgOptions,
    default_args_dict,
    get_empty_argument_parser,
    get_locustfiles_locally,
    get_parser,
    parse_locustfile_option,
    parse_options,
    ui_extra_args_dict,
)
from plimsoll.locust.options.parser import LocustArgumentParser

__all__ = [
    "DEFAULT_CONFIG_FILES",
    "LocustArgumentParser",
    "UIExtraArgOptions",
    "default_args_dict",
    "get_empty_argument_parser",
    "get_locustfiles_locally",
    "get_parser",
    "json_user_config",
    "parse_locustfile_option",
    "parse_options",
    "positive_integer",
    "setup_parser_arguments",
    "timespan",
    "ui_extra_args_dict",
]
