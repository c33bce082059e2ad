//! Extracts values from a response for later steps.

use std::borrow::Cow;

use plimsoll_http as http;
use regex::bytes::Regex;
use serde_json::Value;
use serde_json_path::JsonPath;

use crate::DefinitionError;
use crate::cookies::SetCookie;
use crate::css::Css;
use crate::definition::{self, Decoding, From};
use crate::json::pointers::Pointers;
use crate::json::values::text_of;
use crate::response::{Lack, Response};

/// A compiled extraction.
#[derive(Debug)]
pub(crate) struct Extraction {
    /// Number of the variable in its flow.
    pub(crate) number: u32,
    /// The value if the response has none.
    pub(crate) default: Option<String>,
    rule: Rule,
    /// What is done with the text at that place; most values stand there as they are.
    inside: Option<Box<Inside>>,
}

/// The value in the text that a response has.
#[derive(Debug)]
struct Inside {
    decode: Vec<Decoding>,
    within: Option<Regex>,
}

#[derive(Debug)]
enum Rule {
    /// RFC 6901; its text and its place among those of the step
    Pointer(String, usize),
    /// RFC 9535
    Path(JsonPath),
    Regex(Regex),
    Css(Box<Css>),
    /// The whole value, or the part that the expression finds
    Header(String, Option<Regex>),
    Cookie(String),
}

impl Extraction {
    /// `number` of the variable `extract.into`. The caller has checked its name. A JSON pointer is added to `pointers`.
    pub(crate) fn new(
        extract: definition::Extract,
        number: u32,
        pointers: &mut Pointers,
        field: &str,
    ) -> Result<Self, DefinitionError> {
        let definition::Extract { from, what, part, attribute, decode, within, default, .. } = extract;
        let wrong = |name| move |reason| DefinitionError::new(format!("{field}.{name}"), reason);
        let part = part.as_deref().map(regex_of).transpose().map_err(wrong("part"))?;
        if part.is_some() && !matches!(from, From::Header) {
            return Err(wrong("part")("only a header has parts".into()));
        }
        if attribute.is_some() && !matches!(from, From::Css) {
            return Err(wrong("attribute")("only an element that a CSS selector finds has attributes".into()));
        }
        let within = within.as_deref().map(regex_of).transpose().map_err(wrong("within"))?;
        let rule = Rule::new(from, what, (part, attribute), pointers).map_err(wrong("what"))?;
        let is_plain = decode.is_empty() && within.is_none();
        let inside = (!is_plain).then(|| Box::new(Inside { decode, within }));
        Ok(Self { number, default, rule, inside })
    }

    pub(crate) fn needs_head(&self) -> bool {
        matches!(self.rule, Rule::Header(..) | Rule::Cookie(_))
    }

    pub(crate) fn needs_body(&self) -> bool {
        !self.needs_head()
    }

    /// The value in the response: the content of a JSON string, or the text of any other JSON value; null is no value.
    /// The error message says what is missing: `no value of json /token`.
    pub(crate) fn find<'r>(&self, response: &'r Response<'_>) -> Result<Cow<'r, str>, String> {
        let text = self.text(response)?;
        match &self.inside {
            None => Ok(text),
            Some(inside) => inside.find(text),
        }
    }

    /// The text at its place.
    fn text<'r>(&self, response: &'r Response<'_>) -> Result<Cow<'r, str>, String> {
        match &self.rule {
            Rule::Pointer(pointer, place) => {
                let found = response.value(*place).and_then(|raw| text_of(raw).ok_or(Lack::Missing));
                found.map_err(|lack| complaint("json", pointer, lack))
            }
            Rule::Path(path) => {
                let found = response.tree().and_then(|tree| path.query(tree).first().ok_or(Lack::Missing));
                let found = found.and_then(|value| text_of_tree(value).ok_or(Lack::Missing));
                found.map_err(|lack| complaint("jsonpath", &path.to_string(), lack))
            }
            Rule::Regex(regex) => {
                let found = first_group(regex, response.body).map(String::from_utf8_lossy);
                found.ok_or_else(|| format!("no match of regex {}", regex.as_str()))
            }
            Rule::Css(css) => css.find(response.body).map(Cow::Owned).map_err(|lack| complaint("css", &css.text, lack)),
            Rule::Header(name, part) => {
                let whole = http::header(response.head, name).ok_or_else(|| format!("no header {name}"))?;
                let found = match part {
                    None => whole,
                    Some(part) => first_group(part, whole)
                        .ok_or_else(|| format!("no match of regex {} in header {name}", part.as_str()))?,
                };
                Ok(String::from_utf8_lossy(found))
            }
            Rule::Cookie(name) => cookie(response.head, name).ok_or_else(|| format!("no cookie {name}")),
        }
    }
}

impl Inside {
    fn find<'r>(&self, text: Cow<'r, str>) -> Result<Cow<'r, str>, String> {
        let decoded = self.decode.iter().try_fold(text, |text, decoding| decoding.undo(text));
        let decoded = decoded.map_err(|what| format!("the value cannot be decoded: it is {what}"))?;
        let Some(within) = &self.within else { return Ok(decoded) };
        let found = first_group(within, decoded.as_bytes()).map(|found| String::from_utf8_lossy(found).into_owned());
        found.map(Cow::Owned).ok_or_else(|| format!("no match of regex {} in the value", within.as_str()))
    }
}

fn complaint(kind: &str, what: &str, lack: Lack) -> String {
    match lack {
        Lack::Missing => format!("no value of {kind} {what}"),
        Lack::Wrong(why) => format!("no value of {kind} {what}: {why}"),
    }
}

impl Rule {
    fn new(
        from: From,
        what: String,
        (part, attribute): (Option<Regex>, Option<String>),
        pointers: &mut Pointers,
    ) -> Result<Self, String> {
        Ok(match from {
            From::Json => {
                let place = pointers.add(&what)?;
                Rule::Pointer(what, place)
            }
            From::Jsonpath => Rule::Path(JsonPath::parse(&what).map_err(|error| format!("not a JSONPath: {error}"))?),
            From::Regex => Rule::Regex(regex_of(&what)?),
            From::Css => Rule::Css(Box::new(Css::new(what, attribute)?)),
            From::Header => {
                http::Headers::new([(what.as_bytes(), &b""[..])]).map_err(|error| error.to_string())?;
                Rule::Header(what, part)
            }
            From::Cookie if what.is_empty() => return Err("a cookie has a name".into()),
            From::Cookie => Rule::Cookie(what),
        })
    }
}

fn regex_of(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| format!("not a regular expression: {error}"))
}

fn text_of_tree(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.into()),
        other => Some(other.to_string().into()),
    }
}

/// Group 1 if there is one, otherwise the whole match.
fn first_group<'a>(regex: &Regex, body: &'a [u8]) -> Option<&'a [u8]> {
    if regex.captures_len() == 1 {
        return regex.find(body).map(|found| found.as_bytes());
    }
    regex.captures(body)?.get(1).map(|found| found.as_bytes())
}

/// The value of the last Set-Cookie of this name.
fn cookie<'a>(head: &'a [u8], name: &str) -> Option<Cow<'a, str>> {
    let lines = set_cookies(head);
    lines.rev().find_map(|line| {
        let line = String::from_utf8_lossy(line);
        let cookie = SetCookie::read(&line).filter(|cookie| cookie.name == name)?;
        Some(cookie.value.to_owned().into())
    })
}

/// The values of all Set-Cookie lines.
pub(crate) fn set_cookies(head: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    // Most responses have none, so this avoids the list of all headers.
    let headers = if http::header(head, "Set-Cookie").is_some() { http::headers(head) } else { Vec::new() };
    headers.into_iter().filter(|(name, _)| name.eq_ignore_ascii_case(b"Set-Cookie")).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::Extraction;
    use crate::definition::{Decoding, Extract, From};
    use crate::json::pointers::Pointers;
    use crate::response::Response;

    const HEAD: &[u8] =
        b"HTTP/1.1 200 OK\r\nX-Id:  7 \r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\nSet-Cookie: a=3\r\n\r\n";
    const BODY: &[u8] = br#"{"token": "t\"x", "n": 1.50, "big": 12345678901234567890, "no": null, "yes": true,
        "list": [{"id": 4}, {"id": 5}], "a/b": "slash", "": "empty"}"#;

    fn plain(from: From, what: &str) -> Extract {
        let (into, what) = ("v".into(), what.into());
        Extract { into, from, what, part: None, attribute: None, decode: Vec::new(), within: None, default: None }
    }

    fn extraction(from: From, what: &str) -> Result<(Extraction, Pointers), String> {
        let extract = plain(from, what);
        let mut pointers = Pointers::default();
        let made = Extraction::new(extract, 0, &mut pointers, "x").map_err(|error| error.to_string())?;
        Ok((made, pointers))
    }

    fn find(from: From, what: &str, head: &[u8], body: &[u8]) -> Result<String, String> {
        let (extraction, pointers) = extraction(from, what).unwrap();
        extraction.find(&Response::new(head, body, &pointers)).map(std::borrow::Cow::into_owned)
    }

    fn found(from: From, what: &str, body: &[u8]) -> Option<String> {
        find(from, what, HEAD, body).ok()
    }

    #[test]
    fn every_source_gives_its_text() {
        for (from, what, expected) in [
            (From::Json, "/token", Some("t\"x")),
            (From::Json, "/n", Some("1.5")),
            (From::Json, "/big", Some("12345678901234567890")),
            (From::Json, "/yes", Some("true")),
            (From::Json, "/list/1/id", Some("5")),
            (From::Json, "/list/0", Some("{\"id\":4}")),
            (From::Json, "/a~1b", Some("slash")),
            (From::Json, "/", Some("empty")),
            (From::Json, "/no", None),
            (From::Json, "/nothing", None),
            (From::Jsonpath, "$.list[*].id", Some("4")),
            (From::Jsonpath, "$.list[?@.id > 4].id", Some("5")),
            (From::Jsonpath, "$.list[?@.id > 9].id", None),
            (From::Regex, "\"id\": (\\d)", Some("4")),
            (From::Regex, "\"id\": \\d", Some("\"id\": 4")),
            (From::Regex, "(?:no|(yes))\": null", None),
            (From::Regex, "never", None),
            (From::Css, "p", None),
            (From::Header, "x-id", Some("7")),
            (From::Header, "X-None", None),
            (From::Cookie, "a", Some("3")),
            (From::Cookie, "b", Some("2")),
            (From::Cookie, "A", None),
        ] {
            assert_eq!(found(from, what, BODY).as_deref(), expected, "{from:?} {what}");
        }
        assert_eq!(found(From::Json, "", b"[1, 2]").as_deref(), Some("[1,2]"));
        assert_eq!(found(From::Json, "/a", b"<html>"), None);
        assert_eq!(found(From::Regex, "(?-u)a(.)", b"a\xff").as_deref(), Some("\u{fffd}"));
    }

    #[test]
    fn a_part_of_a_header_is_found_by_a_regular_expression() {
        let part_of = |from: From, part: &str, head: &[u8]| {
            let extract = Extract { part: Some(part.into()), ..plain(from, "Location") };
            let mut pointers = Pointers::default();
            let made = Extraction::new(extract, 0, &mut pointers, "x").map_err(|error| error.to_string())?;
            made.find(&Response::new(head, b"", &pointers)).map(std::borrow::Cow::into_owned)
        };
        let head = b"HTTP/1.1 302 Found\r\nLocation: /cb?code=a1&state=7\r\n\r\n";
        assert_eq!(part_of(From::Header, "code=([^&]+)", head).unwrap(), "a1");
        assert_eq!(part_of(From::Header, "[0-9]$", head).unwrap(), "7");
        for (from, part, head, expected) in [
            (From::Header, "token=(.+)", &head[..], "no match of regex token=(.+) in header Location"),
            (From::Header, "a", &b"HTTP/1.1 200 OK\r\n\r\n"[..], "no header Location"),
            (From::Header, "(", head, "x.part: not a regular expression: "),
            (From::Cookie, "a", head, "x.part: only a header has parts"),
        ] {
            let error = part_of(from, part, head).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_value_is_decoded_and_a_part_of_it_taken() {
        let inside = |decode: &[Decoding], within: &str, body: &[u8]| {
            let within = (!within.is_empty()).then(|| within.to_owned());
            let extract = Extract { decode: decode.into(), within, ..plain(From::Regex, "v=(.*)") };
            let mut pointers = Pointers::default();
            let made = Extraction::new(extract, 0, &mut pointers, "x").map_err(|error| error.to_string())?;
            made.find(&Response::new(HEAD, body, &pointers)).map(std::borrow::Cow::into_owned)
        };
        for (decode, within, body, expected) in [
            (&[Decoding::Html][..], "", &b"v=a&amp;b"[..], Ok("a&b")),
            (&[Decoding::Html, Decoding::Url], "", b"v=%26amp;&amp;", Ok("&amp;&")),
            (&[Decoding::Base64], r#""id": *(\d+)"#, b"v=eyJpZCI6IDd9", Ok("7")),
            (&[], "b(.)", b"v=abc", Ok("c")),
            (&[Decoding::Jwt], "", b"v=abc", Err("the value cannot be decoded: it is not a JWT")),
            (&[], "x", b"v=abc", Err("no match of regex x in the value")),
        ] {
            assert_eq!(inside(decode, within, body).as_deref(), expected.map_err(str::to_owned).as_deref());
        }
        assert!(inside(&[], "(", b"").unwrap_err().starts_with("x.within: not a regular expression: "));
    }

    #[test]
    fn a_missing_value_is_reported_with_what_was_looked_for() {
        for (from, what, body, expected) in [
            (From::Json, "/x", "{}", "no value of json /x"),
            (From::Json, "/x", "<html>", "no value of json /x: the body is not JSON"),
            (From::Jsonpath, "$.x", "{}", "no value of jsonpath $.x"),
            (From::Jsonpath, "$.x", "", "no value of jsonpath $.x: the body is not JSON"),
            (From::Regex, "a+", "", "no match of regex a+"),
            (From::Css, "p a", "<p>", "no value of css p a"),
            (From::Header, "X-A", "", "no header X-A"),
            (From::Cookie, "sid", "", "no cookie sid"),
        ] {
            assert_eq!(find(from, what, HEAD, body.as_bytes()).unwrap_err(), expected);
        }
    }

    #[test]
    fn invalid_extractions_are_refused() {
        for (from, what, begins) in [
            (From::Json, "token", "x.what: not a JSON pointer: "),
            (From::Jsonpath, "/token", "x.what: not a JSONPath: "),
            (From::Regex, "(", "x.what: not a regular expression: "),
            (From::Css, "p[", "x.what: not a CSS selector: "),
            (From::Header, "a b", "x.what: a header name must be"),
            (From::Cookie, "", "x.what: a cookie has a name"),
        ] {
            let error = extraction(from, what).map(|_| ()).unwrap_err();
            assert!(error.starts_with(begins), "{error}");
        }
    }

    #[test]
    fn only_what_is_looked_at_is_needed() {
        for (from, what, head) in [
            (From::Json, "", false),
            (From::Jsonpath, "$", false),
            (From::Regex, "", false),
            (From::Css, "p", false),
            (From::Header, "a", true),
            (From::Cookie, "a", true),
        ] {
            let (extraction, _) = extraction(from, what).unwrap();
            assert_eq!((extraction.needs_head(), extraction.needs_body()), (head, !head));
        }
    }
}
