"""Modules and names that locustfiles import."""

import importlib

from locust import User, task
from parity import note

NAMES = {
    "locust": """FastHttpUser HttpLocust HttpUser LoadTestShape Locust MarkovTaskSet SequentialTaskSet TaskSet User
        __version__ between constant constant_pacing constant_throughput events poisson run_single_user tag task
        transition transitions wait_time""",
    "locust.clients": "HttpSession ResponseContextManager LocustResponse",
    "locust.contrib.fasthttp": """FastHttpSession FastHttpUser FastResponse ErrorResponse LocustUserAgent
        ResponseContextManager""",
    "locust.debug": "run_single_user PrintListener",
    "locust.dispatch": "UsersDispatcher",
    "locust.env": "Environment",
    "locust.event": "EventHook Events",
    "locust.exception": """LocustError ResponseError CatchResponseError MissingWaitTimeError InterruptTaskSet StopTest
        StopUser RescheduleTask RescheduleTaskImmediately RPCError RPCSendError RPCReceiveError
        RunnerAlreadyExistsError""",
    "locust.log": "setup_logging",
    "locust.main": "main",
    "locust.runners": """LocalRunner MasterRunner WorkerRunner Runner DistributedRunner STATE_INIT
        STATE_SPAWNING STATE_RUNNING
        STATE_CLEANUP STATE_STOPPING STATE_STOPPED STATE_MISSING WORKER_REPORT_INTERVAL HEARTBEAT_INTERVAL""",
    "locust.shape": "LoadTestShape",
    "locust.stats": """RequestStats StatsEntry StatsError StatsCSV StatsCSVFileWriter stats_printer
        stats_history print_stats
        print_percentile_stats print_error_report PERCENTILES_TO_REPORT PERCENTILES_TO_CHART CSV_STATS_INTERVAL_SEC
        CONSOLE_STATS_INTERVAL_SEC HISTORY_STATS_INTERVAL_SEC sort_stats calculate_response_time_percentile
        get_readable_percentiles print_stats_json get_stats_summary""",
    "locust.user": "HttpUser User TaskSet SequentialTaskSet task tag wait_time",
    "locust.user.markov_taskset": "MarkovTaskSet transition transitions",
    "locust.user.sequential_taskset": "SequentialTaskSet",
    "locust.user.task": """TaskSet task tag DefaultTaskSet LOCUST_STATE_RUNNING LOCUST_STATE_STOPPING
        LOCUST_STATE_WAITING""",
    "locust.user.users": "User HttpUser UserMeta",
    "locust.user.wait_time": "between constant constant_pacing constant_throughput",
    "locust.util.timespan": "parse_timespan",
    "locust.web": "WebUI HOST_IS_REQUIRED",
    "locust.argument_parser": "LocustArgumentParser parse_options setup_parser_arguments",
    "locust.html": "get_html_report",
    "locust.input_events": "input_listener",
    "locust.rpc": "zmqrpc protocol",
    "locust.util.cache": "memoize",
    "locust.util.load_locustfile": "load_locustfile",
    "locust.util.deprecation": "check_for_deprecated_wait_api",
    "locust.util.rounding": "proper_round",
    "locust.util.directory": "get_abspaths_in",
    "locust.util.url": "is_url",
    "locust.contrib.postgres": "PostgresUser",
    "locust.contrib.csv_request_logger": "CsvRequestLogger",
    "locust.contrib.dns": "DNSUser",
    "locust.contrib.socketio": "SocketIOUser",
}

for module, names in NAMES.items():
    try:
        loaded = importlib.import_module(module)
    except ImportError as error:
        note(module, type(error).__name__)
        continue
    note(module, sorted(name for name in names.split() if not hasattr(loaded, name)))


class Nothing(User):
    @task
    def end(self):
        self.environment.runner.quit()
