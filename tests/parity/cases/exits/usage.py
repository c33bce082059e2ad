"""What cannot be run: exit codes of wrong arguments, files and classes."""

from locust import User, task


class Known(User):
    @task
    def work(self):
        pass


# option: bare
# run class: -f locustfile.py --headless -t 1 Unknown
# run file: -f missing.py --headless -t 1
# run none: --headless -t 1 -f empty.py
# run option: -f locustfile.py --no-such-option
# run users: -f locustfile.py --headless -u none
# run rate: -f locustfile.py --headless -u 1 -r 0 -t 1
# run negative: -f locustfile.py --headless -u -1 -t 1
# run time: -f locustfile.py --headless -t soon
# run list: -f locustfile.py --list
# run autoquit: -f locustfile.py --autoquit 1
