//! Allowed hosts: a host that is not allowed never gets a connection, and a kept connection continues.

use std::net::TcpListener;

use plimsoll_engine::{AllowList, AllowedHosts, OriginOptions};
use plimsoll_record::Outcome;

use crate::lab::{Lab, failure, get, origin, origin_with, response};
use crate::peer::{Peer, ok};

fn allowed(patterns: &[&str]) -> AllowedHosts {
    AllowedHosts::new(vec![AllowList::new(patterns.iter().copied(), "the list").unwrap()])
}

#[test]
fn a_host_that_is_not_allowed_gets_no_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut lab = Lab::new();
    lab.engine.allow(allowed(&["192.0.2.0/24", "*.example.com"]));
    for (host, named) in [
        ("127.0.0.1", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
        ("localhost", "(localhost)"),
    ] {
        let origin = origin(&format!("http://{host}:{port}"));
        let finished = lab.fetch(&origin, get(&origin));
        let failed = failure(&finished);
        assert_eq!((failed.outcome, failed.errno), (Outcome::Connect, None), "{host}");
        let message = &failed.message;
        assert!(message.starts_with("not allowed: ") && message.contains(named), "{host}: {message}");
        assert_eq!(finished.exchange.bytes_out, 0);
    }
    assert_eq!(listener.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "nobody has connected");
    lab.assert_empty();
}

#[test]
fn an_allowed_name_or_address_is_reached() {
    for (pattern, host) in [("localhost", "localhost"), ("127.0.0.0/8", "localhost"), ("127.0.0.1", "127.0.0.1")] {
        let peer = Peer::answering(ok("hello"));
        let mut lab = Lab::new();
        lab.engine.allow(allowed(&[pattern]));
        let origin = origin(&format!("http://{host}:{}", peer.address.port()));
        assert_eq!(response(&lab.fetch(&origin, get(&origin))).status, 200, "{pattern}");
    }
}

#[test]
fn a_kept_connection_is_not_asked_about_again() {
    let peer = Peer::answering(ok("hello"));
    let (mut lab, origin) = (Lab::new(), origin(&peer.url()));
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).status, 200);
    lab.engine.allow(allowed(&["192.0.2.1"]));
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).status, 200);
    assert_eq!(peer.connections(), 1);
    lab.client = lab.engine.client();
    assert_eq!(failure(&lab.fetch(&origin, get(&origin))).outcome, Outcome::Connect);
    assert_eq!(peer.connections(), 1);
}

#[test]
fn a_proxy_is_not_connected_to_for_a_target_that_is_not_allowed() {
    let peer = Peer::answering(ok(""));
    let options = OriginOptions { proxy: Some(peer.url()), ..OriginOptions::default() };
    let (mut lab, origin) = (Lab::new(), origin_with("http://other.test", &options));
    lab.engine.allow(allowed(&["127.0.0.1", "api.test"]));
    let finished = lab.fetch(&origin, get(&origin));
    assert!(failure(&finished).message.contains("other.test (behind a proxy"), "{:?}", finished.result);
    assert_eq!(peer.connections(), 0);
}

#[test]
fn a_client_that_is_not_allowed_to_connect_backs_off() {
    let (mut lab, origin) = (Lab::new(), origin("http://127.0.0.1:9"));
    lab.engine.allow(allowed(&["192.0.2.1"]));
    lab.engine.set_connect_backoff(true);
    for _ in 0..3 {
        assert!(failure(&lab.fetch(&origin, get(&origin))).message.starts_with("not allowed"));
    }
    assert!(lab.engine.backed_off() > 0);
    assert_eq!(lab.engine.sent(), 3);
}
