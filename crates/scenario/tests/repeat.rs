//! Steps that are left out, and steps that are done several times.

#![allow(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]

use std::sync::Arc;

use plimsoll_scenario::{Next, Player, Prepared, Scenario, Verdict};
use serde_json::{Value, json};

fn scenario(steps: &Value) -> Result<Scenario, String> {
    let definition = json!({"targets": [{"url": "http://h:1"}], "flows": [{"name": "f", "steps": steps}]});
    Scenario::new(&definition.to_string(), 0, 1, 1).map_err(|error| error.to_string())
}

fn step(path: &str, more: &Value) -> Value {
    let mut step = json!({"name": path, "method": "GET", "path": path});
    step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    step
}

/// What one iteration sends: each request target with its verdict, and the pause after it in ms. `replies`: the bodies;
/// the last one is that of all further responses, and an empty one stands for no response.
fn played(steps: &Value, replies: &[&str]) -> Vec<String> {
    let mut player = Player::new(Arc::new(scenario(steps).unwrap()), &["h:1"], || 0).unwrap();
    let (mut session, mut sent) = (player.session(), Vec::new());
    for _ in 0..2 {
        sent.clear();
        player.begin(&mut session).unwrap();
        loop {
            let mut made = Vec::new();
            let bytes = match player.request(&mut session, &mut made).unwrap() {
                Prepared::Constant(constant) => constant.bytes.to_vec(),
                Prepared::Made { .. } => made,
            };
            let body = replies.get(sent.len()).or(replies.last()).unwrap();
            let verdict = match player_reply(&mut player, &mut session, body) {
                Some(Verdict::Assertion(why)) => format!(" ({why})"),
                _ => String::new(),
            };
            let target = String::from_utf8(bytes).unwrap().split(' ').nth(1).unwrap().to_owned();
            let (next, is_over) = match player.advance(&mut session) {
                Next::Step { think } => (think, false),
                Next::End { think } => (think, true),
            };
            let pause = if next == 0 { String::new() } else { format!(" +{}", next / 1_000_000) };
            sent.push(format!("{target}{verdict}{pause}"));
            if is_over {
                break;
            }
        }
    }
    sent
}

fn player_reply(player: &mut Player, session: &mut plimsoll_scenario::Session, body: &str) -> Option<Verdict> {
    (!body.is_empty()).then(|| player.judge(session, 200, b"", body.as_bytes(), 1))
}

fn job(repeat: &Value) -> Value {
    let extract = json!([{"into": "job", "from": "json", "what": "/job", "default": ""}]);
    step("/job", &json!({"extract": extract, "repeat": repeat, "think": {"constant": 0.5}}))
}

#[test]
fn a_number_of_times_is_a_number_of_requests() {
    let steps = json!([step("/${repetition}", &json!({"repeat": {"most": 3}})), step("/end", &json!({}))]);
    assert_eq!(played(&steps, &["{}"]), ["/0", "/1", "/2", "/end"]);
    let steps = json!([step("/${repetition:1}", &json!({"repeat": {"most": 1}}))]);
    assert_eq!(played(&steps, &["{}"]), ["/1"]);
}

#[test]
fn a_job_is_asked_for_until_it_is_done() {
    let repeat = json!({"most": 4, "until": "${job} == done", "pause": {"constant": 0.1}});
    let steps = json!([job(&repeat), step("/end", &json!({}))]);
    let (waits, done) = (r#"{"job": "waits"}"#, r#"{"job": "done"}"#);
    assert_eq!(played(&steps, &[waits, waits, done, "{}"]), ["/job +100", "/job +100", "/job +500", "/end"]);
    assert_eq!(played(&steps, &[done]), ["/job +500", "/end"]);
    // Without a response the user asks again.
    assert_eq!(played(&steps, &[waits, "", done]), ["/job +100", "/job +100", "/job +500", "/end"]);
    let late = "/job (at_most = 4 is reached before the end: until ${job} == done) +500";
    assert_eq!(played(&steps, &[waits]), ["/job +100", "/job +100", "/job +100", late, "/end"]);
}

#[test]
fn pages_are_read_while_there_is_a_next_one() {
    let extract = json!([{"into": "next", "from": "json", "what": "/next", "default": ""}]);
    let repeat = json!({"most": 9, "while": "${next}"});
    let page = step("/items?after=${next}", &json!({"extract": extract, "repeat": repeat}));
    let (a, b) = (r#"{"next": "a"}"#, r#"{"next": "b"}"#);
    let expected = ["/items?after=", "/items?after=a", "/items?after=b"];
    assert_eq!(played(&json!([page]), &[a, b, "{}"]), expected);
}

#[test]
fn steps_are_left_out_unless_their_condition_holds() {
    let kind = json!({"extract": [{"into": "kind", "from": "json", "what": "/kind", "default": ""}]});
    let steps = json!([
        step("/a", &kind),
        step(
            "/b",
            &json!({"if": "${kind} == b", "extract": [{"into": "b", "from": "regex", "what": "b", "default": "-"}]})
        ),
        step("/c/${b}", &json!({"if": "${kind}"})),
        step("/d", &json!({"if": "${kind} == d", "repeat": {"most": 2}})),
    ]);
    assert_eq!(played(&steps, &[r#"{"kind": "b"}"#]), ["/a", "/b", "/c/b"]);
    assert_eq!(played(&steps, &[r#"{"kind": "d"}"#]), ["/a", "/c/-", "/d", "/d"]);
    assert_eq!(played(&steps, &["{}"]), ["/a"]);
}

#[test]
fn several_steps_are_repeated_together() {
    let next = json!([{"into": "next", "from": "json", "what": "/next", "default": "0"}]);
    let item = json!({"if": "${next} != b", "repeat": {"most": 2}});
    let steps = json!([
        step("/begin", &json!({})),
        step("/page/${next}", &json!({"extract": next})),
        step("/item/${repetition}", &item),
        step("/seen/${repetition}", &json!({"repeat": {"from": 1, "most": 5, "until": "${next} == c"}})),
        step("/end", &json!({})),
    ]);
    let replies = ["{}", r#"{"next": "a"}"#, "{}", "{}", "{}", r#"{"next": "b"}"#, "{}", r#"{"next": "c"}"#, "{}"];
    let expected = [
        "/begin", "/page/0", "/item/0", "/item/1", "/seen/0", "/page/a", "/seen/1", "/page/b", "/item/0", "/item/1",
        "/seen/2", "/end",
    ];
    assert_eq!(played(&steps, &replies), expected);
}

#[test]
fn what_cannot_be_repeated_or_left_out_is_refused() {
    let plain = step("/", &json!({}));
    let repeats = |repeat: &Value| json!([plain, step("/", &json!({"repeat": repeat}))]);
    let socket = json!({"name": "ws", "path": "/", "websocket": {"connect": {}}, "repeat": {"most": 2}});
    let crossing = json!([
        plain,
        plain,
        step("/", &json!({"repeat": {"from": 0, "most": 2}})),
        step("/", &json!({"repeat": {"from": 1, "most": 2}})),
    ]);
    for (steps, begins) in [
        (
            json!([step("/", &json!({"if": "${user} == 1"}))]),
            "flows[0].steps[0].if: the first step of a flow is always sent",
        ),
        (repeats(&json!({"most": 0})), "flows[0].steps[1].repeat.most: it must be at least 1"),
        (repeats(&json!({"from": 2, "most": 2})), "flows[0].steps[1].repeat.from: it comes later"),
        (repeats(&json!({"most": 2, "while": "x"})), "flows[0].steps[1].repeat.while: \"x\" is no condition"),
        (repeats(&json!({"most": 2, "until": "${x}"})), "flows[0].steps[1].repeat.until: unknown variable ${x}"),
        (crossing, "flows[0].steps[3].repeat.from: it is within another repetition"),
        (
            json!([socket, {"name": "w", "websocket": {"wait": 1}}]),
            "flows[0].steps[0].repeat: steps of a WebSocket cannot be repeated",
        ),
        (
            json!([plain, step("/", &json!({"if": "${user} == 1", "repeat": {"from": 0, "most": 2}}))]),
            "flows[0].steps[1].if: it contradicts repeat.from",
        ),
        (json!([step("/${repetition}", &json!({}))]), "flows[0].steps[0].path: ${repetition} counts repetitions"),
        (json!([step("/${repetition:x}", &json!({}))]), "flows[0].steps[0].path: ${repetition:x} needs a number"),
    ] {
        let error = scenario(&steps).map(|_| ()).unwrap_err();
        assert!(error.starts_with(begins), "{error}");
    }
}
