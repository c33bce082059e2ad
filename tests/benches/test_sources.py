import socket

from benches.sources import sources

TABLE = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1
   1: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 2
   2: 0100007F:9C41 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 3
   3: 0200007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 4
   4: 0300007F:9C40 0100007F:1F90 06 00000000:00000000 03:00000000 00000000     0        0 0
   5: 0400007F:9C40 0100007F:1F91 01 00000000:00000000 00:00000000 00000000     0        0 5
   6: 0100007F:1F90 0200007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 6
"""


def test_only_established_connections_to_the_port_count() -> None:
    assert sources(0x1F90, TABLE.splitlines()) == {"127.0.0.1", "127.0.0.2"}


def test_the_kernels_own_table() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for address in ("127.0.0.1", "127.9.8.7"):
            with socket.create_connection(("127.0.0.1", port), source_address=(address, 0)):
                assert sources(port) == {address}
