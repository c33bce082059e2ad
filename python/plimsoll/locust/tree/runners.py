import sys

from plimsoll.locust import runners

# The module itself and not its names: locustfiles assign `runners.WORKER_REPORT_INTERVAL` and the like.
sys.modules[__name__] = runners
