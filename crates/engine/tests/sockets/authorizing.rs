//! Native users whose requests have a token, a signature, or the answer to a challenge.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use plimsoll_engine::{Rules, now};
use plimsoll_record::Outcome;
use serde_json::json;

use crate::peer::{Conn, LIMIT, Peer, gate, ok};
use crate::shift::{Shift, arrivals};

type Heard = Arc<Mutex<Vec<String>>>;

/// A peer that keeps what it is asked, and what it answers to the request with this number, counted from 0.
fn hearing(answer: impl Fn(usize, &str) -> String + Send + Sync + 'static) -> (Peer, Heard) {
    let heard = Heard::default();
    let (kept, count) = (Arc::clone(&heard), AtomicUsize::new(0));
    let peer = Peer::new(move |_, mut conn: Conn| {
        while let Some(head) = conn.head() {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap_or("0");
            let body = conn.body(length.parse().unwrap());
            let text = format!("{head}{}", String::from_utf8(body).unwrap());
            kept.lock().unwrap().push(text.clone());
            conn.write(answer(count.fetch_add(1, Ordering::SeqCst), &text));
        }
    });
    (peer, heard)
}

fn token(number: usize, more: &str) -> String {
    ok(&format!(r#"{{"access_token": "t{number}", "token_type": "Bearer"{more}}}"#))
}

fn refused(more: &str) -> String {
    format!("HTTP/1.1 401 No\r\nContent-Length: 0\r\n{more}\r\n")
}

/// Users that GET /a with a token of the service at the second URL.
fn with_tokens(target: &str, service: &str, form: &str, rules: Rules) -> Shift {
    let auth = json!({"oauth2": {
        "name": "http://id/token", "target": 1, "path": "/token", "headers": [["Accept", "application/json"]],
        "body": form, "refresh": "grant_type=refresh_token", "refresh_before": 30.0, "timeout": 0.5,
    }});
    with_auth(target, service, &auth, rules)
}

fn with_auth(target: &str, service: &str, auth: &serde_json::Value, rules: Rules) -> Shift {
    let definition = json!({
        "targets": [{"url": target}, {"url": service}],
        "feeders": [{"name": "account", "columns": ["name"], "rows": [["ann"], ["bob é"]]}],
        "auths": [auth],
        "flows": [{"name": "flow", "steps": [
            {"name": "/a", "method": "GET", "path": "/a", "auth": 0, "timeout": 60.0},
        ]}],
    });
    Shift::with(&definition.to_string(), rules)
}

fn iterations(count: u64) -> Rules {
    Rules { iterations: Some(count), ..Rules::default() }
}

fn authorizations(heard: &Heard) -> Vec<String> {
    let line = |text: &String| text.lines().find_map(|line| line.strip_prefix("Authorization: ")).map(str::to_owned);
    heard.lock().unwrap().iter().filter_map(line).collect()
}

/// (all requests, requests for tokens) with this outcome.
fn counts(shift: &mut Shift, outcome: Outcome) -> (u64, u64, Vec<(String, u64)>) {
    let account = shift.account();
    (account.count("/a", outcome), account.count("http://id/token", outcome), account.messages())
}

#[test]
fn all_users_share_a_token_which_is_in_no_sum() {
    let (target, asked) = hearing(|_, _| ok(""));
    let (service, forms) = hearing(|number, _| token(number, r#", "expires_in": 3600"#));
    let mut shift = with_tokens(&target.url(), &service.url(), "grant_type=client_credentials", iterations(50));
    shift.resize(10);
    shift.work();
    assert_eq!(shift.recorder.total(None).requests, 50);
    assert_eq!(counts(&mut shift, Outcome::Success), (50, 1, vec![]));
    assert_eq!(authorizations(&asked), vec!["Bearer t0"; 50]);
    let forms = forms.lock().unwrap();
    assert!(forms[0].starts_with("POST /token HTTP/1.1\r\nHost: "), "{forms:?}");
    assert!(forms[0].ends_with("\r\n\r\ngrant_type=client_credentials"), "{forms:?}");
}

#[test]
fn a_proxy_forwards_the_request_for_a_token() {
    let (proxy, heard) = hearing(|_, text| if text.starts_with("POST") { token(0, "") } else { ok("") });
    let auth = json!({"oauth2": {"name": "t", "target": 0, "path": "/t", "body": "a=b", "refresh": "", "refresh_before": 1,
        "timeout": 9}});
    let proxy_url = format!("http://me:pw@{}", proxy.address);
    let definition = json!({"targets": [{"url": "http://h.test:81", "proxy": proxy_url}], "auths": [auth],
        "flows": [{"name": "f", "steps": [{"name": "/a", "method": "GET", "path": "/a", "auth": 0}]}]});
    let mut shift = Shift::with(&definition.to_string(), iterations(2));
    shift.resize(1);
    shift.work();
    let heard = heard.lock().unwrap();
    let lines: Vec<_> = heard.iter().map(|text| text.lines().next().unwrap()).collect();
    let get = "GET http://h.test:81/a HTTP/1.1";
    assert_eq!(lines, ["POST http://h.test:81/t HTTP/1.1", get, get]);
    assert!(heard.iter().all(|text| text.contains("Proxy-Authorization: Basic bWU6cHc=\r\n")), "{heard:?}");
}

#[test]
fn each_account_has_a_token() {
    let (target, asked) = hearing(|_, _| ok(""));
    let (service, forms) = hearing(|_, text| token(usize::from(text.ends_with("=ann")), ""));
    let form = "grant_type=password&username=${account.name}";
    let mut shift = with_tokens(&target.url(), &service.url(), form, iterations(20));
    shift.resize(4);
    shift.work();
    assert_eq!(counts(&mut shift, Outcome::Success), (20, 2, vec![]));
    let mut sent = authorizations(&asked);
    sent.sort();
    assert_eq!(sent, [vec!["Bearer t0"; 10], vec!["Bearer t1"; 10]].concat());
    let mut bodies: Vec<_> =
        forms.lock().unwrap().iter().map(|text| text.rsplit('=').next().unwrap().to_owned()).collect();
    bodies.sort();
    assert_eq!(bodies, ["ann", "bob%20%C3%A9"]);
}

#[test]
fn a_token_that_has_expired_is_replaced_with_its_refresh_token() {
    let (target, asked) = hearing(|_, _| ok(""));
    // The third request, which is the second one with a refresh token, is refused.
    let (service, forms) = hearing(|number, _| match number {
        2 => "HTTP/1.1 400 No\r\nContent-Length: 25\r\n\r\n{\"error\":\"invalid_grant\"} ".into(),
        _ => token(number, &format!(r#", "expires_in": 0, "refresh_token": "r+{number}""#)),
    });
    let mut shift = with_tokens(&target.url(), &service.url(), "grant_type=password", iterations(3));
    shift.resize(1);
    shift.work();
    assert_eq!(authorizations(&asked), ["Bearer t0", "Bearer t1", "Bearer t3"]);
    let forms = forms.lock().unwrap();
    let bodies: Vec<_> = forms.iter().map(|text| text.rsplit("\r\n").next().unwrap()).collect();
    assert_eq!(
        bodies,
        [
            "grant_type=password",
            "grant_type=refresh_token&refresh_token=r%2B0",
            "grant_type=refresh_token&refresh_token=r%2B1",
            "grant_type=password",
        ]
    );
    let (requests, tokens, messages) = counts(&mut shift, Outcome::Success);
    assert_eq!((requests, tokens), (3, 3));
    assert_eq!(messages, [("status 400, invalid_grant".to_owned(), 1)]);
}

#[test]
fn a_token_that_the_target_refuses_is_not_used_again() {
    let (target, asked) = hearing(|_, text| if text.contains("t0") { refused("") } else { ok("") });
    let (service, _) = hearing(|number, _| token(number, ""));
    let mut shift = with_tokens(&target.url(), &service.url(), "a=b", iterations(5));
    shift.resize(1);
    shift.work();
    assert_eq!(authorizations(&asked), ["Bearer t0", "Bearer t1", "Bearer t1", "Bearer t1", "Bearer t1"]);
    let account = shift.account();
    assert_eq!((account.count("/a", Outcome::Success), account.count("/a", Outcome::Http)), (4, 1));
}

#[test]
fn a_target_that_refuses_every_token_does_not_load_their_service() {
    let (target, _) = hearing(|_, _| refused(""));
    let (service, _) = hearing(|number, _| token(number, ""));
    let mut shift = with_tokens(&target.url(), &service.url(), "a=b", iterations(200));
    shift.resize(5);
    shift.work();
    assert_eq!(shift.account().count("/a", Outcome::Http), 200);
    // Of 200 requests within far less than a minute.
    assert!(service.requests() < 10, "{}", service.requests());
}

#[test]
fn a_service_that_gives_no_token_is_the_failure_of_the_steps_that_need_it() {
    let big = format!("HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n{}", "x".repeat(9_000_000));
    for (answer, reason, outcome) in [
        (
            "HTTP/1.1 401 No\r\nContent-Length: 26\r\n\r\n{\"error\":\"invalid_client\"}".to_owned(),
            "status 401, invalid_client",
            Outcome::Http,
        ),
        (ok("<html>Log in"), "status 200, and the reply is not JSON: <html>Log in", Outcome::Protocol),
        (ok("{}"), "status 200, and the reply has no access_token", Outcome::Protocol),
        (big, "its reply is longer than 1 MiB", Outcome::Protocol),
        (String::new(), "no complete response within 0.5 s", Outcome::Timeout),
        ("nonsense\r\n\r\n".into(), "", Outcome::Protocol),
    ] {
        let service = Peer::new(move |_, mut conn: Conn| {
            conn.request();
            // The users may close the connection before all of it is written.
            let _ = std::io::Write::write_all(&mut conn.stream, answer.as_bytes());
            conn.rest();
        });
        let mut shift = with_tokens("http://127.0.0.1:9", &service.url(), "a=b", iterations(3));
        shift.resize(3);
        shift.work();
        let account = shift.account();
        assert_eq!(account.count("/a", Outcome::Protocol), 3, "{reason}");
        assert_eq!((account.count("http://id/token", outcome), service.requests()), (1, 1), "no herd: {reason}");
        let messages = account.messages();
        let said = format!("cannot be sent: http://id/token gives no token: {reason}");
        assert!(messages.iter().any(|(message, count)| message.starts_with(&said) && *count == 3), "{messages:?}");
    }
}

#[test]
fn a_service_that_fails_is_asked_again_after_a_wait() {
    let (service, _) = hearing(|number, _| if number == 0 { ok("{}") } else { token(number, "") });
    let (target, _) = hearing(|_, _| ok(""));
    let mut shift = with_tokens(&target.url(), &service.url(), "a=b", iterations(4));
    let start = now();
    shift.resize(2);
    shift.work();
    assert!(now() - start >= 500_000_000, "the first wait");
    let (sent, tokens, messages) = counts(&mut shift, Outcome::Success);
    assert_eq!((sent, tokens, messages.len()), (2, 1, 2), "{messages:?}");
}

#[test]
fn the_wait_for_a_token_is_response_time_in_the_open_model_and_no_lag() {
    let (open, closed) = gate();
    let (target, _) = hearing(|_, _| ok(""));
    let service = Peer::new(move |_, mut conn: Conn| {
        conn.request();
        closed.wait();
        conn.write(token(0, ""));
        conn.rest();
    });
    let rules = Rules { max_users: 9, ..Rules::default() };
    let auth = json!({"oauth2": {"name": "t", "target": 1, "path": "/t", "body": "a=b", "refresh": "", "refresh_before": 1,
        "timeout": LIMIT.as_secs()}});
    let mut shift = with_auth(&target.url(), &service.url(), &auth, rules);
    let start = now();
    shift.arrive(arrivals([0, 0, 0]), start);
    shift.until(|_| service.requests() == 1);
    let held = now();
    open.send(()).unwrap();
    shift.until(|shift| shift.users.done());
    let rows = shift.rows();
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert!(row.due == start && row.sent >= held && row.arrival > row.sent, "{row:?}");
    }
    let account = shift.account();
    assert_eq!(account.arrivals(), (3, 0));
    let waited = account.taken.cells.iter().find(|(_, id, ..)| shift.recorder.name(*id) == Some(("GET", "/a")));
    assert!(waited.unwrap().3.response_sum >= 3 * (held - start) / 1000 * 1000);
    shift.cut();
}

#[test]
fn the_wait_for_a_token_that_does_not_come_is_no_lag() {
    let (open, closed) = gate();
    let service = Peer::new(move |_, mut conn: Conn| {
        conn.request();
        closed.wait();
        conn.write(ok("{}"));
        conn.rest();
    });
    let rules = Rules { max_users: 9, ..Rules::default() };
    let auth = json!({"oauth2": {"name": "t", "target": 1, "path": "/t", "body": "a=b", "refresh": "", "refresh_before": 1,
        "timeout": LIMIT.as_secs()}});
    let mut shift = with_auth("http://127.0.0.1:9", &service.url(), &auth, rules);
    shift.arrive(arrivals([0, 0, 0]), now());
    shift.until(|_| service.requests() == 1);
    open.send(()).unwrap();
    shift.until(|shift| shift.users.done());
    let account = shift.account();
    assert_eq!(account.count("/a", Outcome::Protocol), 3);
    let lags: Vec<_> = account.taken.health.iter().map(|(_, health)| (health.lag.count(), health.lag.max())).collect();
    assert!(lags.iter().any(|(count, _)| *count > 0) && lags.iter().all(|(_, longest)| *longest == 0), "{lags:?}");
    shift.cut();
}

#[test]
fn requests_of_users_that_are_ended_while_they_wait_for_a_token_are_unanswered() {
    for is_open in [false, true] {
        let service = Peer::new(|_, mut conn: Conn| {
            conn.request();
            conn.rest();
        });
        let auth = json!({"oauth2": {"name": "t", "target": 1, "path": "/t", "body": "a=${user}", "refresh": "",
            "refresh_before": 1, "timeout": LIMIT.as_secs()}});
        let mut shift = with_auth("http://127.0.0.1:9", &service.url(), &auth, Rules::default());
        if is_open {
            shift.arrive(arrivals([0; 40]), now());
        } else {
            shift.resize(40);
        }
        shift.until(|_| service.requests() == 32);
        assert_eq!(shift.users.authorizing(), 40);
        shift.stop();
        assert_eq!(shift.users.users(), if is_open { 40 } else { 0 });
        shift.cut();
        assert_eq!((shift.engine.in_flight(), shift.engine.connections()), (0, 0));
        let account = shift.account();
        assert_eq!((account.count("/a", Outcome::Unanswered), account.count("t", Outcome::Unanswered)), (40, 32));
        assert_eq!(account.counts().values().sum::<u64>(), 72);
    }
}

#[test]
fn a_challenge_is_answered_and_has_a_row_of_its_own() {
    let challenge =
        |stale| refused(&format!("WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"{stale}\r\n"));
    let auth = json!({"digest": {"user": "${account.name}", "password": "secret"}});
    let (target, asked) = hearing(move |number, text| match number {
        _ if !text.contains("Authorization: Digest username=\"") => challenge(""),
        3 => challenge(", stale=true"),
        _ => ok(""),
    });
    let mut shift = with_auth(&target.url(), "http://127.0.0.1:9", &auth, iterations(4));
    shift.resize(1);
    shift.work();
    assert_eq!(shift.recorder.total(None).requests, 4);
    let account = shift.account();
    let row = |method: &str| {
        let of = |id| shift.recorder.name(id) == Some((method, "/a"));
        account.taken.cells.iter().filter(|(_, id, ..)| of(*id)).map(|(.., cell)| cell.count).sum::<u64>()
    };
    assert_eq!((row("GET"), row("auth challenge"), account.messages()), (4, 2, vec![]));
    let counts: Vec<_> =
        authorizations(&asked).iter().map(|line| line.split("nc=").nth(1).unwrap()[..8].to_owned()).collect();
    assert_eq!(counts, ["00000001", "00000002", "00000003", "00000001", "00000002"]);
}

#[test]
fn a_wrong_password_is_the_failure_of_the_step() {
    let (target, _) = hearing(|_, _| refused("WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"));
    let auth = json!({"digest": {"user": "a", "password": "b"}});
    let mut shift = with_auth(&target.url(), "http://127.0.0.1:9", &auth, iterations(3));
    shift.resize(1);
    shift.work();
    let account = shift.account();
    assert_eq!(account.messages(), [("status 401".to_owned(), 3)]);
    assert_eq!(target.requests(), 4, "one challenge");
}

#[test]
fn a_request_is_signed_when_it_is_sent() {
    let (target, asked) = hearing(|_, _| ok(""));
    let auth =
        json!({"aws_sigv4": {"access_key": "AKID", "secret_key": "s", "region": "eu-central-1", "service": "sqs"}});
    let mut shift = with_auth(&target.url(), "http://127.0.0.1:9", &auth, iterations(2));
    shift.resize(1);
    shift.work();
    assert_eq!(shift.account().count("/a", Outcome::Success), 2);
    for line in authorizations(&asked) {
        assert!(line.starts_with("AWS4-HMAC-SHA256 Credential=AKID/"), "{line}");
        assert!(line.contains("/eu-central-1/sqs/aws4_request, SignedHeaders=host;x-amz-date, Signature="), "{line}");
    }
}
