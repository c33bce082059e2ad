import subprocess
import sys

from benches.nginx import Nginx
from benches.others import Others
from benches.process import Measured


def test_work_of_a_process_that_is_not_ours_counts(nginx: Nginx) -> None:
    with Measured([sys.executable, "-c", "import time; time.sleep(600)"], {}) as generator:
        others = Others(nginx, generator)
        subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 1: pass"], check=True)
        assert others.seconds() > 0.8  # the machine may be busy besides, so there is no upper bound
