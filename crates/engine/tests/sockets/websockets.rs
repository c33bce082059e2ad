//! Native users with a WebSocket, against another implementation (tungstenite) as the server.

use std::io::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use plimsoll_engine::{Rules, now};
use plimsoll_record::{Cell, Outcome};
use tungstenite::handshake::server::{Request, Response};
use tungstenite::protocol::CloseFrame;
use tungstenite::{Message, WebSocket};

use crate::peer::{Conn, Peer, gate};
use crate::shift::{Account, Shift, arrivals, flow};

const CONNECT: &str = r#"{"name": "/chat", "path": "/chat", "timeout": 30.0, "websocket": {"connect": {}}}"#;
const RECEIVE: &str = r#"{"name": "/chat", "timeout": 30.0, "websocket": {"receive": {"reply": true}}}"#;
const CLOSE: &str = r#"{"name": "/chat", "timeout": 30.0, "websocket": {"close": 1000}}"#;

fn send(text: &str) -> String {
    format!(r#"{{"name": "/chat", "timeout": 30.0, "websocket": {{"send": {{}}}}, "body": {{"text": "{text}"}}}}"#)
}

fn steps(steps: &[&str]) -> String {
    steps.join(", ")
}

fn accept(conn: Conn) -> WebSocket<TcpStream> {
    tungstenite::accept(conn.stream).unwrap()
}

/// A server that returns each message, and how many it has received.
fn echo() -> (Peer, Arc<AtomicU64>) {
    let received = Arc::<AtomicU64>::default();
    let count = Arc::clone(&received);
    let peer = Peer::new(move |_, conn| {
        let mut socket = accept(conn);
        while let Ok(message) = socket.read() {
            if message.is_text() || message.is_binary() {
                count.fetch_add(1, Ordering::SeqCst);
                socket.send(message).unwrap();
            }
        }
    });
    (peer, received)
}

/// The sum of the cells of (method, /chat) with this outcome.
fn row(shift: &Shift, account: &Account, method: &str, outcome: Outcome) -> Cell {
    let mut sum = Cell::default();
    for (_, id, ended, cell) in &account.taken.cells {
        if shift.recorder.name(*id) == Some((method, "/chat")) && *ended == outcome {
            sum.count += cell.count;
            sum.untimed += cell.untimed;
            sum.bytes_body += cell.bytes_body;
            sum.response_sum += cell.response_sum;
        }
    }
    sum
}

fn count(shift: &Shift, account: &Account, method: &str) -> u64 {
    row(shift, account, method, Outcome::Success).count
}

fn iterations(definition: &str, iterations: u64) -> Shift {
    Shift::with(definition, Rules { iterations: Some(iterations), ..Rules::default() })
}

#[test]
fn every_message_is_counted_and_a_user_keeps_its_connection() {
    let (mut peer, received) = echo();
    let mut shift = iterations(&flow(&peer.url(), &steps(&[CONNECT, &send("n${iteration}"), RECEIVE])), 30);
    shift.resize(3);
    shift.work();
    peer.stop();
    let account = shift.account();
    assert_eq!((peer.connections(), received.load(Ordering::SeqCst)), (3, 30));
    let rows = ["WS", "WS receive", "message out", "message in", "WS close"];
    assert_eq!(rows.map(|method| count(&shift, &account, method)), [3, 30, 30, 30, 3]);
    assert_eq!(shift.recorder.total(None).requests, 33, "messages and ends are no requests");
    let (out, back) =
        ["message out", "message in"].map(|row_of| row(&shift, &account, row_of, Outcome::Success)).into();
    assert_eq!((out.bytes_body, back.bytes_body), (80, 80), "n0 to n29");
    assert_eq!((out.untimed, back.untimed), (30, 3));
}

#[test]
fn a_connection_may_be_opened_for_each_iteration_and_its_close_is_timed() {
    let (mut peer, received) = echo();
    let mut shift = iterations(&flow(&peer.url(), &steps(&[CONNECT, &send("x"), RECEIVE, CLOSE])), 4);
    shift.resize(2);
    shift.work();
    peer.stop();
    let account = shift.account();
    assert_eq!((peer.connections(), received.load(Ordering::SeqCst)), (4, 4));
    let closes = row(&shift, &account, "WS close", Outcome::Success);
    assert_eq!((closes.count, closes.untimed), (4, 0));
    assert_eq!(["WS", "WS receive"].map(|method| count(&shift, &account, method)), [4, 4]);
}

#[test]
fn in_the_open_model_the_time_of_a_message_begins_when_it_was_due() {
    let (peer, received) = echo();
    let mut shift = Shift::new(&flow(&peer.url(), &steps(&[CONNECT, &send("x"), RECEIVE])));
    let due: Vec<u64> = (0..20).map(|n| n * 1_000_000).collect();
    shift.arrive(arrivals(due), now());
    shift.work();
    let account = shift.account();
    assert_eq!(received.load(Ordering::SeqCst), 20);
    assert_eq!((count(&shift, &account, "WS receive"), account.arrivals()), (20, (20, 0)));
    let opened = count(&shift, &account, "WS");
    assert!((1..=20).contains(&opened), "{opened}");
    assert!(shift.rows().iter().all(|row| row.due <= row.sent && row.sent <= row.arrival && row.arrival <= row.read));
}

#[test]
fn a_step_takes_the_message_that_it_expects_and_its_values() {
    let peer = Peer::new(|_, conn| {
        let mut socket = accept(conn);
        socket.send(Message::text(r#"{"id": 7, "old": true}"#)).unwrap();
        while let Ok(message) = socket.read() {
            let Message::Text(text) = message else { continue };
            for reply in [r#"{"id": 1}"#, "no JSON", &format!(r#"{{"id": 7, "got": "{}"}}"#, text.as_str())] {
                socket.send(Message::text(reply)).unwrap();
            }
        }
    });
    let expected = r#"{"name": "/chat", "timeout": 30.0, "websocket": {"receive": {"reply": true}},
        "expect": {"json": [["/id", 7]]}, "extract": [{"into": "got", "from": "json", "what": "/got"}]}"#;
    let greeting = r#"{"name": "/chat", "timeout": 30.0, "websocket": {"receive": {"reply": false}},
        "expect": {"contains": ["old"]}}"#;
    let (first, second) = (send("a"), send("${got}${got}"));
    let all = [CONNECT, greeting, &first, expected, &second, expected];
    let mut shift = iterations(&flow(&peer.url(), &steps(&all)), 1);
    shift.resize(1);
    shift.work();
    let account = shift.account();
    assert_eq!(account.messages(), []);
    assert_eq!(count(&shift, &account, "WS receive"), 3);
    assert_eq!(row(&shift, &account, "message out", Outcome::Success).bytes_body, 1 + 2, "a, then aa");
    assert_eq!(count(&shift, &account, "message in"), 7);
}

#[test]
fn pings_are_answered_while_the_user_waits() {
    let (pong, ponged) = gate();
    let peer = Peer::new(move |_, conn| {
        let mut socket = accept(conn);
        socket.send(Message::Ping(b"there?".to_vec().into())).unwrap();
        let answer = socket.read().unwrap();
        pong.send(answer.clone()).unwrap();
        socket.send(Message::text("go")).unwrap();
        while socket.read().is_ok() {}
    });
    let wait = r#"{"name": "/chat", "websocket": {"wait": 0.2}}"#;
    let receive = RECEIVE.replace("true", "false");
    let mut shift = iterations(&flow(&peer.url(), &steps(&[CONNECT, wait, &receive])), 1);
    shift.resize(1);
    shift.work();
    assert_eq!(ponged.wait(), Message::Pong(b"there?".to_vec().into()));
    let account = shift.account();
    assert_eq!(count(&shift, &account, "WS receive"), 1);
}

#[test]
fn the_code_of_a_close_is_the_outcome_of_the_step_that_waits_and_the_user_connects_again() {
    let peer = Peer::new(|number, conn| {
        let mut socket = accept(conn);
        socket.read().unwrap();
        match number {
            0 => {
                let close = CloseFrame { code: 1011.into(), reason: "out of memory".into() };
                socket.close(Some(close)).unwrap();
            }
            1 => return, // without a close frame
            2 => socket.get_mut().write_all(b"\xff\xff").unwrap(),
            _ => socket.send(Message::text("hello")).unwrap(),
        }
        while socket.read().is_ok() {}
    });
    let mut shift = iterations(&flow(&peer.url(), &steps(&[CONNECT, &send("x"), RECEIVE])), 4);
    shift.resize(1);
    shift.work();
    let account = shift.account();
    let ended = |method, outcome| row(&shift, &account, method, outcome).count;
    assert_eq!(ended("WS receive", Outcome::Reset), 2);
    assert_eq!(ended("WS receive", Outcome::Protocol), 1);
    assert_eq!(ended("WS receive", Outcome::Success), 1);
    assert_eq!((ended("WS close", Outcome::Reset), ended("WS close", Outcome::Protocol)), (2, 1));
    assert_eq!((count(&shift, &account, "WS"), count(&shift, &account, "message out")), (4, 4));
    let texts: Vec<String> = account.messages().into_iter().map(|(text, _)| text).collect();
    assert!(texts.contains(&"the server closed the connection with code 1011: out of memory".into()), "{texts:?}");
    assert!(texts.contains(&"the connection was closed without a close frame".into()), "{texts:?}");
    assert!(texts.contains(&"a frame has a reserved bit set".into()), "{texts:?}");
}

#[test]
fn a_server_that_does_not_open_a_websocket_is_an_outcome_of_its_own() {
    let good = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
    for (response, outcome, message) in [
        ("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno".to_owned(), Outcome::Http, "status 403: no"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".to_owned(),
            Outcome::Protocol,
            "the server does not open a WebSocket: status 200, not 101: hi",
        ),
        (
            format!("{good}Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n"),
            Outcome::Protocol,
            "Sec-WebSocket-Accept does not belong to the key of the request",
        ),
        ("\x15\x03\x03".to_owned(), Outcome::Protocol, "the reply is not HTTP/1"),
        (String::new(), Outcome::Reset, "connection closed without a response"),
    ] {
        let peer = Peer::new(move |_, mut conn: Conn| {
            if conn.head().is_some() {
                conn.write(&response);
            }
        });
        let mut shift = iterations(&flow(&peer.url(), &steps(&[CONNECT, &send("x"), RECEIVE])), 2);
        shift.resize(1);
        shift.work();
        let account = shift.account();
        assert_eq!(row(&shift, &account, "WS", outcome).count, 2, "{message}");
        assert!(account.messages()[0].0.starts_with(message), "{:?}", account.messages());
        assert_eq!(["WS receive", "message out", "WS close"].map(|method| count(&shift, &account, method)), [0; 3]);
    }
}

#[test]
fn a_refusal_may_be_what_is_expected() {
    let peer = Peer::answering("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
    let connect = CONNECT.replace(r#""timeout""#, r#""expect": {"status": [[403, 403]]}, "timeout""#);
    let mut shift = iterations(&flow(&peer.url(), &steps(&[&connect, CLOSE])), 1);
    shift.resize(1);
    shift.work();
    let account = shift.account();
    assert_eq!(count(&shift, &account, "WS"), 1);
}

#[test]
fn a_message_that_does_not_come_in_time_is_a_timeout_and_ends_the_connection() {
    let peer = Peer::new(|number, conn| {
        let mut socket = accept(conn);
        while let Ok(message) = socket.read() {
            if number > 0 && message.is_text() {
                socket.send(message).unwrap();
            }
        }
    });
    let receive = RECEIVE.replace("30.0", "0.3");
    let mut shift = iterations(&flow(&peer.url(), &steps(&[CONNECT, &send("x"), &receive])), 2);
    shift.resize(1);
    shift.work();
    let account = shift.account();
    let late = row(&shift, &account, "WS receive", Outcome::Timeout);
    assert_eq!(late.count, 1);
    assert!((250_000_000..600_000_000).contains(&late.response_sum), "the limit: {}", late.response_sum);
    assert_eq!((count(&shift, &account, "WS receive"), count(&shift, &account, "WS")), (1, 2));
    // The user has closed it. Only the step has failed.
    assert_eq!(row(&shift, &account, "WS close", Outcome::Success).count, 2);
    assert_eq!(account.messages(), [("no message that the step waits for within 0.3 s".to_owned(), 1)]);
}

/// A message is sent when the socket has accepted it. A server that reads slowly is waited for.
#[test]
fn a_slow_reader_gets_every_message_whole() {
    const LENGTH: usize = 3_000_000;
    let (go, gone) = gate();
    let peer = Peer::new(move |_, conn| {
        let mut socket = accept(conn);
        gone.wait();
        let mut lengths = Vec::new();
        while let Ok(message) = socket.read() {
            if message.is_text() {
                lengths.push(message.len());
            }
        }
        assert_eq!(lengths, [LENGTH; 3]);
    });
    let mut shift = iterations(&flow(&peer.url(), &steps(&[CONNECT, &send(&"x".repeat(LENGTH))])), 3);
    shift.resize(1);
    shift.until(|shift| shift.users.streaming() == 1);
    let before = shift.account();
    assert!(count(&shift, &before, "message out") < 3);
    go.send(()).unwrap();
    shift.work();
    let after = shift.account();
    assert_eq!(count(&shift, &before, "message out") + count(&shift, &after, "message out"), 3);
}

#[test]
fn users_that_only_send_leave_the_loop_to_others_and_stop() {
    let (peer, received) = echo();
    let mut shift = Shift::new(&flow(&peer.url(), &steps(&[CONNECT, &send("x")])));
    shift.resize(2);
    shift.until(|shift| shift.recorder.total(None).requests >= 2);
    for _ in 0..50 {
        shift.until(|_| true);
        thread::sleep(Duration::from_millis(1));
    }
    shift.stop();
    shift.work();
    drop(peer);
    let account = shift.account();
    assert_eq!(count(&shift, &account, "message out"), received.load(Ordering::SeqCst));
}

#[test]
fn what_is_cut_off_is_cancelled() {
    let (read, has_read) = gate();
    let peer = Peer::new(move |_, conn| {
        let mut socket = accept(conn);
        let _ = read.send(socket.read().unwrap());
        while socket.read().is_ok() {}
    });
    let mut shift = Shift::new(&flow(&peer.url(), &steps(&[CONNECT, &send("x"), RECEIVE])));
    shift.resize(1);
    shift.until(|shift| shift.users.streaming() == 1);
    has_read.wait();
    shift.cut();
    let account = shift.account();
    assert_eq!(row(&shift, &account, "WS receive", Outcome::Unanswered).count, 1);
    assert_eq!((shift.engine.in_flight(), shift.engine.connections()), (0, 0));
}

#[test]
fn a_subprotocol_and_headers_are_offered_and_each_connection_has_its_own_key() {
    let (seen, keys) = gate();
    let peer = Peer::new(move |_, conn| {
        let seen = seen.clone();
        #[allow(clippy::result_large_err)] // the library's type
        let look = |request: &Request, mut response: Response| {
            let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
            seen.send((header("sec-websocket-key").unwrap(), header("x-a"), header("sec-websocket-protocol"))).unwrap();
            response.headers_mut().insert("sec-websocket-protocol", "v2".parse().unwrap());
            Ok(response)
        };
        let mut socket = tungstenite::accept_hdr(conn.stream, look).unwrap();
        while socket.read().is_ok() {}
    });
    let connect = r#"{"name": "/chat", "path": "/chat", "headers": [["X-A", "b"]],
        "websocket": {"connect": {"protocols": ["v1", "v2"]}}}"#;
    let mut shift = iterations(&flow(&peer.url(), &steps(&[connect, CLOSE])), 2);
    shift.resize(1);
    shift.work();
    let account = shift.account();
    assert_eq!(account.messages(), []);
    let [first, second] = [keys.wait(), keys.wait()];
    assert_ne!(first.0, second.0);
    assert_eq!((first.1.as_deref(), first.2.as_deref()), (Some("b"), Some("v1, v2")));
}
