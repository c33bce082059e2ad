"""The target's side of a run, looked at once a second: what its processes take, what its database does.

- kinds: what can be observed, and how that is written
- sampler: asks probes at even distances and keeps their figures
- processes, owners, postgres, scrape, otlp: probes; prometheus: a server that is asked when the run is over
- exposition: the text that Prometheus scrapes; fetch: HTTP
- otlp_server, telemetry, spans, instruments: what OpenTelemetry's SDKs send
"""
