//! Paths to an origin: Unix sockets, source addresses, names, proxies.

use std::net::{IpAddr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::thread;

use plimsoll_engine::{Call, OriginOptions};
use plimsoll_record::{Outcome, StampSource};

use crate::lab::{Lab, SECOND, STAMPS, failure, get, origin, origin_with, post, response};
use crate::peer::{Conn, Peer, gate, ok};

/// A label of 64 characters is invalid, so resolvers refuse it without a query.
const UNKNOWN: &str = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.invalid";

/// The path of a socket that is removed on drop.
struct SocketFile(PathBuf);

impl SocketFile {
    fn new(name: &str) -> SocketFile {
        let path = std::env::temp_dir().join(format!("plimsoll-{}-{name}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        SocketFile(path)
    }

    fn url(&self) -> String {
        format!("http+unix://{}", self.0.to_str().unwrap().replace('/', "%2F"))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_unix_socket_carries_exchanges_like_any_other() {
    let file = SocketFile::new("serves");
    let listener = UnixListener::bind(&file.0).unwrap();
    let peer = thread::spawn(move || {
        let mut conn = Conn::alone(listener.accept().unwrap().0);
        let head = conn.request();
        conn.write(ok("hello"));
        conn.serve(ok("again").as_bytes());
        head
    });
    let (mut lab, origin) = (Lab::new(), origin(&file.url()));
    let first = lab.fetch(&origin, get(&origin));
    assert_eq!((response(&first).body(), first.exchange.source), (&b"hello"[..], StampSource::User));
    assert!(first.exchange.connect > 0);
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"again");
    drop(lab);
    assert!(peer.join().unwrap().contains("\r\nHost: localhost\r\n"));
}

#[test]
fn a_unix_socket_that_is_not_there_is_a_failure_to_connect() {
    let file = SocketFile::new("absent");
    let (mut lab, origin) = (Lab::new(), origin(&file.url()));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!((failure(&finished).outcome, failure(&finished).errno), (Outcome::Connect, Some(libc::ENOENT)));
    lab.assert_empty();
}

#[test]
fn a_source_address_is_where_the_connection_comes_from() {
    let (came, wait_came) = gate();
    let peer = Peer::new(move |_, mut conn: Conn| {
        came.send(conn.stream.peer_addr().unwrap().ip()).unwrap();
        conn.serve(ok("hello").as_bytes());
    });
    for source in [[127, 0, 0, 1], [127, 0, 0, 77], [127, 1, 2, 3]].map(IpAddr::from) {
        let options = OriginOptions { source: Some(source), ..OriginOptions::default() };
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.url(), &options));
        assert_eq!(response(&lab.fetch(&origin, get(&origin))).status, 200);
        assert_eq!(wait_came.wait(), source);
    }
}

#[test]
fn clients_come_from_the_addresses_in_turn_and_keep_theirs() {
    let (came, wait_came) = gate();
    let peer = Peer::new(move |_, mut conn: Conn| {
        came.send(conn.stream.peer_addr().unwrap().ip()).unwrap();
        conn.request();
        conn.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    let [first, second, own] = [[127, 0, 0, 5], [127, 0, 0, 6], [127, 0, 0, 7]].map(IpAddr::from);
    let options = OriginOptions { source: Some(IpAddr::from([127, 0, 0, 8])), ..OriginOptions::default() };
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.url(), &options));
    lab.engine.set_addresses(vec![first, second]);
    let mut clients: Vec<_> = (0..3).map(|_| lab.engine.client()).collect();
    clients.insert(1, lab.engine.client_from(Some(own)));
    for _ in 0..2 {
        for (&client, source) in clients.iter().zip([first, own, second, first]) {
            lab.client = client;
            assert_eq!(response(&lab.fetch(&origin, get(&origin))).status, 200);
            assert_eq!((wait_came.wait(), lab.engine.source(client)), (source, Some(source)));
        }
    }
}

#[test]
fn a_source_address_that_is_not_ours_is_a_failure_to_connect() {
    // RFC 5737: this address is not used.
    let options = OriginOptions { source: Some("192.0.2.1".parse().unwrap()), ..OriginOptions::default() };
    let (mut lab, origin) = (Lab::new(), origin_with("http://127.0.0.1:9", &options));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!((failure(&finished).outcome, failure(&finished).errno), (Outcome::Connect, Some(libc::EADDRNOTAVAIL)));
    lab.assert_empty();
}

#[test]
fn an_ipv6_address_is_reached_where_there_is_ipv6() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else { return };
    let peer = Peer::on(listener, |_, mut conn| conn.serve(ok("hello").as_bytes()));
    for source in [None, Some("::1".parse().unwrap())] {
        let options = OriginOptions { source, ..OriginOptions::default() };
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.url(), &options));
        let finished = lab.fetch(&origin, get(&origin));
        assert_eq!((response(&finished).status, finished.exchange.source), (200, STAMPS));
    }
}

/// If `localhost` is `::1` first, that address refuses: the peer listens only on 127.0.0.1.
#[test]
fn a_name_is_resolved_once_for_all_waiting_connections_and_cached() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&format!("http://localhost:{}", peer.address.port())));
    for round in 0..2 {
        for _ in 0..5 {
            let client = lab.engine.client();
            lab.engine.send(client, &origin, get(&origin));
        }
        for _ in 0..5 {
            let finished = lab.finish();
            assert_eq!(response(&finished).status, 200);
            assert_eq!(finished.exchange.dns > 0, round == 0);
        }
    }
    assert_eq!(peer.connections(), 10);
}

#[test]
fn a_resolved_name_of_a_cancelled_exchange_serves_the_others() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&format!("http://localhost:{}", peer.address.port())));
    let given_up = lab.send(&origin, get(&origin));
    lab.engine.cancel(given_up);
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).status, 200);
    assert_eq!(peer.connections(), 1);
}

/// The two share a slot and wait for different names.
#[test]
fn a_resolved_name_of_a_cancelled_exchange_is_not_used_for_another_name() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, known) = (Lab::new(), origin(&format!("http://localhost:{}", peer.address.port())));
    let unknown = origin(&format!("http://{UNKNOWN}"));
    let given_up = lab.send(&known, get(&known));
    lab.engine.cancel(given_up);
    let finished = lab.fetch(&unknown, get(&unknown));
    assert!(failure(&finished).message.contains("cannot resolve"), "{finished:?}");
    assert_eq!(peer.connections(), 0);
}

#[test]
fn an_unknown_name_is_a_connect_failure_each_time() {
    let (mut lab, origin) = (Lab::new(), origin(&format!("http://{UNKNOWN}")));
    for _ in 0..2 {
        let finished = lab.fetch(&origin, get(&origin));
        let failure = failure(&finished);
        assert_eq!(failure.outcome, Outcome::Connect);
        assert!(failure.message.contains("cannot resolve"), "{failure:?}");
        lab.assert_empty();
    }
}

const ESTABLISHED: &str = "HTTP/1.1 200 Connection established\r\n\r\n";

fn through(proxy: &Peer, user: &str) -> OriginOptions {
    OriginOptions { proxy: Some(format!("http://{user}{}", proxy.address)), ..OriginOptions::default() }
}

#[test]
fn a_proxy_is_asked_for_a_tunnel_and_then_the_origin_for_the_rest() {
    for (user, authorization) in [("", None), ("me:p%40ss@", Some("Proxy-Authorization: Basic bWU6cEBzcw==\r\n"))] {
        let (asked, wait_asked) = gate();
        let proxy = Peer::new(move |_, mut conn| {
            asked.send(conn.request()).unwrap();
            conn.write(ESTABLISHED);
            asked.send(conn.request()).unwrap();
            conn.write(ok("through"));
            conn.serve(ok("again").as_bytes());
        });
        let (mut lab, origin) = (Lab::new(), origin_with("http://example.org:81", &through(&proxy, user)));
        let finished = lab.fetch(&origin, get(&origin));
        assert_eq!(response(&finished).body(), b"through");
        let tunnel = wait_asked.wait();
        assert!(tunnel.starts_with("CONNECT example.org:81 HTTP/1.1\r\nHost: example.org:81\r\n"), "{tunnel}");
        assert_eq!(tunnel.contains("Proxy-Authorization"), authorization.is_some());
        assert!(tunnel.contains(authorization.unwrap_or_default()), "{tunnel}");
        let request = wait_asked.wait();
        assert!(request.starts_with("GET / HTTP/1.1\r\nHost: example.org:81\r\n"), "{request}");
        assert!(!request.contains("Proxy-Authorization"), "credentials are for the proxy alone");
        // The tunnel is not part of the exchange's bytes, and stays open for the next one.
        assert_eq!(finished.exchange.bytes_in, ok("through").len() as u64);
        assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"again");
        assert_eq!(proxy.connections(), 1);
    }
}

#[test]
fn a_proxys_answer_may_come_in_pieces_and_after_interim_ones() {
    let proxy = Peer::new(|_, mut conn| {
        conn.request();
        for byte in "HTTP/1.1 102 Wait\r\n\r\nHTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\n".bytes() {
            conn.write([byte]);
        }
        conn.serve(ok("through").as_bytes());
    });
    let (mut lab, origin) = (Lab::new(), origin_with("http://example.org", &through(&proxy, "")));
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"through");
}

#[test]
fn a_proxy_that_does_not_let_us_through_is_a_failure_to_connect_that_says_why() {
    for (answer, message) in [
        ("HTTP/1.1 403 No\r\n\r\n", "the proxy refused with status 403"),
        ("HTTP/1.1 407 Who\r\nContent-Length: 3\r\n\r\nwho", "the proxy refused with status 407"),
        ("", "the proxy closed the connection"),
        ("HTTP/1.1 200 O", "the proxy closed the connection"),
        ("SOCKS", "the proxy's answer: the reply is not HTTP/1"),
        ("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "the proxy sent more than its answer"),
    ] {
        let proxy = Peer::new(move |_, mut conn| {
            conn.request();
            conn.write(answer);
        });
        let (mut lab, origin) = (Lab::new(), origin_with("http://example.org", &through(&proxy, "")));
        let finished = lab.fetch(&origin, post(&origin, b"x"));
        let failure = failure(&finished);
        assert_eq!(failure.outcome, Outcome::Connect, "{answer}: {failure:?}");
        assert!(failure.message.contains(message), "{answer}: {failure:?}");
        assert_eq!(finished.exchange.bytes_out, 0);
        lab.assert_empty();
    }
}

#[test]
fn a_proxy_that_says_nothing_is_a_timeout_of_connecting() {
    let proxy = Peer::new(|_, mut conn| drop(conn.rest()));
    let (mut lab, origin) = (Lab::new(), origin_with("http://example.org", &through(&proxy, "")));
    let limit = SECOND / 20;
    let finished = lab.fetch(&origin, Call { connect_timeout: limit, ..get(&origin) });
    assert_eq!(failure(&finished).outcome, Outcome::Timeout);
    assert_eq!(finished.exchange.times().service, limit);
    lab.assert_empty();
}
