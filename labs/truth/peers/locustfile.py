"""Users of the real Locust, each at about ten requests per second: 500/s with 50 users."""

from typing import Any

from locust import FastHttpUser, constant_throughput, events, task


@events.init_command_line_parser.add_listener
def add_path(parser: Any) -> None:
    parser.add_argument("--path", required=True)


class Peer(FastHttpUser):
    wait_time = constant_throughput(10)

    @task
    def get(self) -> None:
        self.client.get(self.environment.parsed_options.path)
