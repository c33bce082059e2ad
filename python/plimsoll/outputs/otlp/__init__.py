"""OpenTelemetry's protocol: metrics, events as logs, and the slowest requests as spans, over HTTP or gRPC."""
