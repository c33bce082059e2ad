import sys

from plimsoll.locust.web import ui as web

# The module itself and not its names: programs assign `web.HOST_IS_REQUIRED` and the like.
sys.modules[__name__] = web
