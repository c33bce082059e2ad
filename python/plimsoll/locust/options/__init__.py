"""Options as a locustfile sees them: Locust's parser, and `environment.parsed_options`."""
