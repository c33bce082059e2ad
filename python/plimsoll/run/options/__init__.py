"""The options of `plimsoll run`, and where their values come from.

- table: every option, a row each. option: what a row says. reference: the page that documents them
- parameter: an option as click reads it. command: the command line as Locust reads it
- config: configuration files. locustfiles, download: the files of -f. config_users: the values of --config-users
- locustfile_options: options that a locustfile adds
"""
