"""The options of `plimsoll run`, and where their values come from.

- table: every option, a row each. option: what a row says. reference: the page that documents them
- parameter: an option as click reads it. command: the command line as Locust reads it, and the words for some values
- config: configuration files, and the values of --config-users. locustfiles: the files of -f
- locustfile_options: options that a locustfile adds
"""
