"""From a plan to a kept run: one coordinator, any number of worker processes, no statistics.

- plan: what is to be run; perform: a run from the checks before it to its exit code (verdict); limits: a check
- local: the coordinator on this machine, on a loop; launch: how its processes get ready; steering: how much load there
  is; dispatch: which class the next user has, and on which worker
- account: what is measured, and what a reset leaves out; progress: what the coordinator's observers see; store_writer: the
  one that feeds the store; live: those that people look at
- page_session: one run after another, as the page asks for them; form: what a locustfile has to be asked for;
  form_items: that, and the shares of tasks, as the page is told; own_page: what the locustfile adds to Locust's page
- worker: one worker, five methods without a transport; reports: what it says
- main_log: the lines of the log about the run as a whole
- script: what a worker runs; population and native: its users; caught: the exceptions that they let out
- transport: a worker's methods and reports over a socket; worker_main: its process; worker_process: the handle on that;
  log_sender: its log, for those who watch
- locustfile: the user's own code, found and imported, and its faults told by its own lines; class_names: no two classes
  of one name; describe: what is in it
- options: the options that the locustfile adds; config: Locust's configuration files
- manifest: what is needed to repeat a run; machine: what moves its numbers here; address: the URL of a run without a
  locustfile
"""
