"""A parser with configuration files of the program: those that it names, and no others."""

from pathlib import Path

from locust import argument_parser
from parity import note

FILES = {
    "a.conf": "users = 7\nhost = http://a\n",
    "b.conf": "users = 8\nspawn-rate = 3\n",
    "own.toml": "[tool.locust]\nusers = 9\ntags = ['x']\n",
    "given.conf": "users = 10\n",
    "unknown.conf": "nonsense = 1\n",
    "locust.conf": "users = 77\n",
}


def read(files, *words):
    parser = argument_parser.get_parser(default_config_files=files)
    try:
        found = parser.parse_args(words)
    except SystemExit as error:
        return error.code
    return [found.num_users, found.host, found.spawn_rate, found.tags]


for name, text in FILES.items():
    Path(name).write_text(text)
note("none", read([]))
note("one", read(["a.conf"]))
note("two", [read(["a.conf", "b.conf"]), read(["b.conf", "a.conf"])])
note("missing", read(["nowhere.conf", "~/nowhere.conf", "a.conf"]))
note("toml", read(["own.toml"]))
note("pattern", read(["a*.conf"]))
note("weaker than words", [read(["a.conf"], "-u", "3"), read(["a.conf"], "--config", "given.conf")])
note("unknown", read(["unknown.conf"]))
note("default", read(argument_parser.DEFAULT_CONFIG_FILES))

# option: script
