//! Every error in a definition is found when the scenario is compiled, and reported with its field.

#![allow(clippy::unwrap_used, reason = "a helper of tests may fail as a test does")]

use plimsoll_scenario::{DefinitionError, Scenario, Verify};
use serde_json::{Value, json};

/// A correct definition with two targets, a feeder and two flows.
fn good() -> Value {
    json!({
        "targets": [
            {"url": "http://127.0.0.1:8000", "headers": [["X-Id", "${accounts.id}"]]},
            {"url": "https://example.org", "verify": "roots.pem", "cert": ["a.pem", "a.key"], "proxy": "http://p:1"},
        ],
        "feeders": [{"name": "accounts", "columns": ["id", "name"], "rows": [["1", "Ann"], ["2", "Bob"]]}],
        "choice": "weighted", "cookies": false, "accept_encoding": true,
        "flows": [
            {"name": "browse", "weight": 3.0, "steps": [
                {"name": "GET /login", "method": "GET", "path": "/login", "timeout": 10.0, "think": {"constant": 1.0},
                 "extract": [{"into": "token", "from": "json", "what": "/token", "default": null}]},
                {"name": "POST /x", "target": 1, "method": "POST", "path": "/x/${token}", "headers": [["A", "${token}"]],
                 "body": {"json": "{\"a\": \"${token}\"}"}, "think": {"between": [1, 2]},
                 "expect": {"status": [[200, 299]], "contains": ["ok"], "json": [["/ok", true]], "absent": ["/errors"], "max_time": 0.3}},
            ]},
            {"name": "ping", "steps": [{"name": "HEAD /", "method": "HEAD", "path": "/"}]},
        ],
    })
}

fn scenario(definition: &Value) -> Result<Scenario, DefinitionError> {
    Scenario::new(&definition.to_string(), 0, 2, 1)
}

/// The error of the correct definition with `value` at `pointer`.
fn error(pointer: &str, value: Value) -> DefinitionError {
    let mut definition = good();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    match definition.pointer_mut(parent).unwrap() {
        Value::Array(items) if name == "-" => items.push(value),
        Value::Array(items) => items[name.parse::<usize>().unwrap()] = value,
        other => other[name] = value,
    }
    scenario(&definition).map(|_| ()).expect_err(pointer)
}

#[test]
fn a_scenario_says_what_is_needed_to_play_it() {
    let scenario = scenario(&good()).unwrap();
    let flows: Vec<_> = scenario.flows().iter().map(|flow| (flow.name.as_str(), flow.steps.clone())).collect();
    assert_eq!(flows, [("browse", 0..2), ("ping", 2..3)]);
    let steps: Vec<_> = scenario.steps().iter().map(|step| (step.method.as_str(), step.name.as_str())).collect();
    assert_eq!(steps, [("GET", "GET /login"), ("POST", "POST /x"), ("HEAD", "HEAD /")]);
    let facts: Vec<_> = scenario
        .steps()
        .iter()
        .map(|step| (step.target, step.timeout, step.needs_head, step.needs_body, step.is_constant))
        .collect();
    // The first target's header has a variable, so none of its requests is constant.
    assert_eq!(
        facts,
        [(0, 10_000_000_000, false, true, false), (1, 0, false, true, false), (0, 0, false, false, false)]
    );
    let target = &scenario.targets()[1];
    assert_eq!((target.url.as_str(), &target.verify), ("https://example.org", &Verify::Bundle("roots.pem".into())));
    assert_eq!(target.certificate, Some(("a.pem".into(), "a.key".into())));
    assert_eq!(target.proxy.as_deref(), Some("http://p:1"));
}

#[test]
fn cookies_need_every_head_and_nothing_else_does_without_reason() {
    let mut definition = good();
    definition["cookies"] = true.into();
    let scenario = scenario(&definition).unwrap();
    assert!(scenario.steps().iter().all(|step| step.needs_head));
    assert!(!scenario.steps()[2].needs_body);
}

#[test]
fn every_mistake_is_reported_with_its_place() {
    let step = json!({"name": "s", "method": "GET", "path": "/"});
    for (pointer, value, expected) in [
        ("/targets", json!([]), "flows[0].steps[0].target: there is no target 0; there are 0, from 0"),
        ("/targets/1/url", json!("x"), "targets[1].url: \"x\" is not a URL"),
        ("/targets/0/headers/0", json!(["A b", ""]), "targets[0].headers[0]: a header name must be"),
        ("/targets/0/headers/0", json!(["A", "${token}"]), "targets[0].headers[0]: ${token} has no value yet"),
        ("/targets/0/headers/0", json!(["A", "${tokne}"]), "targets[0].headers[0]: unknown variable ${tokne}"),
        ("/feeders/0/rows", json!([]), "feeders[0].rows: there are no rows"),
        ("/feeders/0/rows/1", json!(["1"]), "feeders[0].rows[1]: it has 1 cells, but there are 2 columns"),
        ("/feeders/0/rows", json!([["1", "2"]]), "feeders[0].rows: 1 rows cannot be split over 2 workers"),
        ("/feeders/0/order", json!("up"), "feeders[0].order: unknown variant `up`"),
        ("/feeders/-", good()["feeders"][0].clone(), "feeders[1].name: there is already a feeder \"accounts\""),
        ("/choice", json!("best"), "choice: unknown variant `best`"),
        ("/flows", json!([]), "flows: there must be at least one"),
        ("/flows/0/weight", json!(-1), "flows[0].weight: -1 is not a weight"),
        ("/flows/0/name", json!("ping"), "flows[1].name: there is already a flow \"ping\""),
        ("/flows/0/steps", json!([]), "flows[0].steps: a flow needs at least one step"),
        ("/flows/0/steps/0/target", json!(2), "flows[0].steps[0].target: there is no target 2; there are 2, from 0"),
        ("/flows/0/steps/0/method", json!("GE T"), "flows[0].steps[0].method: the method must be one word"),
        (
            "/flows/0/steps/1/path",
            json!("/${ticket}"),
            "flows[0].steps[1].path: unknown variable ${ticket}; known are token, iteration, now, random, text, unix, \
             unix_ms, user, uuid, accounts.id, accounts.name",
        ),
        (
            "/flows/0/steps/1/path",
            json!("/${account.id}"),
            "flows[0].steps[1].path: unknown variable ${account.id}; did you mean ${accounts.id}?",
        ),
        ("/flows/0/steps/0/path", json!("/${token}"), "flows[0].steps[0].path: ${token} has no value yet"),
        ("/flows/1/steps/0/path", json!("/${token}"), "flows[1].steps[0].path: unknown variable ${token}"),
        ("/flows/0/steps/1/headers/0/1", json!("${x}"), "flows[0].steps[1].headers[0]: unknown variable ${x}"),
        ("/flows/0/steps/1/body", json!({"json": "{"}), "flows[0].steps[1].body.json: it is not JSON"),
        ("/flows/0/steps/1/body", json!({"base64": "%"}), "flows[0].steps[1].body.base64: it is not base64"),
        ("/flows/0/steps/0/timeout", json!(-1), "flows[0].steps[0].timeout: -1 is not a time"),
        ("/flows/0/steps/0/think", json!({"constant": -1}), "flows[0].steps[0].think.constant: -1 is not a time"),
        ("/flows/0/steps/1/think", json!({"between": [2, 1]}), "flows[0].steps[1].think.between: 2 is more than 1"),
        ("/flows/0/steps/0/extract/0/into", json!("a b"), "flows[0].steps[0].extract[0].into: a name has letters"),
        ("/flows/0/steps/0/extract/0/into", json!("uuid"), "flows[0].steps[0].extract[0].into: uuid is a variable"),
        ("/flows/0/steps/0/extract/0/what", json!("token"), "flows[0].steps[0].extract[0].what: not a JSON pointer"),
        (
            "/flows/0/steps/0/extract/-",
            json!({"into": "token", "from": "regex", "what": "("}),
            "flows[0].steps[0].extract[1].into: this step already extracts token",
        ),
        (
            "/flows/0/steps/0/extract/-",
            json!({"into": "other", "from": "regex", "what": "("}),
            "flows[0].steps[0].extract[1].what: not a regular expression",
        ),
        (
            "/flows/0/steps/1/expect/status",
            json!([[299, 200]]),
            "flows[0].steps[1].expect.status[0]: [299, 200] is not",
        ),
        ("/flows/0/steps/1/expect/max_time", json!(-0.1), "flows[0].steps[1].expect.max_time: -0.1 is not a time"),
        ("/flows/1/steps/0/metod", json!("GET"), "flows[1].steps[0].metod: unknown field `metod`"),
        ("/flows/1/steps/-", json!({"name": step["name"]}), "flows[1].steps[1]: missing field `method`"),
    ] {
        let error = error(pointer, value).to_string();
        assert!(error.starts_with(expected), "{pointer}: {error}");
    }
}

#[test]
fn an_error_has_a_field_and_a_reason() {
    let error = error("/flows/0/weight", json!(-1));
    assert_eq!((error.field(), error.reason()), ("flows[0].weight", "-1 is not a weight, from 0 to 1e12"));
    let error = Scenario::new("{", 0, 1, 0).unwrap_err();
    assert_eq!((error.field(), error.to_string().as_str()), ("", error.reason()));
}

#[test]
fn a_worker_that_is_not_there_is_refused() {
    for (index, of) in [(0, 0), (1, 1), (5, 2)] {
        let error = Scenario::new(&good().to_string(), index, of, 0).unwrap_err().to_string();
        assert_eq!(error, format!("there is no worker {index} of {of}, they count from 0"));
    }
}

#[test]
fn a_variable_may_be_extracted_again_and_by_a_step_behind_another() {
    let mut definition = good();
    let steps = definition.pointer_mut("/flows/0/steps").unwrap().as_array_mut().unwrap();
    steps[1]["extract"] = json!([
        {"into": "other", "from": "regex", "what": "a"}, {"into": "token", "from": "regex", "what": "b"},
    ]);
    let last = json!({"name": "last", "method": "GET", "path": "/${token}/${other}"});
    steps.push(last.clone());
    assert!(scenario(&definition).is_ok());
    definition["flows"][0]["steps"].as_array_mut().unwrap().swap(1, 2);
    let error = scenario(&definition).unwrap_err().to_string();
    assert!(error.starts_with("flows[0].steps[1].path: ${other} has no value yet"), "{error}");
}

#[test]
fn a_variable_is_known_from_its_step_to_the_end_of_the_flow() {
    let mut definition = good();
    let steps = definition.pointer_mut("/flows/0/steps").unwrap().as_array_mut().unwrap();
    steps.insert(1, json!({"name": "extracts nothing", "method": "GET", "path": "/"}));
    assert!(scenario(&definition).is_ok());
}
