import subprocess
import sys
import time

from benches.nginx import Nginx
from benches.others import Others
from benches.process import Measured


def test_only_work_that_is_not_ours_counts(nginx: Nginx) -> None:
    ours = [sys.executable, "-c", "while True: pass"]
    foreign = [sys.executable, "-c", "import time\nwhile time.process_time() < 1: pass"]
    with Measured(ours, {}) as generator:
        others = Others(nginx, generator)
        before = generator.cpu_seconds()[0]
        while generator.cpu_seconds()[0] < before + 0.5:
            time.sleep(0.05)
        without, used = others.seconds(), generator.cpu_seconds()[0] - before
        subprocess.run(foreign, check=True)
        assert others.seconds() - without > 0.8
        assert used >= 0.5
