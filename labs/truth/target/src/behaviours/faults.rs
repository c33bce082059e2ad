//! Responses that break the connection or the protocol.

use super::Context;
use crate::request::Request;
use crate::script::{End, FILLING, Script, Step, head, response};

/// A second body that no client may take for the next response.
const SURPLUS: u8 = b'!';
const MAX_BY: i64 = 1 << 20;
const BODY: usize = 1000;

/// `?at=before|head|body`: resets the connection before the response, in the middle of its head, or of its body.
pub(super) fn reset(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let whole = response("200 OK", &["Content-Type: text/plain"], &FILLING[..BODY]);
    let sent = match request.text("at").unwrap_or("before") {
        "before" => 0,
        "head" => 30,
        "body" => whole.len() - BODY / 2,
        other => return Err(format!("at={other}: before, head or body")),
    };
    Ok(Script::new([Step::Send(whole[..sent].to_vec())], End::Reset))
}

/// Responses that are not HTTP, by kind. Each ends the connection, so that a client that waits for more notices.
const MALFORMED: &[(&str, &str)] = &[
    ("not-http", "220 mail.example ESMTP ready\r\n"),
    ("version", "HTTP/3.7 200 OK\r\nContent-Length: 0\r\n\r\n"),
    ("status", "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n"),
    ("no-colon", "HTTP/1.1 200 OK\r\nContent-Length 0\r\n\r\n"),
    ("nul", "HTTP/1.1 200 OK\r\nX-A: a\0b\r\nContent-Length: 0\r\n\r\n"),
    ("length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n"),
    ("two-lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
    ("chunk-size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n0\r\n\r\n"),
    ("chunk-end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabcd\r\n0\r\n\r\n"),
    ("trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n"),
];

/// `?kind=not-http|version|status|…`.
pub(super) fn malformed(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let kind = request.text("kind").unwrap_or("not-http");
    let Some((_, bytes)) = MALFORMED.iter().find(|(known, _)| *known == kind) else {
        let known: Vec<&str> = MALFORMED.iter().map(|(known, _)| *known).collect();
        return Err(format!("kind={kind}: one of {}", known.join(", ")));
    };
    Ok(Script::new([Step::Send(bytes.as_bytes().to_vec())], End::Close))
}

/// A head without an end.
pub(super) fn endless_header(_: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let line = Step::Endless(b"X-Endless: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n");
    Ok(Script::new([Step::Send(b"HTTP/1.1 200 OK\r\n".to_vec()), line], End::Close))
}

/// `?by=10`: the body is this many bytes shorter than Content-Length, and the connection is closed. `?by=-10`: it is
/// longer, and the connection is kept.
pub(super) fn wrong_length(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let by: i64 = request.number("by", 10)?;
    if by.abs() > MAX_BY {
        return Err(format!("by must be within ±{MAX_BY}"));
    }
    let promised = if by > 0 { BODY + by.unsigned_abs() as usize } else { BODY };
    let mut bytes = head("200 OK", &[&format!("Content-Length: {promised}")]);
    bytes.extend_from_slice(&FILLING[..BODY]);
    if by < 0 {
        bytes.resize(bytes.len() + by.unsigned_abs() as usize, SURPLUS);
    }
    Ok(Script::new([Step::Send(bytes)], if by > 0 { End::Close } else { End::Keep }))
}

#[cfg(test)]
mod tests {
    use super::{BODY, MALFORMED};
    use crate::behaviours::play;
    use crate::script::{End, Script, Step};

    fn sent(script: &Script) -> &[u8] {
        let Step::Send(bytes) = &script.steps[0] else { panic!("{script:?}") };
        bytes
    }

    #[test]
    fn a_reset_comes_where_it_is_asked_for() {
        for (at, begins, in_body) in [("before", false, false), ("head", true, false), ("body", true, true)] {
            let script = play(&format!("/reset?at={at}"));
            assert_eq!(script.end, End::Reset);
            assert_eq!(sent(&script).starts_with(b"HTTP/1.1 "), begins);
            assert_eq!(sent(&script).windows(4).any(|window| window == b"\r\n\r\n"), in_body);
        }
    }

    #[test]
    fn a_length_is_wrong_by_what_is_asked() {
        let surplus = |script: &Script| {
            let text = String::from_utf8(sent(script).to_vec()).unwrap();
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            let promised: usize = head.rsplit(' ').next().unwrap().parse().unwrap();
            (body.len().cast_signed() - promised.cast_signed(), script.end)
        };
        assert_eq!(surplus(&play("/wrong-length?by=10")), (-10, End::Close));
        assert_eq!(surplus(&play("/wrong-length?by=+7")), (-7, End::Close));
        assert_eq!(surplus(&play("/wrong-length?by=-10")), (10, End::Keep));
        assert_eq!(surplus(&play("/wrong-length?by=0")), (0, End::Keep));
        assert!(sent(&play("/wrong-length?by=10")).len() > BODY);
    }

    #[test]
    fn every_kind_of_malformed_reply_ends_its_connection() {
        for (kind, bytes) in MALFORMED {
            let script = play(&format!("/malformed?kind={kind}"));
            assert_eq!((sent(&script), script.end), (bytes.as_bytes(), End::Close));
        }
    }

    #[test]
    fn the_endless_header_has_no_end() {
        assert!(matches!(play("/endless-header").steps[1], Step::Endless(_)));
    }
}
