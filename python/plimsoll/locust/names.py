"""The table behind `import locust`: it maps Locust's modules to our names.

A row is a module of Locust. Its value has the source of each name: {our module: "name name ours=theirs"}. A module
whose attributes locustfiles assign (`locust.stats.CONSOLE_STATS_INTERVAL_SEC = 5`) is our module itself.
"""

from __future__ import annotations

SAME_MODULE = {
    "locust.log": "plimsoll.users.log",
    "locust.runners": "plimsoll.locust.runners",
    "locust.stats": "plimsoll.locust.stats",
    "locust.web": "plimsoll.locust.web.ui",
}
"""Modules of Locust that are our own modules under another name."""

NAMES: dict[str, dict[str, str]] = {
    "locust": {
        "plimsoll.locust.api": (
            "__all__ FastHttpUser HttpLocust HttpUser LoadTestShape Locust MarkovTaskSet SequentialTaskSet "
            "TaskSet User between constant constant_pacing constant_throughput events poisson run_single_user tag "
            "task transition transitions wait_time"
        ),
        "plimsoll.locust.legacy": "LOCUST_VERSION=__version__",
        "plimsoll.users.events": "Events",
    },
    "locust._version": {"plimsoll.locust.legacy": "LOCUST_VERSION=__version__ LOCUST_VERSION=version"},
    "locust.argument_parser": {
        "plimsoll.locust.legacy": "LOCUST_VERSION=version",
        "plimsoll.locust.options.arguments": "json_user_config positive_integer setup_parser_arguments timespan",
        "plimsoll.locust.options.parsed": (
            "DEFAULT_CONFIG_FILES UIExtraArgOptions default_args_dict get_empty_argument_parser "
            "get_locustfiles_locally get_parser parse_locustfile_option parse_options ui_extra_args_dict"
        ),
        "plimsoll.locust.options.parser": "LocustArgumentParser",
    },
    "locust.clients": {
        "plimsoll.locust.adapter": "LocustHttpAdapter",
        "plimsoll.users.http.response": "ResponseContextManager ResponseContextManager=RestResponseContextManager",
        "plimsoll.users.http.session": "HttpSession",
        "plimsoll.users.http.url": "ABSOLUTE=absolute_http_url_regexp",
    },
    "locust.contrib": {},
    "locust.contrib.csv_request_logger": {"plimsoll.locust.contrib.csv_request_logger": "CSV_COLUMNS CsvRequestLogger"},
    "locust.contrib.dns": {"plimsoll.locust.contrib.dns": "DNSClient DNSUser"},
    "locust.contrib.fasthttp": {
        "plimsoll.locust.fasthttp.response": (
            "ErrorResponse FastResponse FastResponse=ResponseContextManager FastResponse=RestResponseContextManager"
        ),
        "plimsoll.locust.fasthttp.session": "FastHttpSession LocustUserAgent insecure_ssl_context_factory",
        "plimsoll.locust.fasthttp.user": "FastHttpUser",
        "plimsoll.locust.legacy": "FastHttpLocust",
        "plimsoll.users.failure": (
            "FAST_FAILURES=FAILURE_EXCEPTIONS HTTPConnectionClosed HTTPParseError LocustBadStatusCode"
        ),
        "plimsoll.users.http.url": "ABSOLUTE=absolute_http_url_regexp",
    },
    "locust.contrib.milvus": {"plimsoll.locust.contrib.milvus": "MilvusUser MilvusV2Client"},
    "locust.contrib.mongodb": {"plimsoll.locust.contrib.mongodb": "MongoDBClient MongoDBUser"},
    "locust.contrib.mqtt": {
        "plimsoll.locust.contrib.mqtt": "MqttClient MqttUser PublishedMessageContext REQUEST_TYPE SUBACK_FAILURE"
    },
    "locust.contrib.oai": {"plimsoll.locust.contrib.oai": "OpenAIClient OpenAIUser"},
    "locust.contrib.postgres": {"plimsoll.locust.contrib.postgres": "PostgresClient PostgresUser"},
    "locust.contrib.qdrant": {"plimsoll.locust.contrib.qdrant": "QdrantLocustClient QdrantUser"},
    "locust.contrib.socketio": {"plimsoll.locust.contrib.socketio": "SocketIOClient SocketIOUser"},
    "locust.debug": {"plimsoll.locust.debug": "PrintListener run_single_user"},
    "locust.dispatch": {"plimsoll.locust.dispatch": "UsersDispatcher"},
    "locust.env": {"plimsoll.locust.environment": "Environment"},
    "locust.event": {"plimsoll.users.events": "EventHook Events"},
    "locust.exception": {
        "plimsoll.users.exceptions": (
            "CatchResponseError InterruptTaskSet LocustError MissingWaitTimeError RescheduleTask "
            "RescheduleTaskImmediately ResponseError RPCError RPCReceiveError RPCSendError "
            "RunnerAlreadyExistsError StopTest StopUser"
        )
    },
    "locust.html": {"plimsoll.locust.html": "PERCENTILES_FOR_HTML_REPORT get_html_report process_html_filename"},
    "locust.input_events": {"plimsoll.locust.keyboard": "InitError get_poller input_listener"},
    "locust.main": {
        "plimsoll.locust.environment": "Environment",
        "plimsoll.locust.legacy": "LOCUST_VERSION=version",
        "plimsoll.locust.options.parsed": "get_locustfiles_locally get_parser parse_locustfile_option parse_options",
        "plimsoll.locust.keyboard": "input_listener",
        "plimsoll.locust.opentelemetry": "setup_opentelemetry",
        "plimsoll.locust.script.locustfile": "is_shape_class is_user_class load_locustfile",
        "plimsoll.locust.program": "create_environment main",
        "plimsoll.users.log": "greenlet_exception_logger setup_logging",
    },
    "locust.opentelemetry": {"plimsoll.locust.opentelemetry": "MAX_REQUEST_NAMES request_names setup_opentelemetry"},
    "locust.rpc": {"plimsoll.locust.messages": "Message"},
    "locust.rpc.protocol": {"plimsoll.locust.messages": "Message decode encode"},
    "locust.shape": {"plimsoll.locust.shape": "LoadTestShape LoadTestShapeMeta"},
    "locust.user": {
        "plimsoll.users": "wait_time",
        "plimsoll.users.tasks": "tag task",
        "plimsoll.users.taskset": "TaskSet",
        "plimsoll.users.user": "HttpUser User",
    },
    "locust.user.inspectuser": {"plimsoll.locust.inspectuser": "get_ratio print_task_ratio print_task_ratio_json"},
    "locust.user.markov_taskset": {
        "plimsoll.users.exceptions": (
            "InvalidTransitionError MarkovTaskTagError NoMarkovTasksError NonMarkovTaskTransitionError"
        ),
        "plimsoll.users.markov": "MarkovTaskSet MarkovTaskSetMeta transition transitions",
    },
    "locust.user.sequential_taskset": {"plimsoll.users.sequential": "SequentialTaskSet SequentialTaskSetMeta"},
    "locust.user.task": {
        "plimsoll.users.tasks": "collect_tasks=get_tasks_from_base_classes filter_tasks_by_tags tag task",
        "plimsoll.users.taskset": (
            "RUNNING=LOCUST_STATE_RUNNING STOPPING=LOCUST_STATE_STOPPING WAITING=LOCUST_STATE_WAITING "
            "DefaultTaskSet TaskSet TaskSetMeta"
        ),
    },
    "locust.user.users": {
        "plimsoll.locust.pytest_user": "PytestUser",
        "plimsoll.users.exceptions": "CatchResponseError StopTest StopUser",
        "plimsoll.users.http.response": "ResponseContextManager=RestResponseContextManager",
        "plimsoll.users.rest": "RestMixin",
        "plimsoll.users.http.session": "HttpSession",
        "plimsoll.users.tasks": "collect_tasks=get_tasks_from_base_classes",
        "plimsoll.users.taskset": (
            "RUNNING=LOCUST_STATE_RUNNING STOPPING=LOCUST_STATE_STOPPING WAITING=LOCUST_STATE_WAITING "
            "DefaultTaskSet TaskSet"
        ),
        "plimsoll.users.user": "HttpUser User UserMeta",
        "plimsoll.users.wait_time": "constant",
    },
    "locust.user.wait_time": {
        "plimsoll.users.wait_time": ("between constant constant_pacing constant_throughput poisson")
    },
    "locust.util": {},
    "locust.util.cache": {"plimsoll.locust.util": "memoize"},
    "locust.util.date": {"plimsoll.locust.util": "format_duration format_safe_timestamp format_utc_timestamp"},
    "locust.util.deprecation": {
        "plimsoll.locust.legacy": (
            "FastHttpLocust=DeprecatedFastHttpLocustClass HttpLocust=DeprecatedHttpLocustClass "
            "Locust=DeprecatedLocustClass"
        ),
        "plimsoll.users.user": "check_for_deprecated_task_set_attribute",
    },
    "locust.util.directory": {"plimsoll.locust.util": "get_abspaths_in"},
    "locust.util.exception_handler": {"plimsoll.locust.util": "retry"},
    "locust.util.load_locustfile": {
        "plimsoll.locust.script.locustfile": ("is_shape_class is_user_class load_locustfile load_locustfile_pytest")
    },
    "locust.util.rounding": {"plimsoll.locust.util": "proper_round"},
    "locust.util.timespan": {"plimsoll.locust.util": "parse_timespan"},
    "locust.util.url": {"plimsoll.locust.util": "is_url"},
}
