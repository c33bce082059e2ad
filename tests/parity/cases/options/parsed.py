"""parsed_options has Locust's names with the values of this run."""

import gevent
from locust import User, events, tag, task
from parity import note

NAMES = """
host num_users spawn_rate run_time headless autostart autoquit tags exclude_tags csv_prefix
stats_history_enabled print_stats only_summary reset_stats html_file json json_file skip_log_setup loglevel
logfile show_task_ratio exit_code_on_error stop_timeout equal_weights profile processes master worker
expect_workers enable_rebalancing user_classes class_picker config_users web_port list_commands
""".split()  # noqa: SIM905


@events.init.add_listener
def show(environment, **_):
    options = environment.parsed_options
    for name in NAMES:
        note(name, getattr(options, name, "no such option"))
    note("environment", [environment.host, environment.stop_timeout, environment.tags, environment.exclude_tags])
    note("more", [environment.reset_stats, environment.profile, environment.locustfile, environment.catch_exceptions])
    note("classes", sorted(each.__name__ for each in environment.user_classes))
    note("by name", sorted(environment.user_classes_by_name))
    note("available", sorted(environment.available_user_classes or {}))
    note("shape", environment.shape_class)
    note("web_ui", environment.web_ui)
    note("exit", environment.process_exit_code)
    note("runner", [environment.runner.state, environment.runner.user_count, environment.runner.target_user_count])


class One(User):
    @tag("a")
    @task
    def work(self):
        gevent.sleep(9)


class Other(One):
    pass


# run plain: -t 2
# run many: -u 2 -r 2 -t 1s -s 1 -T a --exclude-tags b --reset-stats --exit-code-on-error 4 -L DEBUG One
# run time: -t 0m1s --only-summary --equal-weights --profile p Other
