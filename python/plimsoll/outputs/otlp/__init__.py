"""OpenTelemetry's protocol: metrics, events as logs, and requests as spans, over HTTP or gRPC."""
