import sys

from plimsoll.users import log

# The module itself and not its names: `log.unhandled_greenlet_exception` changes.
sys.modules[__name__] = log
