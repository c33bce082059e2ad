//! Exchanges with a sound peer.

use std::time::Duration;

use h2::server::Builder;
use plimsoll_engine::{Call, Keep, OriginOptions, now};

use super::served::{echoing, serving};
use super::{assert_ordered, at, over_http2};
use crate::certificates::{Issuer, shake_hands};
use crate::lab::{Lab, STAMPS, failure, get, origin_with, post, request, response};
use crate::peer::Peer;

#[test]
fn one_client_has_one_connection_for_one_exchange_after_the_other() {
    let served = echoing(&Builder::new());
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    for turn in 0..3 {
        let finished = lab.fetch(&origin, post(&origin, b"x"));
        let got = response(&finished);
        assert_eq!((got.status, got.minor, got.body()), (200, 10, &b"POST / x"[..]));
        assert!(got.head().starts_with(b"HTTP/2 200\r\n"), "{}", got.head().escape_ascii());
        assert_eq!((finished.exchange.connect > 0, finished.exchange.retries), (turn == 0, 0));
        assert_eq!(finished.exchange.source, STAMPS);
        assert_ordered(&finished.exchange);
    }
    assert_eq!((served.peer.connections(), served.requests(), lab.engine.connections()), (1, 3, 1));
    assert_eq!(lab.engine.in_flight(), 0);
}

#[test]
fn many_exchanges_at_once_are_streams_of_one_connection_and_all_of_them_end() {
    let served = echoing(&Builder::new());
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    for turn in 1..=3 {
        let mut sent: Vec<_> = (0..90).map(|_| lab.send(&origin, get(&origin)).0).collect();
        assert_eq!(lab.engine.in_flight(), 90);
        let mut came: Vec<_> = (0..90)
            .map(|_| {
                let finished = lab.finish();
                assert_eq!(response(&finished).body(), b"GET / ");
                assert_ordered(&finished.exchange);
                finished.id.0
            })
            .collect();
        sent.sort_unstable();
        came.sort_unstable();
        assert_eq!(came, sent);
        assert_eq!((served.requests(), served.peer.connections()), (90 * turn, 1));
    }
    assert_eq!((lab.engine.in_flight(), lab.engine.connections()), (0, 1));
}

#[test]
fn clients_do_not_share_a_connection() {
    let served = echoing(&Builder::new());
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    lab.fetch(&origin, get(&origin));
    let other = lab.engine.client();
    lab.engine.send(other, &origin, get(&origin));
    lab.finish();
    assert_eq!((served.peer.connections(), lab.engine.connections()), (2, 2));
    assert!(lab.engine.close(other).is_empty());
    assert_eq!(lab.engine.connections(), 1);
    assert!(lab.engine.close(lab.client).is_empty());
    lab.assert_empty();
}

#[test]
fn the_bytes_of_an_exchange_are_those_of_its_frames() {
    let peer = Peer::new(|_, mut conn| {
        conn.greet(&[]);
        let head = conn.next_frame();
        let body = conn.next_frame();
        let size = 9 + head.payload.len() + 9 + body.payload.len();
        conn.respond(head.stream, size.to_string().as_bytes());
        conn.rest();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&peer));
    let finished = lab.fetch(&origin, post(&origin, b"hello"));
    let said = std::str::from_utf8(response(&finished).body()).unwrap();
    assert_eq!(finished.exchange.bytes_out.to_string(), said);
    assert_eq!(finished.exchange.bytes_in, (9 + 1 + 9 + said.len()) as u64);
}

/// The time of the setup belongs to the exchange that needed the connection. For the others it is a wait for a stream,
/// which is no lag of this machine.
#[test]
fn those_that_wait_for_the_connection_have_no_lag() {
    let served = echoing(&Builder::new());
    // The name has to be resolved, so that no connection is made at once.
    let (mut lab, origin) = (Lab::new(), at(&format!("http://localhost:{}", served.peer.address.port())));
    let start = now();
    let ids = [(); 3].map(|()| lab.send(&origin, get(&origin)));
    let mut finished = [(); 3].map(|()| lab.finish());
    finished.sort_by_key(|finished| ids.iter().position(|id| *id == finished.id));
    let [first, others @ ..] = &finished;
    assert!(first.exchange.connect > 0 && first.exchange.sent == first.exchange.due);
    for other in others {
        let exchange = &other.exchange;
        assert_eq!((exchange.connect, exchange.dns), (0, 0));
        assert!(
            start <= exchange.due && exchange.due <= exchange.free && exchange.free <= exchange.sent,
            "{exchange:?}"
        );
    }
}

/// All requests of a turn leave with one write, so they have one time of sending; the time before it is lag.
#[test]
fn requests_of_one_turn_are_sent_together_and_the_delay_is_lag() {
    let served = echoing(&Builder::new());
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    lab.fetch(&origin, get(&origin));
    let wake = now();
    lab.engine.wake(1, wake);
    lab.event();
    // The turn goes on: the caller has one of its events.
    for _ in 0..5 {
        lab.send(&origin, get(&origin));
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut exchanges = [(); 5].map(|()| lab.finish().exchange);
    exchanges.sort_by_key(|exchange| exchange.due);
    assert!(exchanges.iter().all(|exchange| exchange.sent == exchanges[0].sent), "{exchanges:?}");
    let lags = exchanges.map(|exchange| exchange.times().lag);
    assert!(lags.is_sorted_by(|one, next| one > next) && lags[0] >= 8_000_000, "{lags:?}");
}

#[test]
fn a_request_outside_of_a_turn_is_sent_at_once() {
    let served = echoing(&Builder::new());
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    lab.fetch(&origin, get(&origin));
    lab.turn(Duration::ZERO);
    lab.send(&origin, get(&origin));
    while served.requests() < 2 {
        std::thread::yield_now();
    }
    assert_eq!(lab.finish().exchange.times().lag / 1_000_000, 0);
}

#[test]
fn a_head_request_has_no_body_and_a_kept_status_is_enough() {
    let served = serving(&Builder::new(), async |request, _, mut respond| {
        let head = http::Response::builder().header("content-length", "6").body(()).unwrap();
        let is_head = request.method() == "HEAD";
        let mut stream = respond.send_response(head, is_head).unwrap();
        if !is_head {
            stream.send_data("GET / ".into(), true).unwrap();
        }
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    let finished = lab.fetch(&origin, Call { keep: Keep::Nothing, ..get(&origin) });
    let got = response(&finished);
    assert_eq!((got.status, got.bytes.len(), got.body_length), (200, 0, 6));
    let finished = lab.fetch(&origin, request(&origin, "HEAD", &[], None));
    assert_eq!((response(&finished).status, response(&finished).body()), (200, &b""[..]));
}

#[test]
fn trailers_and_headers_are_text_as_with_http1() {
    let served = serving(&Builder::new(), async |request, _, mut respond| {
        assert_eq!(request.headers()["x-one"], "1");
        let head = http::Response::builder().header("server-timing", "db;dur=5").header("set-cookie", "a=1");
        let mut stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
        stream.send_data("hello".into(), false).unwrap();
        let trailers =
            http::HeaderMap::from_iter([(http::HeaderName::from_static("grpc-status"), "0".parse().unwrap())]);
        stream.send_trailers(trailers).unwrap();
    });
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    let finished = lab.fetch(&origin, request(&origin, "GET", &[("X-One", "1")], None));
    let got = response(&finished);
    assert_eq!((got.body(), got.notes.cookie), (&b"hello"[..], true));
    assert_eq!(plimsoll_http::header(got.head(), "Set-Cookie"), Some(&b"a=1"[..]));
    assert_eq!(got.timing.as_deref(), Some(&b"db;dur=5"[..]));
    assert_eq!(plimsoll_http::trailers(&got.trailers)[0], (&b"grpc-status"[..], &b"0"[..]));
}

#[test]
fn a_large_body_passes_in_both_directions() {
    let served = echoing(&Builder::new());
    let (mut lab, origin) = (Lab::new(), over_http2(&served.peer));
    let body: Vec<u8> = (0..3_000_000_u32).map(|byte| byte as u8).collect();
    let ids = [(); 3].map(|()| lab.send(&origin, post(&origin, &body)));
    for _ in ids {
        let finished = lab.finish();
        assert_eq!(response(&finished).body()[b"POST / ".len()..], body);
        assert!(finished.exchange.bytes_out >= body.len() as u64 && finished.exchange.bytes_in >= body.len() as u64);
    }
}

#[test]
fn with_https_the_handshake_chooses_http2() {
    let issuer = Issuer::new("http2");
    let mut config = issuer.server(&["127.0.0.1"]);
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = std::sync::Arc::new(config);
    let peer = Peer::new(move |_, conn| {
        let Some(mut conn) = shake_hands(&config, conn) else { return };
        assert_eq!(conn.stream.conn.alpn_protocol(), Some(&b"h2"[..]));
        conn.greet(&[]);
        conn.serve_http2(b"hello");
    });
    let options = OriginOptions { http2: true, ..issuer.trusted() };
    let (mut lab, origin) = (Lab::new(), origin_with(&format!("https://{}", peer.address), &options));
    for turn in 0..3 {
        let ids = [lab.send(&origin, get(&origin)), lab.send(&origin, get(&origin))];
        let mut tls = [lab.finish().exchange, lab.finish().exchange].map(|exchange| {
            assert_ordered(&exchange);
            exchange.tls > 0
        });
        tls.sort_unstable();
        assert_eq!(tls, [false, turn == 0], "{ids:?}");
    }
    assert_eq!((peer.connections(), lab.engine.connections()), (1, 1));
}

#[test]
fn a_server_without_http2_in_its_handshake_is_a_failure_of_tls_that_says_what_to_do() {
    for protocols in [vec![], vec![b"http/1.1".to_vec()]] {
        let issuer = Issuer::new("http1-only");
        let mut config = issuer.server(&["127.0.0.1"]);
        config.alpn_protocols = protocols;
        let config = std::sync::Arc::new(config);
        let peer = Peer::new(move |_, conn| {
            if let Some(mut conn) = shake_hands(&config, conn) {
                conn.rest();
            }
        });
        let options = OriginOptions { http2: true, ..issuer.trusted() };
        let (mut lab, origin) = (Lab::new(), origin_with(&format!("https://{}", peer.address), &options));
        for _ in 0..2 {
            lab.send(&origin, get(&origin));
        }
        for _ in 0..2 {
            let finished = lab.finish();
            let failure = failure(&finished);
            assert_eq!(failure.outcome, plimsoll_record::Outcome::Tls);
            assert_eq!(
                failure.message,
                "the server has no HTTP/2: it did not choose h2 in the handshake; leave out --http2"
            );
        }
        lab.assert_empty();
    }
}

#[test]
fn what_follows_the_answer_of_a_socks_proxy_at_once_is_the_targets() {
    let proxy = Peer::new(|_, mut conn| {
        assert_eq!(conn.body(3), [5, 1, 0]);
        conn.write([5, 0]);
        conn.body(18);
        // A server of HTTP/2 speaks before it is asked.
        let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
        conn.write([&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &settings].concat());
        conn.greet(&[]);
        conn.serve_http2(b"tunnelled");
    });
    let socks = format!("socks5h://{}", proxy.address);
    let options = OriginOptions { http2: true, proxy: Some(socks), ..OriginOptions::default() };
    let (mut lab, origin) = (Lab::new(), origin_with("http://inside.test", &options));
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"tunnelled");
}

#[test]
fn a_proxy_is_asked_for_a_tunnel() {
    let proxy = Peer::new(move |_, mut conn| {
        let request = conn.request();
        assert!(request.starts_with("CONNECT inside.test:80 "), "{request}");
        conn.write("HTTP/1.1 200 OK\r\n\r\n");
        conn.greet(&[]);
        conn.serve_http2(b"tunnelled");
    });
    let options = OriginOptions { http2: true, proxy: Some(proxy.url()), ..OriginOptions::default() };
    let (mut lab, origin) = (Lab::new(), origin_with("http://inside.test", &options));
    assert_eq!(response(&lab.fetch(&origin, get(&origin))).body(), b"tunnelled");
}
