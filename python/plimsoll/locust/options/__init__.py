"""The command line as Locust has it: options, configuration files, and what a locustfile adds."""
