"""Modules of Locust that programs borrow from, and where their names come from here."""

from __future__ import annotations

import json
import os
import subprocess
import sys

CODE = """
from plimsoll.locust import install; install()
import importlib, json, sys
found = {}
for name in json.loads(sys.argv[1]):
    module, _, attribute = name.rpartition(".")
    value = getattr(importlib.import_module(module), attribute)
    found[name] = getattr(value, "__module__", None)
print(json.dumps(found))
"""

MISSING = """
from plimsoll.locust import install; install()
import importlib, json, sys
missing = json.loads(sys.argv[1])
hidden = {library.partition(".")[0] for library in missing.values()}
class Hide:
    def find_spec(self, name, *_):
        if name in hidden:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Hide())
errors = {}
for name in missing:
    try:
        importlib.import_module(f"locust.contrib.{name}")
    except ImportError as error:
        errors[name] = str(error)
print(json.dumps(errors))
"""

TASK = """
from plimsoll.locust import install; install()
import locust.contrib.fasthttp, locust.user.task
from locust.user import task, wait_time
print(callable(task), callable(wait_time.between))
"""

NAMES = {
    "locust.argument_parser.LocustArgumentParser": "plimsoll.locust.options.parser",
    "locust.argument_parser.setup_parser_arguments": "plimsoll.locust.options.arguments",
    "locust.argument_parser.get_parser": "plimsoll.locust.options.parsed",
    "locust.argument_parser.get_empty_argument_parser": "plimsoll.locust.options.parsed",
    "locust.argument_parser.parse_options": "plimsoll.locust.options.parsed",
    "locust.argument_parser.default_args_dict": "plimsoll.locust.options.parsed",
    "locust.argument_parser.ui_extra_args_dict": "plimsoll.locust.options.parsed",
    "locust.clients.absolute_http_url_regexp": "re",
    "locust.event.EventHook": "plimsoll.users.events",
    "locust.html.get_html_report": "plimsoll.locust.html",
    "locust.html.process_html_filename": "plimsoll.locust.html",
    "locust.input_events.input_listener": "plimsoll.locust.keyboard",
    "locust.main.main": "plimsoll.locust.program",
    "locust.main.create_environment": "plimsoll.locust.program",
    "locust.main.load_locustfile": "plimsoll.locust.script.locustfile",
    "locust.main.is_user_class": "plimsoll.locust.script.locustfile",
    "locust.main.version": None,
    "locust.runners.ExceptionDict": "plimsoll.locust.runners",
    "locust.user.inspectuser.print_task_ratio": "plimsoll.locust.inspectuser",
    "locust.user.task.get_tasks_from_base_classes": "plimsoll.users.tasks",
    "locust.user.users.StopUser": "plimsoll.users.exceptions",
    "locust.user.users.UserMeta": "plimsoll.users.user",
    "locust.util.cache.memoize": "plimsoll.locust.util",
    "locust.util.date.format_utc_timestamp": "plimsoll.locust.util",
    "locust.util.deprecation.DeprecatedLocustClass": "plimsoll.locust.legacy",
    "locust.util.deprecation.check_for_deprecated_task_set_attribute": "plimsoll.users.user",
    "locust.util.directory.get_abspaths_in": "plimsoll.locust.util",
    "locust.util.exception_handler.retry": "plimsoll.locust.util",
    "locust.util.load_locustfile.is_shape_class": "plimsoll.locust.script.locustfile",
    "locust.util.load_locustfile.load_locustfile_pytest": "plimsoll.locust.script.locustfile",
    "locust.util.rounding.proper_round": "plimsoll.locust.util",
    "locust.util.timespan.parse_timespan": "plimsoll.locust.util",
    "locust.util.url.is_url": "plimsoll.locust.util",
    "locust.contrib.csv_request_logger.CsvRequestLogger": "plimsoll.locust.contrib.csv_request_logger",
    "locust.contrib.dns.DNSUser": "plimsoll.locust.contrib.dns",
    "locust.contrib.fasthttp.LocustUserAgent": "plimsoll.locust.fasthttp.session",
    "locust.contrib.fasthttp.insecure_ssl_context_factory": "plimsoll.locust.fasthttp.session",
    "locust.contrib.mongodb.MongoDBUser": "plimsoll.locust.contrib.mongodb",
    "locust.contrib.mqtt.MqttUser": "plimsoll.locust.contrib.mqtt",
    "locust.contrib.oai.OpenAIUser": "plimsoll.locust.contrib.oai",
    "locust.contrib.postgres.PostgresUser": "plimsoll.locust.contrib.postgres",
    "locust.contrib.qdrant.QdrantUser": "plimsoll.locust.contrib.qdrant",
    "locust.contrib.socketio.SocketIOUser": "plimsoll.locust.contrib.socketio",
}


def run(*arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", *arguments], capture_output=True, text=True, timeout=60, env={**os.environ, **variables}
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_names_are_where_locust_has_them_and_come_from_here() -> None:
    assert json.loads(run(CODE, json.dumps(list(NAMES)), OPENAI_API_KEY="none")) == NAMES


def test_task_is_the_decorator_also_when_its_module_has_been_imported() -> None:
    assert run(TASK) == "True True"


def test_a_library_that_is_missing_is_told_with_its_package() -> None:
    missing = {
        "dns": ("dns.query", "dnspython"),
        "milvus": ("grpc.experimental.gevent", "pymilvus"),
        "mongodb": ("pymongo", "pymongo"),
        "mqtt": ("paho.mqtt.client", "paho-mqtt"),
        "oai": ("openai", "openai"),
        "postgres": ("psycopg", "'psycopg[binary]'"),
        "qdrant": ("qdrant_client", "qdrant-client"),
        "socketio": ("socketio", "'python-socketio[client]'"),
    }
    assert json.loads(run(MISSING, json.dumps({name: library for name, (library, _) in missing.items()}))) == {
        name: f"{library} is not installed: pip install {package}" for name, (library, package) in missing.items()
    }


def test_what_locust_patches_for_raw_requests_is_patched_here_too() -> None:
    code = (
        "from plimsoll.locust import install; install()\n"
        "import requests, urllib3, gevent.queue\n"
        "print(urllib3.connectionpool.ConnectionPool.QueueCls is gevent.queue.LifoQueue)"
    )
    assert run(code) == "True"
