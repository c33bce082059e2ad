//! From the text of a request's head to a header block.

use memchr::memchr;
use plimsoll_http as http;

use crate::OpenError;
use crate::hpack::{find, push_integer, push_text};

/// Positions in the static table, from 1.
const AUTHORITY: usize = 1;
const METHOD: usize = 2;
const PATH: usize = 4;

/// What the connection has to know of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Request {
    /// The method is HEAD.
    pub(crate) is_head: bool,
}

/// Appends the block of a head in the text of HTTP/1.1. Headers of the connection are left out (RFC 9113 §8.2.2).
pub(crate) fn encode(head: &[u8], is_secure: bool, out: &mut Vec<u8>) -> Result<Request, OpenError> {
    let (line, lines) = cut_line(head).ok_or(OpenError::Head)?;
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let (Some(method), Some(path), Some(_)) = (words.next(), words.next(), words.next()) else {
        return Err(OpenError::Head);
    };
    if !matches!(path.first(), Some(b'/' | b'*')) {
        return Err(OpenError::Head);
    }
    match method {
        b"GET" => out.push(0x82),
        b"POST" => out.push(0x83),
        _ => push_field(out, METHOD, method),
    }
    out.push(if is_secure { 0x87 } else { 0x86 });
    match path {
        b"/" => out.push(0x84),
        _ => push_field(out, PATH, path),
    }
    if let Some(host) = http::header(head, "host") {
        push_field(out, AUTHORITY, host);
    }
    encode_lines(lines, out);
    Ok(Request { is_head: method == b"HEAD" })
}

fn encode_lines(mut lines: &[u8], out: &mut Vec<u8>) {
    let mut lower = [0; 64];
    while let Some((line, rest)) = cut_line(lines) {
        lines = rest;
        let Some(colon) = memchr(b':', line) else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let Some(lower) = lower.get_mut(..colon) else {
            push_integer(out, 0, 4, 0);
            push_text(out, &name.to_ascii_lowercase());
            push_text(out, value);
            continue;
        };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        if is_dropped(lower, value) {
            continue;
        }
        if let Some(position) = find(lower) {
            push_field(out, position + 1, value);
        } else {
            push_integer(out, 0, 4, 0);
            push_text(out, lower);
            push_text(out, value);
        }
    }
}

/// Whether a header is not sent: it is about a connection of HTTP/1.1, or it has become a pseudo-header.
fn is_dropped(name: &[u8], value: &[u8]) -> bool {
    match name {
        b"host" | b"connection" | b"keep-alive" | b"proxy-connection" | b"transfer-encoding" | b"upgrade"
        | b"http2-settings" => true,
        b"te" => !value.eq_ignore_ascii_case(b"trailers"),
        _ => false,
    }
}

/// A field that no table stores, with a name of the static table.
fn push_field(out: &mut Vec<u8>, index: usize, value: &[u8]) {
    push_integer(out, 0, 4, index);
    push_text(out, value);
}

/// The first line without its end, and the bytes after it; `None` at the blank line or without an end.
fn cut_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = memchr(b'\n', text)?;
    let line = text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]);
    (!line.is_empty()).then(|| (line, &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::{Request, encode};
    use crate::OpenError;
    use crate::hpack::{Field, Fields, Name, STATIC};

    /// The fields of the block of a head.
    fn fields(head: &str) -> Vec<String> {
        let mut block = Vec::new();
        encode(head.as_bytes(), true, &mut block).unwrap();
        let (mut fields, mut lines) = (Fields::new(&block), Vec::new());
        while let Some(field) = fields.next().unwrap() {
            let mut line = Vec::new();
            match field {
                Field::Static(position) => line.extend([STATIC[position].0, "=", STATIC[position].1].concat().bytes()),
                Field::Literal(name, value) => {
                    match name {
                        Name::Static(position) => line.extend(STATIC[position].0.bytes()),
                        Name::Literal(text) => text.append(1000, &mut line).unwrap(),
                    }
                    line.push(b'=');
                    value.append(1000, &mut line).unwrap();
                }
            }
            lines.push(String::from_utf8(line).unwrap());
        }
        lines
    }

    #[test]
    fn the_pseudo_headers_come_first_and_names_are_in_lower_case() {
        let head =
            "GET /todos?limit=1 HTTP/1.1\r\nAccept: */*\r\nX-Id:  a b \r\nHost: example.org:8443\r\nEmpty:\r\n\r\n";
        assert_eq!(
            fields(head),
            [
                ":method=GET",
                ":scheme=https",
                ":path=/todos?limit=1",
                ":authority=example.org:8443",
                "accept=*/*",
                "x-id=a b",
                "empty=",
            ]
        );
    }

    #[test]
    fn headers_of_the_connection_are_left_out() {
        let head = "PUT / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nKeep-Alive: 5\r\nTransfer-Encoding: chunked\r\n\
                    Upgrade: h2c\r\nHTTP2-Settings: AA\r\nProxy-Connection: close\r\nTE: gzip\r\nTe: Trailers\r\n\
                    Content-Length: 3\r\n\r\n";
        let expected = [":method=PUT", ":scheme=https", ":path=/", ":authority=x", "te=Trailers", "content-length=3"];
        assert_eq!(fields(head), expected);
    }

    #[test]
    fn a_long_name_is_in_lower_case_too() {
        let name = "X-".repeat(50);
        let head = format!("OPTIONS * HTTP/1.1\r\n{name}: 1\r\n\r\n");
        let expected = [":method=OPTIONS", ":scheme=https", ":path=*", &format!("{}=1", "x-".repeat(50))];
        assert_eq!(fields(&head), expected);
    }

    #[test]
    fn only_the_method_head_is_told() {
        let is_head = |head: &[u8]| encode(head, false, &mut Vec::new());
        assert_eq!(is_head(b"HEAD / HTTP/1.1\r\n\r\n"), Ok(Request { is_head: true }));
        assert_eq!(is_head(b"GET / HTTP/1.1\r\n\r\n"), Ok(Request { is_head: false }));
    }

    #[test]
    fn other_targets_are_refused() {
        for head in
            ["CONNECT x:1 HTTP/1.1\r\n\r\n", "GET http://x/ HTTP/1.1\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/1.1", ""]
        {
            assert_eq!(encode(head.as_bytes(), false, &mut Vec::new()), Err(OpenError::Head), "{head}");
        }
    }
}
