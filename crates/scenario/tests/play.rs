//! Users play a scenario, worker by worker.

#![allow(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]

use std::collections::HashSet;
use std::sync::Arc;

use plimsoll_scenario::{Exhausted, Next, Player, Prepared, Scenario, Session, Verdict};
use serde_json::{Value, json};

fn player_of(definition: &Value, index: u32, of: u32, seed: u64) -> Player {
    let scenario = Arc::new(Scenario::new(&definition.to_string(), index, of, seed).unwrap());
    let authorities = vec!["h:1"; scenario.targets().len()];
    Player::new(scenario, &authorities, || 0).unwrap()
}

fn player(definition: &Value) -> Player {
    player_of(definition, 0, 1, 1)
}

fn flows(flows: &Value) -> Value {
    json!({"targets": [{"url": "http://h:1"}], "accept_encoding": false, "flows": flows})
}

/// One flow with these steps.
fn steps(steps: &Value) -> Value {
    flows(&json!([{"name": "f", "steps": steps}]))
}

fn get(path: &str) -> Value {
    json!({"name": path, "method": "GET", "path": path})
}

/// The bytes of the session's request.
fn sent(player: &mut Player, session: &mut Session) -> Result<String, String> {
    let mut made = Vec::new();
    let bytes = match player.request(session, &mut made)? {
        Prepared::Constant(constant) => constant.bytes.to_vec(),
        Prepared::Made { .. } => made,
    };
    Ok(String::from_utf8(bytes).unwrap())
}

/// The request target of the session's request.
fn path(player: &mut Player, session: &mut Session) -> String {
    sent(player, session).unwrap().split(' ').nth(1).unwrap().to_owned()
}

/// Starts an iteration of one step, and returns its request target.
fn next_path(player: &mut Player, session: &mut Session) -> Result<String, Exhausted> {
    player.begin(session)?;
    let path = path(player, session);
    assert_eq!(player.advance(session), Next::End { think: 0 });
    Ok(path)
}

#[test]
fn a_constant_request_is_shared_by_all_and_makes_nothing() {
    let mut player = player(&steps(&json!([{"name": "a", "method": "PUT", "path": "/a", "body": {"text": "xyz"}}])));
    let mut into = Vec::new();
    let mut seen = Vec::new();
    for _ in 0..3 {
        let mut session = player.session();
        player.begin(&mut session).unwrap();
        let Ok(Prepared::Constant(constant)) = player.request(&mut session, &mut into) else { panic!("not constant") };
        assert_eq!(&constant.bytes[constant.head..], b"xyz");
        assert!(!constant.expect_continue);
        seen.push(constant.bytes.clone());
    }
    assert!(seen.iter().all(|bytes| Arc::ptr_eq(bytes, &seen[0])));
    assert_eq!(into.capacity(), 0);
    let text = String::from_utf8(seen[0].to_vec()).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let headers = format!("Host: h:1\r\nUser-Agent: plimsoll/{version}\r\nAccept: */*\r\nContent-Length: 3\r\n");
    assert_eq!(text, format!("PUT /a HTTP/1.1\r\n{headers}\r\nxyz"));
}

#[test]
fn a_made_request_is_appended_and_says_where_its_body_begins() {
    let step = json!({"name": "a", "method": "POST", "path": "/", "headers": [["Expect", "100-continue"]],
        "body": {"text": "${iteration}"}});
    let mut player = player(&steps(&json!([step])));
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    let mut into = b"before".to_vec();
    let Ok(Prepared::Made { head, expect_continue }) = player.request(&mut session, &mut into) else {
        panic!("constant")
    };
    assert!(expect_continue && into.starts_with(b"beforePOST / "));
    assert_eq!(&into[6 + head..], b"0");
}

#[test]
fn headers_of_a_step_hide_those_of_its_target_and_they_the_defaults() {
    let definition = json!({
        "targets": [{"url": "http://h:1", "headers": [["user-agent", "own"], ["X-A", "1"], ["X-B", "2"]]}],
        "flows": [{"name": "f", "steps": [
            {"name": "s", "method": "GET", "path": "/", "headers": [["x-a", "3"], ["x-a", "4"], ["accept", "text/html"]]},
        ]}],
    });
    let mut player = player(&definition);
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    let headers = "Accept-Encoding: gzip, deflate, br, zstd\r\nuser-agent: own\r\nX-B: 2\r\nx-a: 3\r\nx-a: 4\r\n";
    let expected = format!("GET / HTTP/1.1\r\nHost: h:1\r\n{headers}accept: text/html\r\n\r\n");
    assert_eq!(sent(&mut player, &mut session).unwrap(), expected);
}

#[test]
fn steps_come_one_after_the_other_with_their_think_times_and_then_again() {
    let mut definition = steps(&json!([get("/a"), get("/b")]));
    definition["flows"][0]["steps"][0]["think"] = json!({"constant": 0.5});
    definition["flows"][0]["steps"][1]["think"] = json!({"constant": 2});
    let mut player = player(&definition);
    let mut session = player.session();
    for _ in 0..2 {
        player.begin(&mut session).unwrap();
        assert_eq!((session.step().index(), path(&mut player, &mut session)), (0, "/a".into()));
        assert_eq!(player.advance(&mut session), Next::Step { think: 500_000_000 });
        assert_eq!((session.step().index(), path(&mut player, &mut session)), (1, "/b".into()));
        assert_eq!(player.advance(&mut session), Next::End { think: 2_000_000_000 });
    }
}

#[test]
fn what_a_step_extracts_later_ones_use_until_the_iteration_ends() {
    let login = json!({"name": "login", "method": "GET", "path": "/login", "extract": [
        {"into": "token", "from": "json", "what": "/token"}, {"into": "role", "from": "json", "what": "/role", "default": "guest"},
    ]});
    let mut player = player(&steps(&json!([login, get("/${token}/${role}")])));
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    assert_eq!(player.judge(&mut session, 200, b"", b"{\"token\": \"a b\", \"role\": \"admin\"}", 0), Verdict::Success);
    player.advance(&mut session);
    assert_eq!(path(&mut player, &mut session), "/a%20b/admin");
    player.advance(&mut session);

    player.begin(&mut session).unwrap();
    let verdict = player.judge(&mut session, 200, b"", b"{}", 0);
    assert_eq!(verdict, Verdict::Assertion("no value of json /token".into()));
    player.advance(&mut session);
    let error = sent(&mut player, &mut session).unwrap_err();
    assert_eq!(error, "cannot be sent: ${token} has no value, no earlier response had one");
    player.advance(&mut session);

    player.begin(&mut session).unwrap();
    // The login got no response, so nothing is checked.
    player.advance(&mut session);
    assert!(sent(&mut player, &mut session).unwrap_err().contains("${token}"));
}

#[test]
fn a_response_is_compared_with_the_values_of_its_user() {
    let step = |name: &str, expect: &Value| {
        json!({"name": name, "method": "GET", "path": "/", "expect": expect,
            "extract": [{"into": "v", "from": "json", "what": "/v"}]})
    };
    let mut definition =
        steps(&json!([step("a", &json!({})), step("b", &json!({"json": [["/of", "${v}"], ["/to", "${f.a}"]]}))]));
    // No request has a cell of the feeder.
    definition["feeders"] = json!([{"name": "f", "columns": ["a"], "rows": [["x"], ["y"]]}]);
    let mut player = player(&definition);
    let mut session = player.session();
    for (first, second, expected) in [
        ("{\"v\": 7}", "{\"of\": 7, \"to\": \"x\", \"v\": 8}", Verdict::Success),
        (
            "{\"v\": 7}",
            "{\"of\": \"8\", \"to\": \"y\", \"v\": 8}",
            Verdict::Assertion("json /of is \"8\" and not \"7\"".into()),
        ),
        (
            "{}",
            "{\"v\": 8}",
            Verdict::Assertion("expect cannot be checked: ${v} has no value, no earlier response had one".into()),
        ),
    ] {
        player.begin(&mut session).unwrap();
        player.judge(&mut session, 200, b"", first.as_bytes(), 0);
        player.advance(&mut session);
        assert_eq!(player.judge(&mut session, 200, b"", second.as_bytes(), 0), expected);
        player.advance(&mut session);
    }
}

#[test]
fn a_default_stands_in_when_there_was_no_response() {
    let first = json!({"name": "a", "method": "GET", "path": "/", "extract": [
        {"into": "v", "from": "regex", "what": "a", "default": "none"}]});
    let mut player = player(&steps(&json!([first, get("/${v}")])));
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    player.advance(&mut session);
    assert_eq!(path(&mut player, &mut session), "/none");
}

#[test]
fn variables_of_one_flow_are_not_those_of_another() {
    let step = |into: &str, path: &str| json!([{"name": "a", "method": "GET", "path": "/", "extract": [{"into": into, "from": "regex", "what": ".+"}]}, get(path)]);
    let mut definition =
        flows(&json!([{"name": "a", "steps": step("x", "/a/${x}")}, {"name": "b", "steps": step("y", "/b/${y}")}]));
    definition["choice"] = "in_turn".into();
    let mut player = player(&definition);
    let mut session = player.session();
    for (body, expected) in [("1", Some("/a/1")), ("", None), ("3", Some("/a/3"))] {
        player.begin(&mut session).unwrap();
        player.judge(&mut session, 200, b"", body.as_bytes(), 0);
        player.advance(&mut session);
        let target = sent(&mut player, &mut session).ok().map(|text| text.split(' ').nth(1).unwrap().to_owned());
        assert_eq!(target.as_deref(), expected);
    }
}

#[test]
fn a_line_break_in_a_header_value_is_not_sent() {
    let step = json!({"name": "b", "method": "GET", "path": "/", "headers": [["X-A", "${v}"]]});
    let first =
        json!({"name": "a", "method": "GET", "path": "/", "extract": [{"into": "v", "from": "json", "what": "/v"}]});
    let mut player = player(&steps(&json!([first, step])));
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    player.judge(&mut session, 200, b"", br#"{"v": "a\r\nX-B: injected"}"#, 0);
    player.advance(&mut session);
    let error = sent(&mut player, &mut session).unwrap_err();
    assert!(error.starts_with("cannot be sent: the value of the header \"X-A\" has a control character"), "{error}");
}

#[test]
fn users_and_iterations_have_numbers_that_are_unique_over_all_workers() {
    let definition = steps(&json!([get("/${user}/${iteration}")]));
    let (mut users, mut iterations) = (HashSet::new(), HashSet::new());
    for index in 0..3 {
        let mut player = player_of(&definition, index, 3, 1);
        let mut sessions: Vec<_> = (0..4).map(|_| player.session()).collect();
        for _ in 0..5 {
            for session in &mut sessions {
                let path = next_path(&mut player, session).unwrap();
                assert_eq!(path, format!("/{}/{}", session.user(), session.iteration()));
                users.insert(session.user());
                assert!(iterations.insert(session.iteration()), "{}", session.iteration());
            }
        }
    }
    assert_eq!(users, (0..12).collect());
    assert_eq!(iterations, (0..60).collect());
}

#[test]
fn flows_in_turn_are_in_turn_over_all_workers() {
    let all: Vec<_> = (0..4).map(|n| json!({"name": n.to_string(), "steps": [get(&format!("/{n}"))]})).collect();
    let mut definition = flows(&Value::Array(all));
    definition["choice"] = "in_turn".into();
    let mut players: Vec<_> = (0..3).map(|index| player_of(&definition, index, 3, 1)).collect();
    for n in 0..12 {
        let player = &mut players[n % 3];
        let mut session = player.session();
        assert_eq!(next_path(player, &mut session).unwrap(), format!("/{}", n % 4));
    }
}

#[test]
fn an_iteration_that_is_skipped_has_its_flow_and_number_but_draws_no_row() {
    let feeder = json!({"name": "f", "columns": ["n"], "rows": [["1"], ["2"]], "at_end": "stop"});
    let mut definition = flows(&json!([
        {"name": "a", "steps": [get("/a/${iteration}"), get("/")]}, {"name": "b", "steps": [get("/b/${f.n}")]},
    ]));
    definition["choice"] = "in_turn".into();
    definition["feeders"] = json!([feeder]);
    let mut player = player(&definition);
    let mut session = player.session();
    assert_eq!([player.skip().index(), player.skip().index()], [0, 2]);
    player.begin(&mut session).unwrap();
    assert_eq!(path(&mut player, &mut session), "/a/2");
    assert_eq!(next_path(&mut player, &mut session).unwrap(), "/b/1");
}

#[test]
fn flows_are_chosen_by_weight_and_again_the_same_for_the_same_seed() {
    let definition = flows(&json!([
        {"name": "a", "weight": 3, "steps": [get("/a")]}, {"name": "b", "weight": 1, "steps": [get("/b")]},
        {"name": "c", "weight": 0, "steps": [get("/c")]},
    ]));
    let chosen = |index, seed| {
        let mut player = player_of(&definition, index, 2, seed);
        let mut session = player.session();
        (0..4000).map(|_| next_path(&mut player, &mut session).unwrap()).collect::<Vec<_>>()
    };
    let first = chosen(0, 1);
    let count = |path: &str| first.iter().filter(|other| *other == path).count();
    assert!((2800..3200).contains(&count("/a")), "{}", count("/a"));
    assert_eq!((count("/a") + count("/b"), count("/c")), (4000, 0));
    assert_eq!(chosen(0, 1), first);
    assert_ne!(chosen(1, 1), first);
    assert_ne!(chosen(0, 2), first);
}

fn with_feeder(feeder: &Value, path: &str) -> Value {
    let mut definition = steps(&json!([get(path)]));
    definition["feeders"] = json!([feeder]);
    definition
}

#[test]
fn workers_share_out_the_rows_and_end_when_they_have_none_left() {
    let rows: Vec<_> = (0..7).map(|n| [n.to_string()]).collect();
    for (at_end, fail) in [("stop", false), ("fail", true)] {
        let feeder = json!({"name": "f", "columns": ["n"], "rows": rows, "share": "split", "at_end": at_end});
        let definition = with_feeder(&feeder, "/${f.n}");
        let mut drawn = Vec::new();
        for (index, expected) in [(0, &["/0", "/3", "/6"][..]), (1, &["/1", "/4"]), (2, &["/2", "/5"])] {
            let mut player = player_of(&definition, index, 3, 1);
            let mut session = player.session();
            let own: Vec<_> = std::iter::from_fn(|| next_path(&mut player, &mut session).ok()).collect();
            assert_eq!(own, expected);
            drawn.extend(own);
            let exhausted = player.begin(&mut session).unwrap_err();
            assert_eq!(exhausted, Exhausted { feeder: "f".into(), fail });
        }
        assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), 7);
    }
}

#[test]
fn an_iteration_keeps_its_row_for_all_its_steps_and_other_users_have_others() {
    let feeder = json!({"name": "f", "columns": ["id", "name"], "rows": [["1", "Ann"], ["2", "Bob"]]});
    let mut definition = steps(&json!([get("/${f.id}"), get("/${f.name}")]));
    definition["feeders"] = json!([feeder]);
    let mut player = player(&definition);
    let (mut one, mut two) = (player.session(), player.session());
    player.begin(&mut one).unwrap();
    player.begin(&mut two).unwrap();
    assert_eq!([path(&mut player, &mut one), path(&mut player, &mut two)], ["/1", "/2"]);
    player.advance(&mut one);
    player.advance(&mut two);
    assert_eq!([path(&mut player, &mut one), path(&mut player, &mut two)], ["/Ann", "/Bob"]);
    player.begin(&mut one).unwrap();
    assert_eq!(path(&mut player, &mut one), "/1");
}

#[test]
fn only_the_feeders_that_a_flow_uses_are_drawn_from() {
    let feeder = |name| json!({"name": name, "columns": ["n"], "rows": [["1"], ["2"]], "at_end": "stop"});
    let mut definition = flows(&json!([
        {"name": "a", "steps": [get("/a/${x.n}")]}, {"name": "b", "steps": [get("/b/${y.n}")]}, {"name": "c", "steps": [get("/c")]},
    ]));
    definition["feeders"] = json!([feeder("x"), feeder("y")]);
    definition["choice"] = "in_turn".into();
    let mut player = player(&definition);
    let mut session = player.session();
    let paths: Vec<_> = (0..6).map(|_| next_path(&mut player, &mut session).unwrap()).collect();
    assert_eq!(paths, ["/a/1", "/b/1", "/c", "/a/2", "/b/2", "/c"]);
    assert_eq!(next_path(&mut player, &mut session).unwrap_err().feeder, "x");
}

#[test]
fn cookies_go_back_to_their_host_from_then_on() {
    let mut definition = json!({
        "targets": [{"url": "http://h:1"}, {"url": "http://h:2"}, {"url": "http://other"}],
        "cookies": true, "accept_encoding": false,
        "flows": [{"name": "f", "steps": [
            {"name": "a", "method": "GET", "path": "/"}, {"name": "b", "target": 1, "method": "GET", "path": "/"},
            {"name": "c", "target": 2, "method": "GET", "path": "/"},
        ]}],
    });
    for (cookies, expected) in [(true, [false, true, false, true]), (false, [false; 4])] {
        definition["cookies"] = cookies.into();
        let mut player = player(&definition);
        let mut session = player.session();
        let mut has_cookie = Vec::new();
        player.begin(&mut session).unwrap();
        for _ in 0..3 {
            has_cookie.push(sent(&mut player, &mut session).unwrap().ends_with("\r\nCookie: sid=1\r\n\r\n"));
            let head = if has_cookie.len() == 1 { &b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=1\r\n\r\n"[..] } else { b"" };
            assert_eq!(player.judge(&mut session, 200, head, b"", 0), Verdict::Success);
            player.advance(&mut session);
        }
        player.begin(&mut session).unwrap();
        has_cookie.push(sent(&mut player, &mut session).unwrap().contains("Cookie:"));
        assert_eq!(has_cookie, expected, "the first iteration's three requests, and the next one's first");
        let mut newcomer = player.session();
        player.begin(&mut newcomer).unwrap();
        assert!(!sent(&mut player, &mut newcomer).unwrap().contains("Cookie:"));
    }
}

#[test]
fn targets_of_one_domain_share_its_cookies() {
    let mut player = player(&json!({
        "targets": [{"url": "http://login.x.test"}, {"url": "http://api.x.test:81"}, {"url": "http://y.test"}],
        "cookies": true,
        "flows": [{"name": "f", "steps": [
            {"name": "a", "method": "GET", "path": "/"}, {"name": "b", "target": 1, "method": "GET", "path": "/"},
            {"name": "c", "target": 2, "method": "GET", "path": "/"},
        ]}],
    }));
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=1; Domain=x.test\r\nSet-Cookie: far=1; Domain=y.test\r\n\r\n";
    player.judge(&mut session, 200, head, b"", 0);
    let mut requests = Vec::new();
    for _ in 0..2 {
        player.advance(&mut session);
        requests.push(sent(&mut player, &mut session).unwrap());
    }
    assert!(requests[0].ends_with("\r\nCookie: sid=1\r\n\r\n"), "{}", requests[0]);
    assert!(!requests[1].contains("Cookie"), "{}", requests[1]);
}

#[test]
fn a_cookie_without_a_path_belongs_to_the_directory_that_was_requested() {
    let paths = ["/users/${user}/login?to=/a/b", "/users/${user}/x", "/users/other", "/fixed/${user}", "/fixed", "/a"];
    let mut definition = steps(&paths.iter().map(|path| get(path)).collect());
    definition["cookies"] = true.into();
    let mut player = player(&definition);
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    let mut found = Vec::new();
    for step in 0..paths.len() {
        let request = sent(&mut player, &mut session).unwrap();
        found.push(request.split_once("\r\nCookie: ").map_or("", |(_, value)| value.trim_end()).to_owned());
        let line = if step == 0 || step == 3 { format!("Set-Cookie: c{step}=1\r\n") } else { String::new() };
        player.judge(&mut session, 200, format!("HTTP/1.1 200 OK\r\n{line}\r\n").as_bytes(), b"", 0);
        player.advance(&mut session);
    }
    assert_eq!(found, ["", "c0=1", "", "", "c3=1", ""]);
}

#[test]
fn a_date_in_the_past_by_the_players_clock_removes_a_cookie() {
    let mut definition = steps(&json!([get("/a"), get("/b"), get("/c")]));
    definition["cookies"] = true.into();
    let heads = [
        &b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=1; Expires=Sun, 01 Mar 2026 00:00:01 GMT\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\nSet-Cookie: sid=; Expires=Sun, 01 Mar 2026 00:00:00 GMT\r\n\r\n",
    ];
    let scenario = Arc::new(Scenario::new(&definition.to_string(), 0, 1, 1).unwrap());
    let mut player = Player::new(scenario, &["h:1"], || 1_772_323_200_000).unwrap();
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    for (head, has_cookie_after) in heads.into_iter().zip([true, false]) {
        player.judge(&mut session, 200, head, b"", 0);
        player.advance(&mut session);
        assert_eq!(sent(&mut player, &mut session).unwrap().contains("Cookie: sid=1"), has_cookie_after);
    }
}

#[test]
fn a_step_is_judged_by_its_own_expectations() {
    let mut definition = steps(&json!([get("/a"), get("/b")]));
    definition["flows"][0]["steps"][1]["expect"] = json!({"status": [[404, 404]], "max_time": 0.3});
    let mut player = player(&definition);
    let mut session = player.session();
    player.begin(&mut session).unwrap();
    assert_eq!(player.judge(&mut session, 399, b"", b"", u64::MAX), Verdict::Success);
    assert_eq!(player.judge(&mut session, 404, b"", b"", 0), Verdict::Http("status 404".into()));
    player.advance(&mut session);
    assert_eq!(player.judge(&mut session, 404, b"", b"", 0), Verdict::Success);
    assert_eq!(player.judge(&mut session, 200, b"", b"", 0), Verdict::Http("status 200".into()));
    let late = player.judge(&mut session, 404, b"", b"", 300_000_001);
    assert_eq!(late, Verdict::Assertion("the response time is over 300 ms".into()));
}

#[test]
fn an_authority_that_cannot_be_sent_is_refused() {
    let scenario = Arc::new(Scenario::new(&steps(&json!([get("/")])).to_string(), 0, 1, 0).unwrap());
    let error = Player::new(scenario, &["a b"], || 0).unwrap_err();
    assert_eq!(error.field(), "targets[0].url");
}
