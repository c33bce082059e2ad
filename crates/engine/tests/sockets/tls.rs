//! TLS: trust, and that exchanges work as they do without TLS.

use std::io::Write;
use std::net::TcpListener;
use std::sync::Arc;

use plimsoll_engine::origin::Trust;
use plimsoll_engine::{Call, OriginOptions};
use plimsoll_record::Outcome;
use rustls::{HandshakeKind, ServerConnection, StreamOwned};
use socket2::SockRef;

use crate::certificates::{Issuer, secured, secured_on, shake_hands};
use crate::lab::{Lab, SECOND, STAMPS, failure, get, origin_with, post, request, response};
use crate::peer::{Conn, Peer, gate, ok};

const HERE: [&str; 2] = ["localhost", "127.0.0.1"];

fn anything() -> OriginOptions {
    OriginOptions { trust: Trust::Anything, ..OriginOptions::default() }
}

impl Peer {
    fn secure_url(&self) -> String {
        format!("https://{}", self.address)
    }
}

#[test]
fn a_certificate_of_a_trusted_issuer_is_accepted_for_a_name_and_for_an_address() {
    let issuer = Issuer::new("verified");
    let peer = secured(issuer.server(&HERE), |_, mut conn| conn.serve(ok("hello").as_bytes()));
    for url in [peer.secure_url(), format!("https://localhost:{}", peer.address.port())] {
        let (mut lab, origin) = (Lab::new(), origin_with(&url, &issuer.trusted()));
        let first = lab.fetch(&origin, get(&origin));
        assert_eq!((response(&first).body(), first.exchange.source), (&b"hello"[..], STAMPS));
        assert!(first.exchange.tls > 0 && first.exchange.connect > 0);
        assert_eq!(first.exchange.bytes_in, ok("hello").len() as u64);
        let second = lab.fetch(&origin, post(&origin, b"x"));
        assert_eq!((response(&second).body(), second.exchange.tls), (&b"hello"[..], 0));
        assert_eq!(lab.engine.connections(), 1);
    }
    assert_eq!((peer.connections(), peer.requests()), (2, 4));
}

#[test]
fn the_issuers_in_a_folder_are_trusted_and_no_others() {
    let (issuer, stranger) = (Issuer::new("folder"), Issuer::new("stranger-folder"));
    let peer = secured(issuer.server(&HERE), |_, mut conn| conn.serve(ok("hello").as_bytes()));
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted_by_folder()));
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"hello");
    let origin = origin_with(&peer.secure_url(), &stranger.trusted_by_folder());
    assert_eq!(failure(&lab.fetch(&origin, get(&origin))).outcome, Outcome::Tls);
}

#[test]
fn a_certificate_that_does_not_convince_is_a_failure_of_tls_that_says_why() {
    let (issuer, stranger) = (Issuer::new("issuer"), Issuer::new("stranger"));
    for (server, options, message) in [
        (issuer.server(&["other.test"]), issuer.trusted(), "not valid for name"),
        (stranger.server(&HERE), issuer.trusted(), "certificate of an unknown issuer"),
    ] {
        let peer = secured(server, |_, _| panic!("it was accepted"));
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &options));
        let finished = lab.fetch(&origin, get(&origin));
        let failure = failure(&finished);
        assert_eq!(failure.outcome, Outcome::Tls, "{failure:?}");
        assert!(failure.message.contains(message), "{failure:?}");
        assert_eq!(finished.exchange.bytes_out, 0);
        lab.assert_empty();
    }
}

/// The result of `openssl req -x509`: self-signed, and a CA certificate.
#[test]
fn an_issuers_own_certificate_is_accepted_if_it_is_one_of_the_trusted_ones() {
    let issuer = Issuer::named("itself", &HERE, 2999);
    let peer = secured(issuer.server_as_itself(), |_, mut conn| conn.serve(ok("hello").as_bytes()));
    for url in [peer.secure_url(), format!("https://localhost:{}", peer.address.port())] {
        for options in [issuer.trusted(), issuer.trusted_by_folder()] {
            let (mut lab, origin) = (Lab::new(), origin_with(&url, &options));
            assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"hello");
        }
    }
}

#[test]
fn an_issuers_own_certificate_is_refused_for_another_name_after_its_time_and_if_another_one_is_trusted() {
    let (right, twin) = (Issuer::named("right", &HERE, 2999), Issuer::named("twin", &HERE, 2999));
    let (elsewhere, expired) = (Issuer::named("elsewhere", &["other.test"], 2999), Issuer::named("old", &HERE, 2020));
    for (issuer, options, message) in [
        (&elsewhere, elsewhere.trusted(), "not valid for name"),
        (&expired, expired.trusted(), "expired"),
        (&twin, right.trusted(), "self-signed certificate"),
    ] {
        let peer = secured(issuer.server_as_itself(), |_, _| panic!("it was accepted"));
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &options));
        let finished = lab.fetch(&origin, get(&origin));
        let failure = failure(&finished);
        assert_eq!(failure.outcome, Outcome::Tls, "{failure:?}");
        assert!(failure.message.contains(message), "{failure:?}");
        assert_eq!(finished.exchange.bytes_out, 0);
    }
}

#[test]
fn without_verification_every_certificate_is_accepted() {
    let issuer = Issuer::new("anything");
    for server in [issuer.server(&["other.test"]), issuer.old_server(&["other.test"])] {
        let peer = secured(server, |_, mut conn| conn.serve(ok("hello").as_bytes()));
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &anything()));
        for _ in 0..2 {
            assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"hello");
        }
    }
}

#[test]
fn a_client_certificate_is_sent_to_a_server_that_requests_it() {
    let issuer = Issuer::new("client");
    let (options, certificate) = issuer.identified();
    let peer = secured(issuer.strict_server(&HERE), move |_, mut conn| {
        assert_eq!(conn.stream.conn.peer_certificates(), Some(&[certificate.clone()][..]));
        conn.serve(ok("hello").as_bytes());
    });
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &options));
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).status, 200);
}

/// With TLS 1.3 the refusal arrives after our side has finished the handshake.
#[test]
fn a_client_certificate_that_is_not_there_is_a_failure_of_tls() {
    let issuer = Issuer::new("anonymous");
    let peer = secured(issuer.strict_server(&HERE), |_, _| panic!("it was accepted"));
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
    let finished = lab.fetch(&origin, post(&origin, b"x"));
    let failure = failure(&finished);
    assert_eq!(failure.outcome, Outcome::Tls, "{failure:?}");
    assert!(failure.message.contains("asks for a client certificate"), "{failure:?}");
    lab.assert_empty();
}

#[test]
fn a_second_connection_resumes_the_session_of_the_first() {
    let issuer = Issuer::new("resumption");
    for server in [issuer.server(&HERE), issuer.old_server(&HERE)] {
        let (kind, wait_kind) = gate();
        let peer = secured(server, move |_, mut conn| {
            kind.send(conn.stream.conn.handshake_kind()).unwrap();
            conn.serve(ok("hello").as_bytes());
        });
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
        for expected in [HandshakeKind::Full, HandshakeKind::Resumed] {
            let client = lab.engine.client();
            lab.engine.send(client, &origin, get(&origin));
            assert_eq!(response(&lab.finish()).status, 200);
            assert_eq!(wait_kind.wait(), Some(expected));
        }
    }
}

/// Many records in one read, records split at any point, and a socket that accepts less than TLS has.
#[test]
fn large_bodies_come_whole_in_both_directions() {
    let body: Vec<u8> = (0..6_u32 << 20).map(|at| (at.wrapping_mul(0x9E37_79B1) >> 24) as u8).collect();
    let expected = body.clone();
    let issuer = Issuer::new("large");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    SockRef::from(&listener).set_recv_buffer_size(32 << 10).unwrap();
    let peer = secured_on(listener, issuer.server(&HERE), move |_, mut conn| {
        while conn.head().is_some() {
            assert!(conn.body(expected.len()) == expected);
            conn.write(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", expected.len()));
            conn.write(&expected);
        }
    });
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
    for _ in 0..2 {
        let finished = lab.fetch(&origin, post(&origin, &body));
        assert!(response(&finished).body() == body);
    }
    assert_eq!(peer.connections(), 1);
}

#[test]
fn a_response_in_records_of_one_byte_is_one_response() {
    let issuer = Issuer::new("bytes");
    let peer = secured(issuer.server(&HERE), |_, mut conn| {
        while conn.head().is_some() {
            for byte in ok("hello").bytes() {
                conn.write([byte]);
            }
        }
    });
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
    for _ in 0..3 {
        assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"hello");
    }
    assert_eq!(peer.connections(), 1);
}

/// The end of the connection comes in the same event as the data. Without `close_notify`, a third party may have ended
/// it.
#[test]
fn a_body_may_end_with_tls_but_not_with_the_connection_below_it() {
    let issuer = Issuer::new("until-close");
    for close_notify in [true, false] {
        let (closed, wait_closed) = gate();
        let peer = secured(issuer.server(&HERE), move |_, mut conn| {
            conn.request();
            conn.write(ok("kept"));
            conn.request();
            conn.write("HTTP/1.1 200 OK\r\n\r\nup to the end");
            if close_notify {
                conn.close_notify();
            }
            conn.stream.sock.shutdown(std::net::Shutdown::Write).unwrap();
            closed.send(()).unwrap();
            conn.rest();
        });
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
        lab.fetch(&origin, get(&origin));
        lab.send(&origin, get(&origin));
        wait_closed.wait();
        let finished = lab.finish();
        if close_notify {
            assert_eq!(response(&finished).body(), b"up to the end");
        } else {
            let failure = failure(&finished);
            assert_eq!(failure.outcome, Outcome::Reset);
            assert!(failure.message.contains("without the end of TLS (close_notify)"), "{failure:?}");
        }
        lab.assert_empty();
    }
}

#[test]
fn a_connection_with_close_notify_after_its_response_is_not_kept() {
    let issuer = Issuer::new("close_notify");
    let (said, wait_said) = gate();
    let peer = secured(issuer.server(&HERE), move |number, mut conn| {
        conn.request();
        conn.write(ok("kept"));
        if conn.head().is_some() && number == 0 {
            conn.write(ok("last"));
            conn.close_notify();
            // Bytes after close_notify are ignored, and must not keep the reader busy.
            conn.stream.sock.write_all(&[0; 16_000]).unwrap();
            said.send(()).unwrap();
        }
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
    lab.fetch(&origin, get(&origin));
    lab.send(&origin, get(&origin));
    wait_said.wait();
    assert_eq!(response(&lab.finish()).body(), b"last");
    assert_eq!(lab.engine.connections(), 0);
    assert_eq!(response(&lab.fetch(&origin, post(&origin, b"x"))).body(), b"kept");
}

#[test]
fn a_response_that_is_cut_short_is_a_reset() {
    let issuer = Issuer::new("short");
    for close_notify in [true, false] {
        let peer = secured(issuer.server(&HERE), move |_, mut conn| {
            conn.request();
            conn.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
            if close_notify {
                conn.close_notify();
            }
        });
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
        let finished = lab.fetch(&origin, get(&origin));
        assert_eq!(failure(&finished).outcome, Outcome::Reset);
        assert!(failure(&finished).message.contains("3 bytes of the body missing"));
        lab.assert_empty();
    }
}

/// In the same record as the response, in a separate record, and in a record that is not yet decrypted when the
/// response is complete.
#[test]
fn bytes_behind_a_response_are_refused_with_their_connection() {
    let issuer = Issuer::new("garbage");
    for (apart, length) in [(false, 6), (true, 6), (true, 4030), (true, 20_000)] {
        let answer = "a".repeat(length);
        let expected = answer.clone();
        let (written, wait_written) = gate();
        let peer = secured(issuer.server(&HERE), move |number, mut conn| {
            conn.request();
            conn.write(ok("kept"));
            if conn.head().is_some() && number == 0 {
                if apart {
                    conn.write(ok(&answer));
                    conn.write(ok("garbage"));
                } else {
                    conn.write(ok(&answer) + &ok("garbage"));
                }
                written.send(()).unwrap();
            }
            conn.rest();
        });
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
        lab.fetch(&origin, get(&origin));
        lab.send(&origin, get(&origin));
        wait_written.wait();
        assert_eq!(response(&lab.finish()).body(), expected.as_bytes());
        assert_eq!(lab.engine.connections(), 0, "{apart}, {length}");
        assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"kept");
        assert_eq!(peer.connections(), 2);
    }
}

#[test]
fn a_kept_connection_that_ends_under_a_request_is_replaced() {
    let issuer = Issuer::new("stale");
    let peer = secured(issuer.server(&HERE), |number, mut conn| {
        conn.request();
        if number == 0 {
            conn.write(ok("kept"));
            conn.request();
            return;
        }
        conn.write(ok("again"));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
    lab.fetch(&origin, get(&origin));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!((response(&finished).body(), finished.exchange.retries), (&b"again"[..], 1));
    assert!(finished.exchange.tls > 0);
}

#[test]
fn a_body_waits_for_100_as_it_does_without_tls() {
    let issuer = Issuer::new("continue");
    let peer = secured(issuer.server(&HERE), |_, mut conn| {
        while conn.head().is_some() {
            conn.write("HTTP/1.1 100 Continue\r\n\r\n");
            assert_eq!(conn.body(4), b"body");
            conn.write(ok("thanks"));
        }
    });
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
    for _ in 0..2 {
        let call = request(&origin, "POST", &[("Expect", "100-continue")], Some(b"body"));
        assert_eq!(response(&lab.fetch(&origin, call)).body(), b"thanks");
    }
    assert_eq!(peer.connections(), 1);
}

#[test]
fn a_handshake_that_breaks_is_a_failure_of_tls() {
    for (reply, reset) in [("", false), ("", true), ("HTTP/1.1 400 Speak plainly\r\n\r\n", false)] {
        let peer = Peer::new(move |_, mut conn: Conn| {
            conn.body(5);
            conn.write(reply);
            if reset {
                conn.reset();
            } else {
                conn.finish_writing();
                conn.rest();
            }
        });
        let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &anything()));
        let finished = lab.fetch(&origin, get(&origin));
        let failure = failure(&finished);
        assert_eq!(failure.outcome, Outcome::Tls, "{failure:?}");
        assert_eq!(failure.errno, reset.then_some(libc::ECONNRESET));
        lab.assert_empty();
    }
}

#[test]
fn a_handshake_that_does_not_come_is_a_timeout_of_connecting() {
    let peer = Peer::new(|_, mut conn| drop(conn.rest()));
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &anything()));
    let limit = SECOND / 20;
    let finished = lab.fetch(&origin, Call { connect_timeout: limit, ..get(&origin) });
    assert_eq!(failure(&finished).message, "no connection within 0.05 s");
    assert_eq!(finished.exchange.times().service, limit);
    lab.assert_empty();
}

/// The response comes with the server's part of the handshake, before our request is sent.
#[test]
fn a_response_before_the_request_is_read() {
    let issuer = Issuer::new("early");
    let mut config = issuer.server(&HERE);
    config.send_half_rtt_data = true;
    // Nothing follows that would cause another event.
    config.send_tls13_tickets = 0;
    let config = Arc::new(config);
    let peer = Peer::new(move |_, conn: Conn| {
        let mut tls = ServerConnection::new(Arc::clone(&config)).unwrap();
        tls.writer().write_all(b"HTTP/1.1 503 Full\r\nConnection: close\r\nContent-Length: 4\r\n\r\nfull").unwrap();
        let mut conn = conn.over(|socket| StreamOwned::new(tls, socket));
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &issuer.trusted()));
    let finished = lab.fetch(&origin, get(&origin));
    assert_eq!((response(&finished).status, response(&finished).body()), (503, &b"full"[..]));
    lab.assert_empty();
}

#[test]
fn it_goes_through_a_proxy_to_the_origin_by_its_own_name() {
    let issuer = Issuer::new("proxy");
    let config = Arc::new(issuer.server(&["origin.test"]));
    let proxy = Peer::new(move |_, mut conn: Conn| {
        assert!(conn.request().starts_with("CONNECT origin.test:443 HTTP/1.1\r\n"));
        conn.write("HTTP/1.1 200 OK\r\n\r\n");
        let mut conn = shake_hands(&config, conn).expect("a handshake");
        assert_eq!(conn.stream.conn.server_name(), Some("origin.test"));
        conn.serve(ok("through").as_bytes());
    });
    let options = OriginOptions { proxy: Some(proxy.url()), ..issuer.trusted() };
    let (mut lab, origin) = (Lab::new(), origin_with("https://origin.test", &options));
    for _ in 0..2 {
        assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"through");
    }
    assert_eq!(proxy.connections(), 1);
}

#[test]
fn tls_to_a_plain_port_has_a_message_with_a_hint() {
    let peer = Peer::new(|_, mut conn| conn.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &anything()));
    let finished = lab.fetch(&origin, get(&origin));
    let failure = failure(&finished);
    let expected = format!("no TLS on port {}; did you mean http://, ws:// or grpc://?", peer.address.port());
    assert_eq!((failure.outcome, failure.message.as_str()), (Outcome::Tls, expected.as_str()));
}

#[test]
fn a_self_signed_certificate_has_a_message_with_the_option_that_accepts_it() {
    let issuer = Issuer::named("alone", &HERE, 2999);
    let peer = secured(issuer.server_as_itself(), |_, _| panic!("it was accepted"));
    let (mut lab, origin) = (Lab::new(), origin_with(&peer.secure_url(), &Issuer::new("other").trusted()));
    let finished = lab.fetch(&origin, get(&origin));
    assert!(failure(&finished).message.contains("--insecure"), "{:?}", failure(&finished));
}
