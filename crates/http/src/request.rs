//! Encodes a request head.

use crate::RequestError;

/// Header lines, checked and encoded once, sent many times.
#[derive(Debug, Clone, Default)]
pub struct Headers {
    /// The lines as they are sent, each with its CR LF.
    block: Box<[u8]>,
    lines: Box<[Line]>,
    given: Given,
}

/// The position of a line in the block.
#[derive(Debug, Clone, Copy)]
struct Line {
    start: usize,
    /// Offset after the name; ": " follows.
    colon: usize,
    /// Offset after the value; CR LF follows.
    end: usize,
}

/// Which of the headers that `encode` handles specially are present.
#[derive(Debug, Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "five independent facts, not a state")]
pub(crate) struct Given {
    host: bool,
    pub(crate) length: bool,
    coding: bool,
    content_type: bool,
    /// `Expect: 100-continue`
    pub(crate) expect: bool,
}

impl Given {
    /// Notes the value of a header, which replaces earlier ones; None: it is removed.
    fn note(&mut self, name: &[u8], value: Option<&[u8]>) {
        let is_present = value.is_some();
        match name.len() {
            4 if name.eq_ignore_ascii_case(b"Host") => self.host = is_present,
            6 if name.eq_ignore_ascii_case(b"Expect") => {
                self.expect = value.is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"));
            }
            12 if name.eq_ignore_ascii_case(b"Content-Type") => self.content_type = is_present,
            14 if name.eq_ignore_ascii_case(b"Content-Length") => self.length = is_present,
            17 if name.eq_ignore_ascii_case(b"Transfer-Encoding") => self.coding = is_present,
            _ => {}
        }
    }
}

impl Headers {
    /// Checks and encodes (name, value) lines; their order, their case and repeated names are kept.
    pub fn new<'a>(lines: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Result<Self, RequestError> {
        let mut block = Vec::new();
        let mut places = Vec::new();
        for (name, value) in lines {
            check_header(name, value)?;
            let start = block.len();
            push_line(&mut block, name, value);
            places.push(Line { start, colon: start + name.len(), end: block.len() - 2 });
        }
        let mut headers = Self { block: block.into(), lines: places.into(), given: Given::default() };
        // The first line of a name counts.
        let mut given = Given::default();
        let lines: Vec<_> = headers.lines().collect();
        lines.iter().rev().for_each(|(name, value)| given.note(name, Some(value)));
        headers.given = given;
        Ok(headers)
    }

    /// The lines as (name, value), in order.
    pub fn lines(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.lines.iter().map(|line| (&self.block[line.start..line.colon], &self.block[line.colon + 2..line.end]))
    }

    fn value(&self, name: &[u8]) -> Option<&[u8]> {
        self.lines().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

/// The parts of a request head.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Any token; case matters.
    pub method: &'a str,
    /// Path and query (or another form that the method requires), percent-encoded.
    pub target: &'a str,
    /// The Host header, unless the headers have one.
    pub authority: &'a str,
    /// The lines that all requests of a kind share.
    pub headers: &'a Headers,
    /// Changes to them, ignoring case. A value replaces all lines of that name at the position of the first, or is
    /// appended. `None` removes them. If a name is given several times, the last one counts.
    pub extra: &'a [(&'a [u8], Option<&'a [u8]>)],
    /// Bytes of the body. Becomes Content-Length, unless the headers have one, or a Transfer-Encoding.
    pub body_length: Option<u64>,
    /// Becomes Content-Type, unless the headers have one.
    pub content_type: Option<&'a str>,
}

/// The result of [`Request::encode`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encoded {
    /// Bytes appended.
    pub head: usize,
    /// There is a body, and it must wait for 100 (`Expect: 100-continue`).
    pub expect_continue: bool,
}

impl Request<'_> {
    /// Appends the request line, the headers and the blank line to `out`. After an error `out` is unchanged.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<Encoded, RequestError> {
        self.check()?;
        let start = out.len();
        let given = self.given();
        // Space for what is added below besides the parts: blanks, version, header names, a number.
        out.reserve(self.method.len() + self.target.len() + self.authority.len() + self.headers.block.len() + 128);
        for part in [self.method, " ", self.target, " HTTP/1.1\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
        if !given.host {
            push_line(out, b"Host", self.authority.as_bytes());
        }
        if self.extra.is_empty() {
            out.extend_from_slice(&self.headers.block);
        } else {
            self.merge(out);
        }
        if let Some(length) = self.body_length.filter(|_| !given.length && !given.coding) {
            push_length(out, length);
        }
        if let Some(content_type) = self.content_type.filter(|_| !given.content_type) {
            push_line(out, b"Content-Type", content_type.as_bytes());
        }
        out.extend_from_slice(b"\r\n");
        let expect_continue = given.expect && self.body_length.is_some_and(|length| length > 0);
        Ok(Encoded { head: out.len() - start, expect_continue })
    }

    pub(crate) fn given(&self) -> Given {
        let mut given = self.headers.given;
        self.extra.iter().for_each(|(name, value)| given.note(name, *value));
        given
    }

    fn check(&self) -> Result<(), RequestError> {
        if !is_token(self.method.as_bytes()) {
            return Err(RequestError::Method(self.method.into()));
        }
        if !is_visible(self.target) {
            return Err(RequestError::Target(self.target.into()));
        }
        if !is_visible(self.authority) {
            return Err(RequestError::Authority(self.authority.into()));
        }
        for &(name, value) in self.extra {
            check_header(name, value.unwrap_or_default())?;
        }
        self.content_type.map_or(Ok(()), |value| check_header(b"Content-Type", value.as_bytes()))
    }

    /// The change of a name in `extra`, if there is one.
    fn change(&self, name: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
        self.extra.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name)).copied()
    }

    /// Appends the headers with the changes in `extra` applied.
    fn merge(&self, out: &mut Vec<u8>) {
        for (index, line) in self.headers.lines.iter().enumerate() {
            let name = &self.headers.block[line.start..line.colon];
            let Some((spelling, change)) = self.change(name) else {
                out.extend_from_slice(&self.headers.block[line.start..line.end + 2]);
                continue;
            };
            let is_repeated = self.headers.lines().take(index).any(|(earlier, _)| earlier.eq_ignore_ascii_case(name));
            if let Some(value) = change.filter(|_| !is_repeated) {
                push_line(out, spelling, value);
            }
        }
        for (index, &(name, value)) in self.extra.iter().enumerate() {
            let is_last = !self.extra[index + 1..].iter().any(|(later, _)| later.eq_ignore_ascii_case(name));
            if let Some(value) = value.filter(|_| is_last && self.headers.value(name).is_none()) {
                push_line(out, name, value);
            }
        }
    }
}

fn push_line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    for part in [name, b": ", value, b"\r\n"] {
        out.extend_from_slice(part);
    }
}

fn push_length(out: &mut Vec<u8>, length: u64) {
    push_line(out, b"Content-Length", itoa::Buffer::new().format(length).as_bytes());
}

fn check_header(name: &[u8], value: &[u8]) -> Result<(), RequestError> {
    if !is_token(name) {
        return Err(RequestError::HeaderName(String::from_utf8_lossy(name).into()));
    }
    if !are_valid(value) {
        return Err(RequestError::HeaderValue(String::from_utf8_lossy(name).into()));
    }
    Ok(())
}

/// Whether a value may have these bytes.
pub(crate) fn are_valid(value: &[u8]) -> bool {
    // All are counted, without an early end, so that the compiler checks many bytes at once.
    value.iter().filter(|&&byte| byte.is_ascii_control() && byte != b'\t').count() == 0
}

/// A token of RFC 9110 §5.6.2.
pub(crate) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&byte| TOKEN[usize::from(byte)])
}

/// The bytes of tokens.
static TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric()
            || matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~');
        byte += 1;
    }
    table
};

pub(crate) fn is_visible(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    type Extra<'a> = &'a [(&'a [u8], Option<&'a [u8]>)];

    fn base(lines: &[(&str, &str)]) -> Headers {
        Headers::new(lines.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes()))).expect("valid headers")
    }

    fn get<'a>(headers: &'a Headers, extra: Extra<'a>) -> Request<'a> {
        Request {
            method: "GET",
            target: "/a?b=c",
            authority: "example.org:8080",
            headers,
            extra,
            body_length: None,
            content_type: None,
        }
    }

    fn text(request: &Request<'_>) -> String {
        let mut out = Vec::new();
        let encoded = request.encode(&mut out).expect("a valid request");
        assert_eq!(encoded.head, out.len());
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_request_is_its_line_the_host_and_the_headers_in_order() {
        let headers = base(&[("User-Agent", "plimsoll"), ("accept", "*/*"), ("X", "")]);
        assert_eq!(
            text(&get(&headers, &[])),
            "GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\nUser-Agent: plimsoll\r\naccept: */*\r\nX: \r\n\r\n"
        );
    }

    #[test]
    fn the_bytes_that_are_already_there_stay() {
        let mut out = b"before".to_vec();
        let encoded = get(&base(&[]), &[]).encode(&mut out).expect("a valid request");
        assert!(out.starts_with(b"beforeGET "));
        assert_eq!(encoded.head, out.len() - 6);
    }

    #[test]
    fn a_host_among_the_headers_replaces_the_authority_and_keeps_its_place() {
        let headers = base(&[("A", "1"), ("host", "other")]);
        assert_eq!(text(&get(&headers, &[])), "GET /a?b=c HTTP/1.1\r\nA: 1\r\nhost: other\r\n\r\n");
    }

    #[test]
    fn extra_replaces_in_place_removes_and_appends() {
        let headers = base(&[("A", "1"), ("B", "2"), ("C", "3")]);
        let extra: Extra<'_> = &[(b"D", Some(b"4")), (b"b", Some(b"two")), (b"c", None), (b"E", None)];
        assert_eq!(
            text(&get(&headers, extra)),
            "GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\nA: 1\r\nb: two\r\nD: 4\r\n\r\n"
        );
    }

    #[test]
    fn extra_replaces_all_lines_of_a_name_with_one() {
        let headers = base(&[("Cookie", "a"), ("X", "1"), ("cookie", "b")]);
        let extra: Extra<'_> = &[(b"COOKIE", Some(b"c"))];
        assert_eq!(
            text(&get(&headers, extra)),
            "GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\nCOOKIE: c\r\nX: 1\r\n\r\n"
        );
    }

    #[test]
    fn the_last_of_several_extras_with_one_name_counts() {
        let extra: Extra<'_> = &[(b"A", Some(b"1")), (b"a", Some(b"2"))];
        assert_eq!(text(&get(&base(&[]), extra)), "GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\na: 2\r\n\r\n");
        assert_eq!(
            text(&get(&base(&[("A", "0")]), extra)),
            "GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\na: 2\r\n\r\n"
        );
    }

    #[test]
    fn a_host_that_extra_removes_falls_back_to_the_authority() {
        let headers = base(&[("Host", "other")]);
        assert_eq!(text(&get(&headers, &[(b"host", None)])), "GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\n\r\n");
        assert_eq!(text(&get(&base(&[]), &[(b"host", Some(b"x"))])), "GET /a?b=c HTTP/1.1\r\nhost: x\r\n\r\n");
    }

    #[test]
    fn a_body_even_an_empty_one_brings_its_length_and_type() {
        let headers = base(&[]);
        for (length, line) in [(0, "Content-Length: 0"), (u64::MAX, "Content-Length: 18446744073709551615")] {
            let request = Request { body_length: Some(length), content_type: Some("a/b"), ..get(&headers, &[]) };
            let expected =
                format!("GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\n{line}\r\nContent-Type: a/b\r\n\r\n");
            assert_eq!(text(&request), expected);
        }
    }

    #[test]
    fn a_length_coding_or_type_that_is_given_is_not_repeated() {
        for given in ["content-length", "Transfer-Encoding"] {
            let by_base = base(&[(given, "7"), ("content-type", "x/y")]);
            let none = base(&[]);
            let by_extra: Extra<'_> = &[(given.as_bytes(), Some(b"7")), (b"content-type", Some(b"x/y"))];
            for request in [get(&by_base, &[]), get(&none, by_extra)] {
                let request = Request { body_length: Some(3), content_type: Some("a/b"), ..request };
                let expected =
                    format!("GET /a?b=c HTTP/1.1\r\nHost: example.org:8080\r\n{given}: 7\r\ncontent-type: x/y\r\n\r\n");
                assert_eq!(text(&request), expected);
            }
        }
    }

    #[test]
    fn a_request_with_a_body_may_wait_for_100_continue() {
        let (expecting, other) = (base(&[("Expect", "100-Continue")]), base(&[("Expect", "wonders")]));
        for (headers, body_length, expected) in [
            (&expecting, Some(1), true),
            (&expecting, Some(0), false),
            (&expecting, None, false),
            (&other, Some(1), false),
        ] {
            let request = Request { body_length, ..get(headers, &[]) };
            let encoded = request.encode(&mut Vec::new()).expect("a valid request");
            assert_eq!(encoded.expect_continue, expected, "{headers:?} {body_length:?}");
        }
        let removed = Request { body_length: Some(1), ..get(&expecting, &[(b"expect", None)]) };
        assert!(!removed.encode(&mut Vec::new()).expect("a valid request").expect_continue);
    }

    #[test]
    fn invalid_requests_are_refused_and_leave_the_output_unchanged() {
        let headers = base(&[]);
        let good = get(&headers, &[]);
        for bad in [
            Request { method: "", ..good },
            Request { method: "GE T", ..good },
            Request { method: "GET\r\nX: y", ..good },
            Request { target: "", ..good },
            Request { target: "/a b", ..good },
            Request { target: "/\u{e4}", ..good },
            Request { authority: "a\r\nb", ..good },
            Request { authority: "", ..good },
            Request { content_type: Some("a\r\nb"), ..good },
            Request { extra: &[(b"A b", Some(b"c"))], ..good },
            Request { extra: &[(b"", None)], ..good },
            Request { extra: &[(b"A", Some(b"c\nd"))], ..good },
        ] {
            let mut out = b"before".to_vec();
            assert!(bad.encode(&mut out).is_err(), "{bad:?}");
            assert_eq!(out, b"before");
        }
    }

    #[test]
    fn headers_refuse_bad_names_and_control_characters_but_not_tabs_and_other_alphabets() {
        for (name, value) in [("", "x"), ("a:", "x"), ("\u{e4}", "x"), ("a", "x\r\ny"), ("a", "\0"), ("a", "\x7f")] {
            assert!(Headers::new([(name.as_bytes(), value.as_bytes())]).is_err(), "{name:?}: {value:?}");
        }
        let fine: [(&[u8], &[u8]); 2] = [(b"a", b"x\ty"), (b"b", b"\xe4\xff")];
        assert!(Headers::new(fine).expect("valid headers").lines().eq(fine));
    }
}
