"""From a plan to a kept run: one coordinator, any number of worker processes, no statistics.

- plan: what is to be run; perform: a run from the checks before it to its exit code
- locustfile: the user's own code, found and imported, and its faults told in its own terms; options: those it adds
- dispatch: which class the next user has, and on which worker
- worker: one worker, five methods without a transport; script, population, native: what it runs; reports: what it says
- transport: these methods and reports over a socket; worker_main: a worker process; process: the handle on one
- local: the coordinator on this machine; progress: what its observers see; keeper: the one that feeds the store
- live: the one that people look at; manifest: what is needed to repeat the run; config: Locust's configuration files
"""
