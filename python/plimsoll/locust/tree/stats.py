import sys

from plimsoll.locust import stats

# The module itself and not its names: whoever sets CONSOLE_STATS_INTERVAL_SEC and the like sets them there.
sys.modules[__name__] = stats
