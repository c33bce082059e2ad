//! From a response to its verdict.

use std::sync::Arc;

use crate::DefinitionError;
use crate::cookies::Site;
use crate::date::Clock;
use crate::definition;
use crate::expect::Expectations;
use crate::extract::{Extraction, set_cookies};
use crate::filling::{Filling, Sources};
use crate::json::pointers::Pointers;
use crate::response::Response;
use crate::scope::Scope;
use crate::session::Session;

/// The verdict on a response, by the step's expectations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// As expected.
    Success,
    /// The status is not as expected; the text says which it is. For gRPC also its code.
    Http(String),
    /// Another expectation failed, or a value to extract is missing; the text says which.
    Assertion(String),
    /// The server says that the deadline has passed.
    Timeout(String),
    /// The response is none of gRPC.
    Protocol(String),
}

impl Verdict {
    /// The verdict if only a status below 400 is expected.
    #[inline]
    pub(crate) fn plain(status: u16) -> Self {
        if status < 400 { Verdict::Success } else { Verdict::http(status) }
    }

    #[cold]
    pub(crate) fn http(status: u16) -> Self {
        Verdict::Http(format!("status {status}"))
    }
}

/// What to check in a step's responses, besides the status.
#[derive(Debug)]
pub(crate) struct Rules {
    expectations: Expectations,
    extractions: Box<[Extraction]>,
    /// What both look for in JSON.
    pointers: Pointers,
    /// Number of variables of the flow.
    variables: usize,
    /// If cookies are on.
    cookies: Option<CookieRules>,
}

/// How a step's response sets cookies.
#[derive(Debug)]
pub(crate) struct CookieRules {
    /// Its target.
    pub(crate) sender: Arc<Site>,
    /// The directory of its path; `None` if variables decide, and the session has it.
    pub(crate) directory: Option<Box<str>>,
}

impl CookieRules {
    fn store(&self, session: &mut Session, head: &[u8], clock: Clock) {
        for line in set_cookies(head) {
            let (jar, latest) = session.jar_mut();
            jar.set(&self.sender, self.directory.as_deref().unwrap_or(latest), line, clock);
        }
    }
}

impl Rules {
    /// `numbers`: of the variables that the step extracts, in order.
    pub(crate) fn new(
        expect: definition::Expect,
        extract: Vec<definition::Extract>,
        numbers: &[u32],
        scope: Scope<'_>,
        cookies: Option<CookieRules>,
        field: &str,
    ) -> Result<Self, DefinitionError> {
        let mut pointers = Pointers::default();
        let expectations = Expectations::new(expect, &mut pointers, scope, &format!("{field}.expect"))?;
        let variables = scope.extracted.len() + scope.later.len();
        let extractions: Result<_, _> = (extract.into_iter().zip(numbers).enumerate())
            .map(|(index, (extract, &number))| {
                Extraction::new(extract, number, &mut pointers, &format!("{field}.extract[{index}]"))
            })
            .collect();
        Ok(Self { expectations, extractions: extractions?, pointers, variables, cookies })
    }

    /// Whether [`Verdict::plain`] gives the same result.
    pub(crate) fn is_plain(&self) -> bool {
        self.expectations.is_plain() && self.extractions.is_empty() && self.cookies.is_none()
    }

    pub(crate) fn needs_head(&self) -> bool {
        self.cookies.is_some() || self.extractions.iter().any(Extraction::needs_head)
    }

    pub(crate) fn needs_body(&self) -> bool {
        self.expectations.needs_body() || self.extractions.iter().any(Extraction::needs_body)
    }

    /// The feeders whose cells it uses.
    pub(crate) fn feeders(&self) -> Vec<u32> {
        self.expectations.feeders()
    }

    /// The message if an expectation has a variable without a value.
    pub(crate) fn unfilled(&self, session: &Session) -> Option<String> {
        self.expectations.unfilled(session)
    }

    /// Whether a message has what is expected of its text.
    pub(crate) fn fits(&self, session: &Session, sources: Sources<'_>, message: &[u8]) -> bool {
        let response = &Response::new(b"", message, &self.pointers);
        self.expectations.broken(response, 0, &mut Filling { session, sources }).is_none()
    }

    /// The verdict. Values and cookies are stored for any verdict. `head`: raw; `body`: decoded; `time`: response time,
    /// ns.
    pub(crate) fn judge(
        &self,
        session: &mut Session,
        sources: Sources<'_>,
        status: u16,
        (head, body): (&[u8], &[u8]),
        time: u64,
        clock: Clock,
    ) -> Verdict {
        let response = &Response::new(head, body, &self.pointers);
        if let Some(cookies) = &self.cookies {
            cookies.store(session, response.head, clock);
        }
        // A value of an earlier step is compared before this step replaces it.
        let complaint = if self.expectations.allows(status) {
            self.expectations.complaint(response, time, &mut Filling { session, sources }).map(Verdict::Assertion)
        } else {
            Some(Verdict::http(status))
        };
        let missing = self.extract(session, response);
        complaint.or(missing.map(Verdict::Assertion)).unwrap_or(Verdict::Success)
    }

    /// Stores each value. Returns the message for the first one that is missing and has no default.
    fn extract(&self, session: &mut Session, response: &Response<'_>) -> Option<String> {
        let mut complaint = None;
        for extraction in &self.extractions {
            let found = extraction.find(response);
            let text = found.as_deref().ok().or(extraction.default.as_deref());
            let stored = session.set_value(extraction.number, self.variables, text);
            let missing = if text.is_none() { found.map(drop) } else { stored };
            complaint = complaint.or(missing.err());
        }
        complaint
    }

    /// After an exchange without a response, variables without a value get their defaults.
    pub(crate) fn fall_back(&self, session: &mut Session) {
        for extraction in &self.extractions {
            if let Some(default) = extraction.default.as_deref().filter(|_| session.value(extraction.number).is_none())
            {
                // A default is as short as the plan has it.
                let _ = session.set_value(extraction.number, self.variables, Some(default));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use std::sync::Arc;

    use super::{CookieRules, Rules, Verdict};
    use crate::cookies::Site;
    use crate::definition;
    use crate::filling::Sources;
    use crate::random::Random;
    use crate::scope::Scope;
    use crate::session::Session;

    fn site() -> Arc<Site> {
        Arc::new(Site { host: 4, name: "h".into(), is_address: false, is_secure: false })
    }

    fn cookies(directory: Option<&str>) -> CookieRules {
        CookieRules { sender: site(), directory: directory.map(Into::into) }
    }

    fn rules(expect: &Value, extract: &Value, cookies: Option<CookieRules>) -> Rules {
        let extract: Vec<definition::Extract> = from_value(extract.clone()).unwrap();
        let numbers: Vec<_> = (0..extract.len() as u32).collect();
        let later: Vec<_> = extract.iter().map(|extract| extract.into.clone()).collect();
        let scope = Scope { later: &later, ..Scope::default() };
        Rules::new(from_value(expect.clone()).unwrap(), extract, &numbers, scope, cookies, "s").unwrap()
    }

    fn judged(rules: &Rules, session: &mut Session, status: u16, head: &[u8], body: &str) -> Verdict {
        let (mut random, mut text) = (Random::new(0, 0), String::new());
        let sources = Sources { feeders: &[], random: &mut random, text: &mut text };
        rules.judge(session, sources, status, (head, body.as_bytes()), 0, || 0)
    }

    #[test]
    fn without_rules_only_the_status_counts() {
        assert_eq!(Verdict::plain(399), Verdict::Success);
        assert_eq!(Verdict::plain(400), Verdict::Http("status 400".into()));
        assert!(rules(&json!({}), &json!([]), None).is_plain());
        assert!(!rules(&json!({"max_time": 1}), &json!([]), None).is_plain());
        assert!(!rules(&json!({}), &json!([{"into": "a", "from": "regex", "what": "a"}]), None).is_plain());
        assert!(!rules(&json!({}), &json!([]), Some(cookies(None))).is_plain());
    }

    #[test]
    fn the_status_comes_before_expectations_and_they_before_what_is_missing() {
        let extract = json!([{"into": "a", "from": "json", "what": "/a"}, {"into": "b", "from": "json", "what": "/b"}]);
        let rules = rules(&json!({"status": [[200, 200]], "lacks": ["no"]}), &extract, None);
        for (status, body, expected) in [
            (200, "{\"a\": 1, \"b\": 2}", Verdict::Success),
            (201, "no", Verdict::Http("status 201".into())),
            (200, "no", Verdict::Assertion("the body contains \"no\"".into())),
            (200, "{}", Verdict::Assertion("no value of json /a".into())),
            (200, "{\"a\": 1}", Verdict::Assertion("no value of json /b".into())),
        ] {
            let verdict = judged(&rules, &mut Session::new(0), status, b"", body);
            assert_eq!(verdict, expected, "{status} {body}");
        }
    }

    #[test]
    fn values_are_kept_whatever_the_verdict_and_replaced_by_defaults_or_by_nothing() {
        let extract = json!([
            {"into": "a", "from": "json", "what": "/a"}, {"into": "b", "from": "json", "what": "/b", "default": "none"},
        ]);
        let rules = rules(&json!({}), &extract, None);
        let mut session = Session::new(0);
        let mut judge = |status, body: &str| {
            let verdict = judged(&rules, &mut session, status, b"", body);
            (verdict == Verdict::Success, [0, 1].map(|number| session.value(number).map(str::to_owned)))
        };
        assert_eq!(judge(500, "{\"a\": 1, \"b\": 2}"), (false, [Some("1".into()), Some("2".into())]));
        assert_eq!(judge(200, "{\"a\": 3}"), (true, [Some("3".into()), Some("none".into())]));
        assert_eq!(judge(200, "{}"), (false, [None, Some("none".into())]));
    }

    #[test]
    fn defaults_stand_in_for_a_response_that_never_came_but_not_for_a_value() {
        let extract = json!([
            {"into": "a", "from": "regex", "what": "a", "default": "A"}, {"into": "b", "from": "regex", "what": "b"},
            {"into": "c", "from": "regex", "what": "c", "default": "C"},
        ]);
        let (rules, mut session) = (rules(&json!({}), &extract, None), Session::new(0));
        session.set_value(2, 3, Some("kept")).unwrap();
        rules.fall_back(&mut session);
        assert_eq!([0, 1, 2].map(|number| session.value(number)), [Some("A"), None, Some("kept")]);
    }

    #[test]
    fn cookies_are_kept_only_when_they_are_on() {
        let head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\n";
        for (cookies, expected) in [(None, None), (Some(cookies(Some("/"))), Some("a=1; b=2"))] {
            let needs_head = cookies.is_some();
            let (rules, mut session) = (rules(&json!({}), &json!([]), cookies), Session::new(0));
            assert_eq!(rules.needs_head(), needs_head);
            assert_eq!(judged(&rules, &mut session, 200, head, ""), Verdict::Success);
            let mut sent = String::new();
            let jar = session.jar().inspect(|jar| jar.push(&site(), "/", &mut sent));
            assert_eq!(jar.map(|_| sent.as_str()), expected);
        }
    }

    #[test]
    fn without_a_constant_directory_that_of_the_request_counts() {
        let (rules, mut session) = (rules(&json!({}), &json!([]), Some(cookies(None))), Session::new(0));
        session.set_directory("/a/b/c?x=/y");
        judged(&rules, &mut session, 200, b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\n\r\n", "");
        for (path, expected) in [("/a/b/d", "a=1"), ("/a/c", "")] {
            let mut sent = String::new();
            session.jar().unwrap().push(&site(), path, &mut sent);
            assert_eq!(sent, expected, "{path}");
        }
    }

    #[test]
    fn a_response_without_cookies_leaves_the_session_as_small_as_it_was() {
        let (rules, mut session) = (rules(&json!({}), &json!([]), Some(cookies(None))), Session::new(0));
        judged(&rules, &mut session, 200, b"HTTP/1.1 200 OK\r\n\r\n", "");
        assert!(!session.has_memory());
    }
}
