//! The conditions for a response to count as a success.

use memchr::memmem::{Finder, find};

use crate::DefinitionError;
use crate::definition;
use crate::expected::Expected;
use crate::filling::Filling;
use crate::json::pointers::Pointers;
use crate::json::values::compact;
use crate::names::Source;
use crate::response::{Lack, Response};
use crate::scope::Scope;
use crate::session::Session;
use crate::template::Template;
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
    json: Box<[Found]>,
    absent: Box<[Absent]>,
    /// Of the response time, ns.
    max_time: Option<u64>,
    /// Extracted variables of its texts: number and name.
    extracted: Box<[(u32, String)]>,
}

/// The value that a JSON pointer must find.
#[derive(Debug)]
pub(crate) struct Found {
    pointer: String,
    /// Among the pointers of the step.
    place: usize,
    value: Expected,
}

/// A JSON pointer that must find nothing, null or an empty list.
#[derive(Debug)]
pub(crate) struct Absent {
    pointer: String,
    /// Among the pointers of the step.
    place: usize,
}

/// A text that a body has or lacks.
#[derive(Debug)]
pub(crate) enum Text {
    Constant(Box<Finder<'static>>),
    Filled(Template),
}

impl Expectations {
    /// JSON pointers are added to `pointers`.
    pub(crate) fn new(
        expect: definition::Expect,
        pointers: &mut Pointers,
        scope: Scope<'_>,
        field: &str,
    ) -> Result<Self, DefinitionError> {
        for (index, &(first, last)) in expect.status.iter().enumerate() {
            if first > last || first < 100 || last > 999 {
                let reason =
                    format!("[{first}, {last}] is not a range of statuses: the lower end first, within 100..=999");
                return Err(DefinitionError::new(format!("{field}.status[{index}]"), reason));
            }
        }
        let json: Result<_, _> = (expect.json.into_iter().enumerate())
            .map(|(index, (pointer, value))| {
                let wrong = |part, reason| DefinitionError::new(format!("{field}.json[{index}][{part}]"), reason);
                let place = pointers.add(&pointer).map_err(|reason| wrong(0, reason))?;
                let value = Expected::new(value, scope).map_err(|reason| wrong(1, reason))?;
                Ok(Found { pointer, place, value })
            })
            .collect();
        let absent: Result<_, _> = (expect.absent.into_iter().enumerate())
            .map(|(index, pointer)| {
                let wrong = |reason| DefinitionError::new(format!("{field}.absent[{index}]"), reason);
                let place = pointers.add(&pointer).map_err(wrong)?;
                Ok(Absent { pointer, place })
            })
            .collect();
        let max_time = expect.max_time.map(|time| nanos(time, &format!("{field}.max_time"))).transpose()?;
        let mut expectations = Self {
            statuses: expect.status.into(),
            contains: texts(expect.contains, scope, &format!("{field}.contains"))?,
            lacks: texts(expect.lacks, scope, &format!("{field}.lacks"))?,
            json: json?,
            absent: absent?,
            max_time,
            extracted: Box::default(),
        };
        let name = |source| match source {
            Source::Extracted(number) => Some((number, scope.extracted[number as usize].clone())),
            _ => None,
        };
        expectations.extracted =
            expectations.templates().into_iter().flat_map(Template::sources).filter_map(name).collect();
        Ok(expectations)
    }

    /// Its texts with variables.
    fn templates(&self) -> Vec<&Template> {
        let filled = self.contains.iter().chain(&self.lacks).filter_map(Text::template);
        filled.chain(self.json.iter().flat_map(|found| found.value.templates())).collect()
    }

    /// The feeders whose cells it uses.
    pub(crate) fn feeders(&self) -> Vec<u32> {
        self.templates().into_iter().flat_map(Template::feeders).collect()
    }

    /// The message if a variable has no value in this iteration.
    pub(crate) fn unfilled(&self, session: &Session) -> Option<String> {
        let (_, name) = self.extracted.iter().find(|(number, _)| session.value(*number).is_none())?;
        Some(format!("${{{name}}} has no value, no earlier response had one"))
    }

    /// Only a status below 400 is expected.
    pub(crate) fn is_plain(&self) -> bool {
        self.statuses.is_empty() && !self.needs_body() && self.max_time.is_none()
    }

    pub(crate) fn needs_body(&self) -> bool {
        !(self.contains.is_empty() && self.lacks.is_empty() && self.json.is_empty() && self.absent.is_empty())
    }

    pub(crate) fn allows(&self, status: u16) -> bool {
        match &*self.statuses {
            [] => status < 400,
            ranges => ranges.iter().any(|&(first, last)| (first..=last).contains(&status)),
        }
    }

    /// The message of the first expectation that fails, except that of the status. `time`: response time, ns.
    pub(crate) fn complaint(&self, response: &Response<'_>, time: u64, filling: &mut Filling<'_>) -> Option<String> {
        let broken = self.broken(response, time, filling)?;
        Some(broken.shown(response, filling))
    }

    /// The first expectation that fails, except that of the status. `time`: response time, ns.
    pub(crate) fn broken(&self, response: &Response<'_>, time: u64, filling: &mut Filling<'_>) -> Option<Broken<'_>> {
        if let Some(why) = self.unfilled(filling.session) {
            return Some(Broken::Unfilled(why));
        }
        if let Some(text) = self.contains.iter().find(|text| !text.is_in(response.body, filling)) {
            return Some(Broken::Contains(text));
        }
        if let Some(text) = self.lacks.iter().find(|text| text.is_in(response.body, filling)) {
            return Some(Broken::Lacks(text));
        }
        if let Some(found) = self.json.iter().find(|found| !found.is_met(response, filling)) {
            return Some(Broken::Json(found));
        }
        if let Some(absent) = self.absent.iter().find(|absent| !absent.is_met(response)) {
            return Some(Broken::Absent(absent));
        }
        self.max_time.filter(|&limit| time > limit).map(Broken::MaxTime)
    }
}

/// An expectation that fails.
#[derive(Debug)]
pub(crate) enum Broken<'a> {
    /// A variable has no value; the text says which.
    Unfilled(String),
    Contains(&'a Text),
    Lacks(&'a Text),
    Json(&'a Found),
    Absent(&'a Absent),
    /// ns
    MaxTime(u64),
}

impl Broken<'_> {
    #[cold]
    fn shown(&self, response: &Response<'_>, filling: &mut Filling<'_>) -> String {
        match self {
            Broken::Unfilled(why) => format!("expect cannot be checked: {why}"),
            Broken::Contains(text) => format!("the body does not contain {}", text.shown(filling)),
            Broken::Lacks(text) => format!("the body contains {}", text.shown(filling)),
            Broken::Json(found) => found.complaint(response, filling),
            Broken::Absent(absent) => absent.complaint(response),
            Broken::MaxTime(limit) => format!("the response time is over {} ms", *limit as f64 / 1e6),
        }
    }
}

fn texts(texts: Vec<String>, scope: Scope<'_>, field: &str) -> Result<Box<[Text]>, DefinitionError> {
    let text = |(index, text): (usize, String)| {
        let wrong = |reason| DefinitionError::new(format!("{field}[{index}]"), reason);
        if text.is_empty() {
            return Err(wrong("it is empty; every body contains that".into()));
        }
        let template = Template::fixed(&text, scope).map_err(wrong)?;
        Ok(match template.constant() {
            Some(text) => Text::Constant(Box::new(Finder::new(text).into_owned())),
            None => Text::Filled(template),
        })
    };
    texts.into_iter().enumerate().map(text).collect()
}

impl Text {
    fn template(&self) -> Option<&Template> {
        if let Text::Filled(template) = self { Some(template) } else { None }
    }

    fn is_in(&self, body: &[u8], filling: &mut Filling<'_>) -> bool {
        match self {
            Text::Constant(finder) => finder.find(body).is_some(),
            Text::Filled(template) => find(body, filling.fill(template).as_bytes()).is_some(),
        }
    }

    /// In quotes, for people.
    fn shown(&self, filling: &mut Filling<'_>) -> String {
        match self {
            Text::Constant(finder) => format!("{:?}", String::from_utf8_lossy(finder.needle())),
            Text::Filled(template) => format!("{:?}", cut(filling.fill(template).to_owned())),
        }
    }
}

impl Found {
    fn is_met(&self, response: &Response<'_>, filling: &mut Filling<'_>) -> bool {
        response.value(self.place).is_ok_and(|raw| self.value.is(raw, filling))
    }

    fn complaint(&self, response: &Response<'_>, filling: &mut Filling<'_>) -> String {
        let found = match response.value(self.place) {
            Ok(raw) => cut(compact(raw, MOST_SHOWN)),
            Err(Lack::Missing) => "missing".into(),
            Err(Lack::Wrong(why)) => return why,
        };
        let place = if self.pointer.is_empty() { "the body".into() } else { format!("json {}", self.pointer) };
        format!("{place} is {found} and not {}", cut(self.value.shown(filling).to_string()))
    }
}

impl Absent {
    fn is_met(&self, response: &Response<'_>) -> bool {
        match response.value(self.place) {
            Ok(raw) => raw == "null" || raw.strip_prefix('[').is_some_and(|rest| rest.trim_start() == "]"),
            Err(lack) => lack == Lack::Missing,
        }
    }

    fn complaint(&self, response: &Response<'_>) -> String {
        match response.value(self.place) {
            Ok(raw) => format!("json {} is {} and not absent", self.pointer, cut(compact(raw, MOST_SHOWN))),
            Err(Lack::Missing) => format!("json {} is missing", self.pointer),
            Err(Lack::Wrong(why)) => why,
        }
    }
}

fn cut(text: String) -> String {
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
    use crate::filling::{Filling, Sources};
    use crate::json::pointers::Pointers;
    use crate::random::Random;
    use crate::response::Response;
    use crate::scope::Scope;
    use crate::session::Session;

    fn scope() -> Scope<'static> {
        Scope::default()
    }

    fn compiled(given: &serde_json::Value) -> (Expectations, Pointers) {
        let mut pointers = Pointers::default();
        let expect = from_str(&given.to_string()).unwrap();
        (Expectations::new(expect, &mut pointers, scope(), "e").unwrap(), pointers)
    }

    fn expectations(given: &serde_json::Value) -> Expectations {
        compiled(given).0
    }

    fn complaint(given: &serde_json::Value, body: &str, time: u64) -> Option<String> {
        let (expectations, pointers) = compiled(given);
        let (mut random, mut text) = (Random::new(0, 0), String::new());
        let sources = Sources { feeders: &[], random: &mut random, text: &mut text };
        let filling = &mut Filling { session: &Session::new(3), sources };
        expectations.complaint(&Response::new(b"", body.as_bytes(), &pointers), time, filling)
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
            (json!({"absent": ["/errors"]}), "{}", None),
            (json!({"absent": ["/errors"]}), "{\"errors\": null}", None),
            (json!({"absent": ["/errors"]}), "{\"errors\": [ ]}", None),
            (
                json!({"absent": ["/no", "/errors"]}),
                "{\"errors\": [{\"message\": \"no\"}]}",
                Some("json /errors is [{\"message\":\"no\"}] and not absent"),
            ),
            (json!({"absent": ["/errors"]}), "<html>", Some("the body is not JSON")),
            (json!({"contains": ["a"], "max_time": 0.3}), "b", Some("the body does not contain \"a\"")),
            (json!({"contains": ["<${user}>", "$${"]}), "<3> ${", None),
            (json!({"contains": ["<${user}>"]}), "<4> <${user}>", Some("the body does not contain \"<3>\"")),
            (json!({"lacks": ["${user}"]}), "4", None),
            (json!({"lacks": ["${user}"]}), "234", Some("the body contains \"3\"")),
            (json!({"json": [["/by", "u${user}"]]}), "{\"by\": \"u3\"}", None),
            (
                json!({"json": [["/by", {"user": "${user}"}]]}),
                "{\"by\": {\"user\": 4}}",
                Some("json /by is {\"user\":4} and not {\"user\":\"3\"}"),
            ),
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
            (json!({"absent": ["/a"]}), false, true),
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
            (json!({"absent": ["/a", "b"]}), "e.absent[1]: not a JSON pointer"),
            (json!({"json": [["", ["${random}"]]]}), "e.json[0][1]: ${random} is a new value at each place"),
            (json!({"contains": ["a", "${uuid}"]}), "e.contains[1]: ${uuid} is a new value at each place"),
            (json!({"lacks": ["${"]}), "e.lacks[0]: ${ without }"),
            (json!({"max_time": -1.0}), "e.max_time: -1 is not a time"),
        ] {
            let expect: Expect = from_str(&given.to_string()).unwrap();
            let error = Expectations::new(expect, &mut Pointers::default(), scope(), "e").unwrap_err().to_string();
            assert!(error.starts_with(begins), "{error}");
        }
    }
}
