//! The conditions for a response to count as a success.

use memchr::memmem::Finder;
use serde_json::Value;

use crate::DefinitionError;
use crate::definition;
use crate::response::{Response, check_pointer};
use crate::time::nanos;

/// Maximum characters of a value in an error message.
const MOST_SHOWN: usize = 60;

/// Expectations of a step, compiled.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    /// Inclusive; empty: below 400.
    statuses: Box<[(u16, u16)]>,
    contains: Box<[Text]>,
    lacks: Box<[Text]>,
    json: Box<[(String, Value)]>,
    /// Of the response time, ns.
    max_time: Option<u64>,
}

#[derive(Debug)]
struct Text {
    text: String,
    finder: Finder<'static>,
}

impl Expectations {
    pub(crate) fn new(expect: definition::Expect, field: &str) -> Result<Self, DefinitionError> {
        for (index, &(first, last)) in expect.status.iter().enumerate() {
            if first > last || first < 100 || last > 999 {
                let reason =
                    format!("[{first}, {last}] is not a range of statuses: the lower end first, within 100..=999");
                return Err(DefinitionError::new(format!("{field}.status[{index}]"), reason));
            }
        }
        for (index, (pointer, _)) in expect.json.iter().enumerate() {
            check_pointer(pointer)
                .map_err(|reason| DefinitionError::new(format!("{field}.json[{index}][0]"), reason))?;
        }
        let max_time = expect.max_time.map(|time| nanos(time, &format!("{field}.max_time"))).transpose()?;
        Ok(Self {
            statuses: expect.status.into(),
            contains: texts(expect.contains, &format!("{field}.contains"))?,
            lacks: texts(expect.lacks, &format!("{field}.lacks"))?,
            json: expect.json.into(),
            max_time,
        })
    }

    /// Only a status below 400 is expected.
    pub(crate) fn is_plain(&self) -> bool {
        self.statuses.is_empty() && !self.needs_body() && self.max_time.is_none()
    }

    pub(crate) fn needs_body(&self) -> bool {
        !(self.contains.is_empty() && self.lacks.is_empty() && self.json.is_empty())
    }

    pub(crate) fn allows(&self, status: u16) -> bool {
        match &*self.statuses {
            [] => status < 400,
            ranges => ranges.iter().any(|&(first, last)| (first..=last).contains(&status)),
        }
    }

    /// The message of the first expectation that fails, except that of the status. `time`: response time, ns.
    pub(crate) fn complaint(&self, response: &Response<'_>, time: u64) -> Option<String> {
        let is_in = |text: &&Text| text.finder.find(response.body).is_some();
        if let Some(text) = self.contains.iter().find(|text| !is_in(text)) {
            return Some(format!("the body does not contain {:?}", text.text));
        }
        if let Some(text) = self.lacks.iter().find(is_in) {
            return Some(format!("the body contains {:?}", text.text));
        }
        if let Some(complaint) = self.json.iter().find_map(|(pointer, value)| json(response, pointer, value)) {
            return Some(complaint);
        }
        let limit = self.max_time.filter(|&limit| time > limit)?;
        Some(format!("the response time is over {} ms", limit as f64 / 1e6))
    }
}

fn texts(texts: Vec<String>, field: &str) -> Result<Box<[Text]>, DefinitionError> {
    if let Some(index) = texts.iter().position(String::is_empty) {
        return Err(DefinitionError::new(format!("{field}[{index}]"), "it is empty; every body contains that"));
    }
    let compiled = texts.into_iter().map(|text| Text { finder: Finder::new(text.as_bytes()).into_owned(), text });
    Ok(compiled.collect())
}

fn json(response: &Response<'_>, pointer: &str, expected: &Value) -> Option<String> {
    let Some(body) = response.json() else { return Some("the body is not JSON".into()) };
    let value = body.pointer(pointer);
    if value.is_some_and(|value| same(value, expected)) {
        return None;
    }
    let place = if pointer.is_empty() { "the body".into() } else { format!("json {pointer}") };
    let found = value.map_or("missing".into(), shown);
    Some(format!("{place} is {found} and not {}", shown(expected)))
}

/// Equal as JSON: 1 and 1.0 are the same number, and the order of an object's members does not matter.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            left == right || left.as_f64() == right.as_f64() && (left.is_f64() || right.is_f64())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let in_right = |(name, value): (&String, &Value)| right.get(name).is_some_and(|other| same(value, other));
            left.len() == right.len() && left.iter().all(in_right)
        }
        _ => left == right,
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, json};

    use super::Expectations;
    use crate::definition::Expect;
    use crate::response::Response;

    fn expectations(given: &serde_json::Value) -> Expectations {
        Expectations::new(from_str(&given.to_string()).unwrap(), "e").unwrap()
    }

    fn complaint(given: &serde_json::Value, body: &str, time: u64) -> Option<String> {
        expectations(given).complaint(&Response::new(b"", body.as_bytes()), time)
    }

    #[test]
    fn statuses_below_400_are_fine_unless_others_are_given() {
        let none = expectations(&json!({}));
        assert!([200, 204, 304, 399].iter().all(|&status| none.allows(status)));
        assert!([400, 404, 500, 999].iter().all(|&status| !none.allows(status)));
        let some = expectations(&json!({"status": [[200, 201], [404, 404]]}));
        assert!([200, 201, 404].iter().all(|&status| some.allows(status)));
        assert!([199, 202, 302, 403, 405].iter().all(|&status| !some.allows(status)));
    }

    #[test]
    fn the_first_failed_expectation_is_reported() {
        for (given, body, expected) in [
            (json!({"contains": ["ok", "yes"]}), "yes, ok", None),
            (json!({"contains": ["ok", "yes"]}), "ok", Some("the body does not contain \"yes\"")),
            (json!({"lacks": ["error"]}), "fine", None),
            (json!({"lacks": ["x", "error"]}), "an error", Some("the body contains \"error\"")),
            (json!({"json": [["/ok", true]]}), "{\"ok\": true}", None),
            (json!({"json": [["/ok", true]]}), "{\"ok\": false}", Some("json /ok is false and not true")),
            (json!({"json": [["/ok", null]]}), "{\"ok\": null}", None),
            (json!({"json": [["/ok", null]]}), "{}", Some("json /ok is missing and not null")),
            (json!({"json": [["", 1]]}), "<html>", Some("the body is not JSON")),
            (json!({"json": [["/a", 1.0]]}), "{\"a\": 1}", None),
            (json!({"json": [["/a", [{"b": 1, "c": 2}]]]}), "{\"a\": [{\"c\": 2, \"b\": 1.0}]}", None),
            (json!({"json": [["/a", [1]]]}), "{\"a\": [1, 2]}", Some("json /a is [1,2] and not [1]")),
            (
                json!({"json": [["", {"b": 1}]]}),
                "{\"b\": 1, \"c\": 2}",
                Some("the body is {\"b\":1,\"c\":2} and not {\"b\":1}"),
            ),
            (
                json!({"json": [["/a", 9_007_199_254_740_993_u64]]}),
                "{\"a\": 9007199254740992}",
                Some("json /a is 9007199254740992 and not 9007199254740993"),
            ),
            (json!({"contains": ["a"], "max_time": 0.3}), "b", Some("the body does not contain \"a\"")),
        ] {
            assert_eq!(complaint(&given, body, 400_000_000).as_deref(), expected, "{given} {body}");
        }
    }

    #[test]
    fn the_response_time_may_reach_its_limit_and_not_pass_it() {
        let given = json!({"max_time": 0.3});
        assert_eq!(complaint(&given, "", 300_000_000), None);
        assert_eq!(complaint(&given, "", 300_000_001).as_deref(), Some("the response time is over 300 ms"));
    }

    #[test]
    fn long_values_are_cut() {
        let body = format!("[\"{}\"]", "\u{e4}".repeat(100));
        let message = complaint(&json!({"json": [["/0", 1]]}), &body, 0).unwrap();
        assert_eq!(message, format!("json /0 is \"{}… and not 1", "\u{e4}".repeat(59)));
    }

    #[test]
    fn expectations_know_what_they_need() {
        for (given, plain, body) in [
            (json!({}), true, false),
            (json!({"status": [[200, 299]]}), false, false),
            (json!({"max_time": 1}), false, false),
            (json!({"contains": ["a"]}), false, true),
            (json!({"lacks": ["a"]}), false, true),
            (json!({"json": [["", 1]]}), false, true),
        ] {
            let expectations = expectations(&given);
            assert_eq!((expectations.is_plain(), expectations.needs_body()), (plain, body), "{given}");
        }
    }

    #[test]
    fn impossible_expectations_are_refused() {
        for (given, begins) in [
            (json!({"status": [[200, 299], [299, 200]]}), "e.status[1]: [299, 200] is not a range"),
            (json!({"status": [[0, 200]]}), "e.status[0]: [0, 200]"),
            (json!({"status": [[200, 1000]]}), "e.status[0]: [200, 1000]"),
            (json!({"contains": ["a", ""]}), "e.contains[1]: it is empty"),
            (json!({"lacks": [""]}), "e.lacks[0]: it is empty"),
            (json!({"json": [["ok", 1]]}), "e.json[0][0]: not a JSON pointer"),
            (json!({"max_time": -1.0}), "e.max_time: -1 is not a time"),
        ] {
            let expect: Expect = from_str(&given.to_string()).unwrap();
            let error = Expectations::new(expect, "e").map(|_| ()).unwrap_err().to_string();
            assert!(error.starts_with(begins), "{error}");
        }
    }
}
