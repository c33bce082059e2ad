"""What steps of plans are besides requests, WebSockets and calls of gRPC; and the certificate files of TLS."""
