//! Native users whose WebSocket a server refuses.

use plimsoll_engine::{Rules, now};
use plimsoll_record::Outcome;

use crate::lab::SECOND;
use crate::peer::{Conn, Peer, gate, ok};
use crate::shift::{Shift, flow, get};

const CONNECT: &str = r#"{"name": "/chat", "path": "/chat", "timeout": 30.0, "websocket": {"connect": {}}}"#;
const SEND: &str = r#"{"name": "/chat", "websocket": {"send": {}}, "body": {"text": "x"}}"#;

fn iterations(peer: &Peer, more: &str, iterations: u64) -> Shift {
    let definition = flow(&peer.url(), &format!("{CONNECT}, {SEND}{more}"));
    Shift::with(&definition, Rules { iterations: Some(iterations), ..Rules::default() })
}

/// The messages of the failures of one attempt, and how long it took, ns.
fn attempt(serve: impl Fn(Conn) + Send + Sync + 'static) -> (Vec<String>, u64) {
    let peer = Peer::new(move |_, conn| serve(conn));
    let mut shift = iterations(&peer, "", 1);
    let start = now();
    shift.resize(1);
    shift.work();
    let account = shift.account();
    assert_eq!(account.counts().values().sum::<u64>(), 1);
    (account.messages().iter().map(|(message, _)| message.clone()).collect(), now() - start)
}

#[test]
fn the_failure_quotes_the_beginning_of_a_body_that_comes_in_parts() {
    for (head, quoted) in [
        ("HTTP/1.1 403 No\r\nContent-Length: 4000\r\n\r\n", "status 403"),
        ("HTTP/1.1 503 No\r\n\r\n", "status 503"),
        (
            "HTTP/1.1 302 No\r\nLocation: /a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nxxxx\r\nf9c\r\n",
            "the server does not open a WebSocket: status 302, not 101; it redirects to /a",
        ),
    ] {
        let (messages, _) = attempt(move |mut conn| {
            conn.head().unwrap();
            conn.write(head);
            for _ in 0..4 {
                conn.write([b'x'; 1000]);
            }
            conn.rest();
        });
        assert_eq!(messages, [format!("{quoted}: {}…", "x".repeat(200))]);
    }
}

#[test]
fn a_body_that_does_not_come_or_breaks_off_is_waited_for_at_most_a_second() {
    let (messages, took) = attempt(|mut conn| {
        conn.head().unwrap();
        conn.write("HTTP/1.1 400 Bad\r\nContent-Length: 99\r\n\r\nfirst");
        conn.rest();
    });
    assert_eq!(messages, ["status 400: first"]);
    assert!((SECOND..10 * SECOND).contains(&took), "{took}");
    let (messages, took) = attempt(|mut conn| {
        conn.head().unwrap();
        conn.write("HTTP/1.1 400 Bad\r\nContent-Length: 99\r\n\r\nhalf of it");
    });
    assert_eq!(messages, ["status 400: half of it"]);
    assert!(took < SECOND, "{took}");
}

#[test]
fn users_that_are_refused_ask_again_at_growing_intervals() {
    let peer = Peer::answering("HTTP/1.1 429 Later\r\nContent-Length: 7\r\n\r\nplease!");
    let mut shift = iterations(&peer, "", 24);
    shift.engine.set_connect_backoff(true);
    shift.resize(4);
    shift.work();
    let account = shift.account();
    assert_eq!(account.count("/chat", Outcome::Http), 24);
    // At least four waits of each user on average, of at least half of 10, 20, 40 and 80 ms.
    let waited = shift.engine.backed_off();
    assert!(waited >= 4 * 75 * SECOND / 1000, "{waited} ns");
    let (rows, mut late) = (shift.rows(), 0);
    for row in &rows {
        assert!(row.due <= row.sent && row.sent - row.due < SECOND, "the wait is none of the request's");
        late += row.arrival - row.due;
    }
    assert!(late < waited, "{late} {waited}");
}

#[test]
fn a_refusal_holds_up_no_other_request() {
    let peer = Peer::new(|_, mut conn| {
        while let Some(head) = conn.head() {
            if head.contains("/chat") {
                conn.write("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
            } else {
                conn.write(ok("hello"));
            }
        }
    });
    let mut shift = iterations(&peer, &format!(", {}", get("/other", "")), 1);
    shift.engine.set_connect_backoff(true);
    shift.resize(1);
    shift.work();
    let account = shift.account();
    assert_eq!((account.count("/chat", Outcome::Http), account.count("/other", Outcome::Success)), (1, 1));
    assert_eq!(shift.engine.backed_off(), 0);
}

#[test]
fn a_user_that_is_cut_off_has_its_failure() {
    let (came, has_come) = gate();
    let peer = Peer::new(move |_, mut conn| {
        conn.head().unwrap();
        conn.write("HTTP/1.1 500 No\r\nContent-Length: 99\r\n\r\nfirst");
        came.send(()).unwrap();
        conn.rest();
    });
    let mut shift = iterations(&peer, "", 1);
    shift.resize(1);
    shift.until(|shift| shift.users.streaming() == 1);
    has_come.wait();
    shift.cut();
    let account = shift.account();
    assert_eq!(account.count("/chat", Outcome::Http), 1);
    assert!(account.messages()[0].0.starts_with("status 500"), "{:?}", account.messages());
    assert!(shift.users.done());
}
