//! Native users by way of a proxy: plain requests are forwarded, everything else goes through a tunnel.

use std::collections::HashMap;

use plimsoll_engine::{Rules, Script};
use plimsoll_record::Outcome;
use plimsoll_scenario::Scenario;

use crate::peer::{Conn, Peer, gate, ok};
use crate::shift::{Shift, get};

/// A scenario for `url` through this proxy.
fn through(proxy: &str, url: &str, fields: &str, steps: &str) -> String {
    format!(
        r#"{{"targets": [{{"url": "{url}", "proxy": "{proxy}"{fields}}}], "accept_encoding": false, "cookies": true,
            "flows": [{{"name": "flow", "steps": [{steps}]}}]}}"#
    )
}

fn play(definition: &str) -> Shift {
    let mut shift = Shift::with(definition, Rules { iterations: Some(1), ..Rules::default() });
    shift.resize(1);
    shift.work();
    shift
}

#[test]
fn plain_requests_have_whole_urls_and_credentials_each_time() {
    let (asked, heads) = gate();
    let proxy = Peer::new(move |_, mut conn: Conn| {
        while let Some(head) = conn.head() {
            asked.send(head).unwrap();
            conn.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nSet-Cookie: sid=1; Path=/b\r\n\r\nok");
        }
    });
    let url = format!("http://me:p%40ss@{}", proxy.address);
    let steps = [get("/a?x=1", ""), get("/b/${iteration}", "")].join(",");
    play(&through(&url, "http://origin.test:81", "", &steps));
    let [first, second] = [heads.wait(), heads.wait()];
    assert!(first.starts_with("GET http://origin.test:81/a?x=1 HTTP/1.1\r\nHost: origin.test:81\r\n"), "{first}");
    assert!(second.starts_with("GET http://origin.test:81/b/0 HTTP/1.1\r\nHost: origin.test:81\r\n"), "{second}");
    for head in [&first, &second] {
        assert_eq!(head.matches("Proxy-Authorization: Basic bWU6cEBzcw==\r\n").count(), 1, "{head}");
    }
    assert!(second.contains("\r\nCookie: sid=1\r\n") && !first.contains("Cookie"), "{second}");
    assert_eq!(proxy.connections(), 1);
}

#[test]
fn what_a_proxy_answers_to_a_plain_request_is_a_response_with_its_status() {
    for (status, outcome) in [(200, Outcome::Success), (403, Outcome::Http), (407, Outcome::Http), (502, Outcome::Http)]
    {
        let proxy = Peer::answering(format!("HTTP/1.1 {status} Reason\r\nContent-Length: 0\r\n\r\n"));
        let mut shift = play(&through(&proxy.url(), "http://origin.test", "", &get("/", "")));
        let account = shift.account();
        assert_eq!(account.counts(), HashMap::from([(outcome, 1)]), "{status}");
        let messages = account.messages();
        assert_eq!(messages.len(), usize::from(status >= 400));
        assert!(messages.iter().all(|(text, _)| text.contains(&status.to_string())), "{messages:?}");
    }
}

#[test]
fn https_http2_and_websockets_go_through_a_tunnel() {
    let connect = r#"{"name": "/chat", "path": "/chat", "websocket": {"connect": {}}},
        {"name": "/chat", "websocket": {"close": 1000}}"#;
    for (url, fields, steps, line) in [
        ("https://origin.test", r#", "verify": false"#, get("/", ""), "CONNECT origin.test:443 HTTP/1.1\r\n"),
        ("http://origin.test", r#", "http2": true"#, get("/", ""), "CONNECT origin.test:80 HTTP/1.1\r\n"),
        ("http://origin.test:81", "", connect.to_owned(), "CONNECT origin.test:81 HTTP/1.1\r\n"),
    ] {
        let (asked, heads) = gate();
        let proxy = Peer::new(move |_, mut conn: Conn| {
            asked.send(conn.head().unwrap()).unwrap();
            conn.write("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n");
        });
        let mut shift = play(&through(&proxy.url(), url, fields, &steps));
        assert!(heads.wait().starts_with(line), "{url}");
        assert_eq!(shift.account().counts().get(&Outcome::Connect), Some(&1), "{url}");
    }
}

#[test]
fn a_target_has_forwarded_requests_and_tunnelled_websockets_side_by_side() {
    let (asked, heads) = gate();
    let proxy = Peer::new(move |_, mut conn: Conn| {
        let head = conn.head().unwrap();
        let answer = if head.starts_with("CONNECT") { "HTTP/1.1 200 OK\r\n\r\n".to_owned() } else { ok("hello") };
        asked.send(head).unwrap();
        conn.write(answer);
        while let Some(head) = conn.head() {
            asked.send(head).unwrap();
            conn.write("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let socket = r#"{"name": "/chat", "path": "/chat", "websocket": {"connect": {}}},
        {"name": "/chat", "websocket": {"close": 1000}}"#;
    let steps = [get("/a", ""), socket.to_owned()].join(",");
    play(&through(&format!("http://me:x@{}", proxy.address), "http://origin.test", "", &steps));
    assert!(heads.wait().starts_with("GET http://origin.test/a HTTP/1.1\r\n"));
    assert!(heads.wait().starts_with("CONNECT origin.test:80 HTTP/1.1\r\n"));
    let upgrade = heads.wait();
    assert!(upgrade.starts_with("GET /chat HTTP/1.1\r\nHost: origin.test\r\n"), "{upgrade}");
    assert!(!upgrade.contains("Proxy-Authorization"), "credentials are for the proxy alone");
}

#[test]
fn a_proxy_that_is_no_url_of_one_is_refused() {
    for proxy in ["https://p", "socks4://p", "p:1", "http://", "socks5://"] {
        let scenario = Scenario::new(&through(proxy, "http://h", "", &get("/", "")), 0, 1, 1).unwrap();
        let error = Script::new(scenario).unwrap_err().to_string();
        assert!(error.starts_with("targets[0]: proxy ") && error.contains("use http://"), "{proxy}: {error}");
    }
}
