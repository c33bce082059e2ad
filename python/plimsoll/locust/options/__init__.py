"""Options for a locustfile: Locust's parser, and `environment.parsed_options`."""
