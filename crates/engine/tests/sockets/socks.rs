//! SOCKS 5 proxies: what they are asked, what comes after their answers, and what their refusals become.

use plimsoll_engine::{Call, OriginOptions, Rules};
use plimsoll_record::Outcome;

use crate::lab::{Lab, SECOND, failure, get, origin_with, response};
use crate::peer::{Conn, Gate, Peer, gate, ok};
use crate::shift::{Shift, get as step};

const OPENED: [u8; 10] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0];

fn through(proxy: &Peer, scheme: &str) -> OriginOptions {
    OriginOptions { proxy: Some(format!("{scheme}://{}", proxy.address)), ..OriginOptions::default() }
}

/// Takes a greeting without a user, and the request. Returns the request.
fn asked(conn: &mut Conn) -> Vec<u8> {
    assert_eq!(conn.body(3), [5, 1, 0]);
    conn.write([5, 0]);
    let mut request = conn.body(5);
    let length = match request[3] {
        1 => 4 + 4 + 2,
        4 => 4 + 16 + 2,
        _ => 5 + usize::from(request[4]) + 2,
    };
    request.extend(conn.body(length - 5));
    request
}

/// A proxy that opens each tunnel, byte by byte, and serves what comes through it. Sends what it was asked.
fn opening() -> (Peer, Gate<Vec<u8>>) {
    let (requests, wait) = gate();
    let proxy = Peer::new(move |_, mut conn| {
        requests.send(asked(&mut conn)).unwrap();
        for byte in OPENED {
            conn.write([byte]);
        }
        conn.serve(ok("through").as_bytes());
    });
    (proxy, wait)
}

#[test]
fn a_proxy_gets_a_name_or_an_address() {
    for (scheme, url, expected) in [
        ("socks5h", "http://inside.test:81", &b"\x05\x01\x00\x03\x0binside.test\x00\x51"[..]),
        ("socks5h", "http://10.0.0.1", b"\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50"),
        ("socks5", "http://10.0.0.1", b"\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50"),
        ("socks5", "http://[::1]:81", b"\x05\x01\x00\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x00\x51"),
    ] {
        let (proxy, requests) = opening();
        let (mut lab, origin) = (Lab::new(), origin_with(url, &through(&proxy, scheme)));
        for _ in 0..2 {
            let finished = lab.fetch(&origin, get(&origin));
            assert_eq!(response(&finished).body(), b"through");
            // What is said to the proxy is not part of the exchange's bytes.
            assert_eq!(finished.exchange.bytes_in, ok("through").len() as u64);
        }
        assert_eq!(requests.wait(), expected, "{scheme} {url}");
        assert_eq!(proxy.connections(), 1);
    }
}

#[test]
fn a_name_is_resolved_here_with_socks5() {
    let (proxy, requests) = opening();
    let (mut lab, origin) = (Lab::new(), origin_with("http://localhost:81", &through(&proxy, "socks5")));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!(response(&finished).body(), b"through");
    let request = requests.wait();
    assert!(matches!(&request[..], [5, 1, 0, 1, 127, .., 0, 81] | [5, 1, 0, 4, .., 1, 0, 81]), "{request:?}");
    assert!(finished.exchange.dns > 0 && finished.exchange.connect > 0, "{:?}", finished.exchange);
}

#[test]
fn a_name_that_is_unknown_here_is_not_asked_of_the_proxy() {
    let proxy = Peer::new(|_, _| {});
    let name = "x".repeat(64);
    let (mut lab, origin) = (Lab::new(), origin_with(&format!("http://{name}.invalid"), &through(&proxy, "socks5")));
    let finished = lab.fetch(&origin, get(&origin));
    let failure = failure(&finished);
    assert!(failure.message.starts_with(&format!("cannot resolve {name}.invalid")), "{failure:?}");
    assert_eq!((failure.outcome, proxy.connections()), (Outcome::Connect, 0));
    lab.assert_empty();
}

#[test]
fn a_user_and_a_password_are_for_the_proxy_alone() {
    let proxy = Peer::new(|_, mut conn| {
        assert_eq!(conn.body(4), [5, 2, 0, 2]);
        conn.write([5, 2]);
        assert_eq!(conn.body(9), b"\x01\x02me\x04p@ss");
        conn.write([1, 0]);
        assert_eq!(conn.body(18), b"\x05\x01\x00\x03\x0binside.test\x00\x50");
        conn.write(OPENED);
        let request = conn.request();
        assert!(!request.contains("Authorization"), "{request}");
        conn.write(ok("through"));
    });
    let options =
        OriginOptions { proxy: Some(format!("socks5h://me:p%40ss@{}", proxy.address)), ..OriginOptions::default() };
    let (mut lab, origin) = (Lab::new(), origin_with("http://inside.test", &options));
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"through");
}

#[test]
fn a_proxy_that_does_not_let_us_through_is_a_failure_to_connect_that_says_why() {
    for (answer, message) in [
        (&b""[..], "the proxy closed the connection"),
        (&[5], "the proxy closed the connection"),
        (&[5, 0xff], "the proxy wants a user and a password"),
        (&[5, 0, 5, 2, 0, 1, 0, 0, 0, 0, 0, 0], "code 2: its rules do not allow the connection"),
        (&[5, 0, 5, 5], "the proxy refused with code 5: connection refused"),
        (&[5, 0, 5, 0, 0, 1, 0], "the proxy closed the connection"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the proxy does not speak SOCKS 5; is it an HTTP proxy (http://)?"),
    ] {
        let proxy = Peer::new(move |_, mut conn| {
            conn.body(3);
            conn.write(answer);
            conn.finish_writing();
            conn.rest();
        });
        let (mut lab, origin) = (Lab::new(), origin_with("http://inside.test", &through(&proxy, "socks5h")));
        let finished = lab.fetch(&origin, get(&origin));
        let failure = failure(&finished);
        assert_eq!(failure.outcome, Outcome::Connect, "{answer:?}: {failure:?}");
        assert!(failure.message.contains(message), "{answer:?}: {failure:?}");
        assert_eq!(finished.exchange.bytes_out, 0);
        lab.assert_empty();
    }
}

#[test]
fn a_proxy_that_says_nothing_is_a_timeout_of_connecting() {
    let proxy = Peer::new(|_, mut conn| drop(conn.rest()));
    let (mut lab, origin) = (Lab::new(), origin_with("http://inside.test", &through(&proxy, "socks5h")));
    let limit = SECOND / 20;
    let finished = lab.fetch(&origin, Call { connect_timeout: limit, ..get(&origin) });
    assert_eq!(failure(&finished).outcome, Outcome::Timeout);
    assert_eq!(finished.exchange.times().service, limit);
    lab.assert_empty();
}

#[test]
fn native_users_send_plain_requests_through_the_tunnel_as_they_are() {
    let (heads, wait) = gate();
    let proxy = Peer::new(move |_, mut conn| {
        asked(&mut conn);
        conn.write(OPENED);
        while let Some(head) = conn.head() {
            heads.send(head).unwrap();
            conn.write(ok("through"));
        }
    });
    let definition = format!(
        r#"{{"targets": [{{"url": "http://inside.test", "proxy": "socks5h://{}"}}],
            "flows": [{{"name": "flow", "steps": [{}]}}]}}"#,
        proxy.address,
        step("/a", "")
    );
    let mut shift = Shift::with(&definition, Rules { iterations: Some(2), ..Rules::default() });
    shift.resize(1);
    shift.work();
    assert_eq!(shift.account().counts().get(&Outcome::Success), Some(&2));
    for _ in 0..2 {
        assert!(wait.wait().starts_with("GET /a HTTP/1.1\r\nHost: inside.test\r\n"));
    }
}
