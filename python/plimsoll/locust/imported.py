"""Names that modules of Locust have because they import them, and those that are not here.

Locustfiles use them: `from locust.user.task import logger`, `locust.clients.Response`. They are looked up when they are
asked for, so that a locustfile which needs none of them imports nothing for them.
"""

from __future__ import annotations

IMPORTED: dict[str, str] = {
    "locust": "gevent.monkey gevent.queue os urllib3",
    "locust.argument_parser": (
        "argparse ast atexit collections:OrderedDict configargparse difflib gevent json locust locust.rpc:Message "
        "locust.runners locust.util.directory:get_abspaths_in locust.util.timespan:parse_timespan "
        "locust.util.url:is_url math os platform requests socket sys tempfile textwrap tomllib typing:Any "
        "typing:NamedTuple urllib.parse:urlparse uuid:uuid4"
    ),
    "locust.clients": (
        "contextlib:contextmanager locust.event:EventHook locust.exception:CatchResponseError "
        "locust.exception:LocustError locust.exception:ResponseError os re requests requests.adapters:HTTPAdapter "
        "requests.auth:HTTPBasicAuth requests.compat:basestring requests.exceptions:InvalidSchema "
        "requests.exceptions:InvalidURL requests.exceptions:MissingSchema requests.exceptions:RequestException "
        "requests.utils:DEFAULT_CA_BUNDLE_PATH requests.utils:extract_zipped_paths requests:Response sys time "
        "typing:TYPE_CHECKING typing:cast typing_extensions:override urllib.parse:unquote urllib.parse:urlparse "
        "urllib.parse:urlunparse urllib3.util:create_urllib3_context urllib3:PoolManager"
    ),
    "locust.contrib": "locust.contrib.fasthttp",
    "locust.contrib.csv_request_logger": (
        "csv io logger:locust.contrib.csv_request_logger=logger logging time typing:Any typing:TYPE_CHECKING"
    ),
    "locust.contrib.fasthttp": (
        "requests:PreparedRequest=FastRequest "
        "base64:b64encode charset_normalizer:detect contextlib:contextmanager gevent gevent.timeout:Timeout "
        "geventhttpclient.client:HTTPClientPool geventhttpclient.header:Headers "
        "geventhttpclient.response:HTTPSocketPoolResponse geventhttpclient.useragent:CompatRequest "
        "geventhttpclient.useragent:CompatResponse geventhttpclient.useragent:ConnectionError "
        "geventhttpclient.useragent:UserAgent http.cookiejar:CookieJar json json=unshadowed_json "
        "locust.exception:CatchResponseError locust.exception:LocustError locust.exception:ResponseError "
        "locust.exception:StopTest locust.user.users:RestMixin locust.user:User re "
        "requests.utils:get_encoding_from_headers socket ssl:SSLError time typing:TYPE_CHECKING "
        "urllib.parse:unquote urllib.parse:urlparse urllib.parse:urlunparse zlib"
    ),
    "locust.contrib.mqtt": (
        "contextlib:suppress locust.env:Environment locust:User paho.mqtt.client=mqtt "
        "paho.mqtt.enums:MQTTErrorCode random selectors time typing"
    ),
    "locust.contrib.socketio": "gevent locust.event:EventHook locust:User socketio typing:Any",
    "locust.debug": (
        "datetime:UTC datetime:datetime inspect locust locust.argument_parser locust.env:Environment "
        "locust.exception:CatchResponseError locust.exception:RescheduleTask os typing:TYPE_CHECKING"
    ),
    "locust.dispatch": (
        "collections.abc:Iterator collections:defaultdict contextlib gevent heapq:heapify heapq:heapreplace "
        "itertools math math:log2 operator:attrgetter time typing:TYPE_CHECKING"
    ),
    "locust.env": (
        "collections.abc:Callable configargparse:Namespace locust.dispatch:UsersDispatcher locust.event:Events "
        "locust.exception:RunnerAlreadyExistsError locust.runners:LocalRunner locust.runners:MasterRunner "
        "locust.runners:Runner locust.runners:WorkerRunner locust.shape:LoadTestShape locust.stats:RequestStats "
        "locust.stats:StatsCSV locust.user.task:TaskSet locust.user.task:filter_tasks_by_tags locust.user:User "
        "locust.web:WebUI operator:methodcaller typing:TypeVar"
    ),
    "locust.event": (
        "collections.abc:Generator contextlib:contextmanager locust.exception:InterruptTaskSet "
        "locust.exception:RescheduleTask locust.exception:RescheduleTaskImmediately locust.exception:StopTest "
        "locust.exception:StopUser locust.log logging time traceback typing:Any"
    ),
    "locust.html": (
        "itertools:chain jinja2:Environment=JinjaEnvironment jinja2:FileSystemLoader locust.runners:MasterRunner "
        "locust.runners:STATE_STOPPED locust.runners:STATE_STOPPING locust.stats locust.user.inspectuser:get_ratio "
        "locust.util.date:format_duration locust.util.date:format_utc_timestamp os"
    ),
    "locust.input_events": "collections collections.abc:Callable gevent logging os select sys termios tty",
    "locust.log": "os re",
    "locust.main": (
        "atexit errno gc gevent inspect itertools locust locust.html:get_html_report "
        "locust.html:process_html_filename locust.log locust.stats locust.user.inspectuser:print_task_ratio "
        "locust.user.inspectuser:print_task_ratio_json locust.util.load_locustfile:load_locustfile_pytest logging "
        "os signal sys time traceback typing:TYPE_CHECKING webbrowser"
    ),
    "locust.opentelemetry": (
        "locust.runners:MasterRunner locust.runners:WorkerRunner locust:events logger:locust.opentelemetry=logger "
        "logging os socket urllib.parse:urlparse"
    ),
    "locust.rpc": "locust.rpc.protocol",
    "locust.rpc.protocol": "datetime msgpack",
    "locust.runners": (
        "abc:abstractmethod collections.abc:Callable collections.abc:Iterator collections.abc:MutableMapping "
        "collections.abc:ValuesView collections:defaultdict functools greenlet inspect json locust.argument_parser "
        "locust.dispatch:UsersDispatcher locust.exception:RPCError locust.exception:RPCReceiveError "
        "locust.exception:RPCSendError locust.log:get_logs locust.log:greenlet_exception_logger "
        "locust.stats:RequestStats locust.stats:StatsError locust.user.task:LOCUST_STATE_STOPPING "
        "locust.util.directory:get_abspaths_in locust.util.url:is_url operator:itemgetter operator:methodcaller os "
        "psutil re socket sys traceback types:TracebackType typing:NoReturn typing:cast uuid:uuid4"
    ),
    "locust.shape": "abc:ABCMeta abc:abstractmethod locust.runners:Runner time typing:ClassVar typing:TYPE_CHECKING",
    "locust.stats": (
        "abc:abstractmethod collections:OrderedDict collections:defaultdict collections:namedtuple copy:copy csv "
        "gevent hashlib itertools:chain json locust.exception:CatchResponseError "
        "locust.util.date:format_utc_timestamp locust.util.rounding:proper_round logger:locust.stats=logger "
        "logging os signal sys time typing:Protocol typing:TypeVar typing:TypedDict typing:cast"
    ),
    "locust.user": (
        "locust.user.inspectuser locust.user.markov_taskset locust.user.sequential_taskset locust.user.users"
    ),
    "locust.user.inspectuser": (
        "collections:defaultdict inspect json:dumps locust.user.task:TaskSet locust.user.users:User"
    ),
    "locust.user.markov_taskset": (
        "collections.abc:Callable locust.exception:LocustError locust.user.task:TaskSetMeta "
        "locust.user.users:TaskSet logging random"
    ),
    "locust.user.sequential_taskset": (
        "itertools:cycle locust.exception:LocustError locust.user.task:TaskSet locust.user.task:TaskSetMeta"
    ),
    "locust.user.task": (
        "collections.abc:Callable collections:deque gevent gevent:GreenletExit locust.exception:InterruptTaskSet "
        "locust.exception:MissingWaitTimeError locust.exception:RescheduleTask "
        "locust.exception:RescheduleTaskImmediately locust.exception:StopTest locust.exception:StopUser "
        "logger:locust.user.task=logger logging random time:perf_counter time:time traceback typing:Protocol "
        "typing:TYPE_CHECKING typing:TypeVar typing:final typing:overload typing:runtime_checkable"
    ),
    "locust.user.users": (
        "collections.abc:Callable contextlib:contextmanager gevent.greenlet gevent.pool:Group gevent:GreenletExit "
        "geventhttpclient.useragent:ConnectionError json.decoder:JSONDecodeError locust.util.deprecation "
        "logger:locust.user.users=logger logging re requests.exceptions:RequestException sys time traceback "
        "typing:Any typing:Generic typing:TYPE_CHECKING typing:TypeVar typing:final typing_extensions:override "
        "urllib3:PoolManager"
    ),
    "locust.user.wait_time": "collections.abc:Callable random time:perf_counter typing:TYPE_CHECKING",
    "locust.util": (
        "locust.util.cache locust.util.date locust.util.deprecation locust.util.directory "
        "locust.util.exception_handler locust.util.load_locustfile locust.util.rounding locust.util.timespan "
        "locust.util.url"
    ),
    "locust.util.cache": "functools time:time",
    "locust.util.date": "datetime:UTC datetime:datetime",
    "locust.util.deprecation": "warnings",
    "locust.util.directory": "os",
    "locust.util.exception_handler": "logger:locust.util.exception_handler=logger logging time",
    "locust.util.load_locustfile": (
        "importlib inspect locust.shape:LoadTestShape locust.user.users:PytestUser locust.user:User os sys"
    ),
    "locust.util.timespan": "datetime:timedelta re",
    "locust.util.url": "urllib.parse:urlparse",
    "locust.web": (
        "csv flask:Blueprint flask:Flask flask:Response flask:jsonify flask:make_response flask:redirect "
        "flask:render_template flask:request flask:send_file flask:send_from_directory flask:session flask:url_for "
        "flask_cors:CORS flask_login:LoginManager flask_login:login_required functools:wraps io:StringIO itertools "
        "jinja2:TemplateNotFound json json:dumps locust.argument_parser locust.contrib.fasthttp "
        "locust.html:get_html_report locust.log:get_logs locust.log:greenlet_exception_logger "
        "locust.runners:MasterRunner locust.runners:STATE_MISSING locust.runners:STATE_RUNNING locust.stats "
        "locust.user.inspectuser:get_ratio locust.user.users:HttpUser locust.util.date:format_safe_timestamp "
        "locust.util.timespan:parse_timespan locust:__version__=version math mimetypes os typing:TypedDict"
    ),
}
"""By module of Locust: source[:name][=name there]. "logger:" is followed by the name of a logger."""

NOT_HERE: dict[str, str] = {
    "locust.argument_parser": (
        "LocustConfigParser LocustTomlConfigParser download_locustfile_from_master download_locustfile_from_url "
        "exit_handler gt_zero parse_locustfile_paths parse_locustfiles_from_master raise_argument_type_error "
        "retrieve_locustfiles_from_master zmqrpc"
    ),
    "locust.env": "RunnerType TaskHolder",
    "locust.event": "DeprecatedEventHook",
    "locust.html": "DEFAULT_BUILD_PATH render_template_from",
    "locust.input_events": "UnixKeyPoller WindowsKeyPoller",
    "locust.main": "COMMON_OPTIONS merge_locustfiles_content",
    "locust.rpc": "rpc zmqrpc",
    "locust.rpc.protocol": "ObjectId",
    "locust.runners": "locust_exception_handler rpc setup_distributed_stats_event_listeners",
    "locust.stats": (
        "RequestStatsAdditionError S StatsBaseDict StatsHolder resize_handler setup_distributed_stats_event_listeners"
    ),
    "locust.user.markov_taskset": (
        "MarkovTaskT get_markov_tasks is_markov_task to_weighted_list validate_has_markov_tasks "
        "validate_markov_chain validate_no_tags validate_no_unreachable_tasks validate_task_name "
        "validate_transitions"
    ),
    "locust.user.task": "TaskHolder TaskT is_markov_taskset",
    "locust.user.users": "RestResponseT",
    "locust.util.deprecation": "deprecated_locust_meta_class",
    "locust.web": (
        "AuthArgs AuthProvider CustomForm DEFAULT_BUILD_PATH InputField greenlet_exception_handler render_template_from"
    ),
}
"""Names that Locust 2.47 itself defines, and that are not here: its own workings, and names for type checkers."""

DROPPED: dict[str, str] = {
    "locust.TaskSequence": "SequentialTaskSet in its place, since Locust 1.0",
    "locust.core": "locust.user in its place, since Locust 1.0",
    "locust.events.EventHook": "locust.event.EventHook in its place, since Locust 1.0",
    "locust.exception.StopLocust": "StopUser in its place, since Locust 1.0",
    "locust.inspectlocust": "locust.user.inspectuser in its place, since Locust 1.0",
    "locust.runners.LocalLocustRunner": "LocalRunner in its place, since Locust 1.0",
    "locust.runners.LocustRunner": "Runner in its place, since Locust 1.0",
    "locust.runners.MasterLocustRunner": "MasterRunner in its place, since Locust 1.0",
    "locust.runners.SlaveLocustRunner": "WorkerRunner in its place, since Locust 1.0",
    "locust.runners.WorkerLocustRunner": "WorkerRunner in its place, since Locust 1.0",
    "locust.runners.locust_runner": "environment.runner in its place, since Locust 1.0",
    "locust.runners.global_stats": "environment.stats in its place, since Locust 1.0",
    "locust.seq_task": "@task in a SequentialTaskSet in its place, since Locust 1.0",
    "locust.stats.global_stats": "environment.stats in its place, since Locust 1.0",
    "locust.web.app": "environment.web_ui.app in its place, since Locust 1.0",
}
"""Names that Locust itself dropped, and what there is in their place."""
