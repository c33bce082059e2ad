"""From a plan to a stored run: one coordinator, any number of worker processes, no statistics.

- options/: every option of a run in one table, and what reads their values
- planning: from the values of options to a plan. plan: what is to be run
- planned: a plan and where its results go, as one process hands them to another
- perform: a run from the checks before it to its exit code
- coordinator/: the process that a person starts. It launches workers, ramps users, adds up seconds, writes the store
- worker/: one process with an engine, users and their arrivals, and a snapshot each second
- transport/: messages between the two, and how they travel
- placers/: what starts workers elsewhere: by SSH, on Kubernetes, on Ray
- supervised/: commands that end when this process does. parent: a process that ends with the one that has started it
- dispatch: which class the next user has, and on which worker it runs
- manifest: what is needed to repeat a run. machine: what of this machine moves its numbers. limits: its limits
- calibration: what one worker of this machine can send. sizing: whether that is enough for a load
- exchange_log: every single exchange in a Parquet file
"""
