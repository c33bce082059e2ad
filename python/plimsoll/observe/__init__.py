"""The target's side of a run, sampled once a second: the resources of its processes, the activity of its database.

- kinds: what can be observed, and its notation
- sampler: reads probes at equal intervals and keeps their values
- processes, owners, postgres, scrape, otlp: probes; prometheus: a server that is queried after the run
- exposition: the text that Prometheus scrapes; fetch: HTTP
- otlp_server, telemetry, spans, instruments: the data of OpenTelemetry's SDKs
"""
