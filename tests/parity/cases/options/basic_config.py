"""logging.basicConfig() while the locustfile is imported: it has effect until the tool's own logging is set up."""

import logging
from pathlib import Path

logging.basicConfig(filename="mine.log", level=logging.DEBUG, format="MINE %(levelname)s %(message)s")
logging.info("at import")

from locust import User, constant, task  # noqa: E402
from parity import note  # noqa: E402


class Once(User):
    wait_time = constant(60)

    @task
    def work(self):
        logging.info("in a task")
        logging.getLogger("own").warning("of a logger with a name")
        note(
            "mine",
            [line for line in Path("mine.log").read_text().splitlines() if line.endswith(("import", "task", "name"))],
        )
        note("root", [logging.getLevelName(logging.getLogger().level), len(logging.getLogger().handlers) > 0])
        self.environment.runner.quit()


# compare: log
# run plain:
# run skipped: --skip-log-setup
