//! A response as data: bytes and waits in sequence, and what to do with the connection at the end.
//!
//! A behaviour is a function from a request to a script; the connection plays it.

use std::collections::VecDeque;

/// The content of long bodies.
pub(crate) static FILLING: [u8; 65_536] = filling();

#[allow(clippy::large_stack_arrays)] // it is the compiler's stack
const fn filling() -> [u8; 65_536] {
    let mut bytes = [0; 65_536];
    let mut index = 0;
    while index < bytes.len() {
        bytes[index] = b'a' + (index % 26) as u8;
        index += 1;
    }
    bytes
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Wait until this many ns after the request's arrival.
    Wait(u64),
    /// These bytes.
    Send(Vec<u8>),
    /// This many filler bytes.
    Fill(u64),
    /// These bytes repeatedly, until the peer closes.
    Endless(&'static [u8]),
}

/// What to do with the connection after the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Keep it for the next request.
    Keep,
    /// Close it.
    Close,
    /// Reset it.
    Reset,
    /// Nothing.
    Hang,
    /// Keep it for the messages of a WebSocket.
    Switch,
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    pub(crate) steps: VecDeque<Step>,
    pub(crate) end: End,
}

impl Script {
    pub(crate) fn new(steps: impl Into<VecDeque<Step>>, end: End) -> Script {
        Script { steps: steps.into(), end }
    }

    /// One piece, and the connection is kept.
    pub(crate) fn reply(bytes: Vec<u8>) -> Script {
        Script::new([Step::Send(bytes)], End::Keep)
    }

    /// The same, `delay` ns after the request's arrival.
    pub(crate) fn delayed(delay: u64, bytes: Vec<u8>) -> Script {
        Script::new([Step::Wait(delay), Step::Send(bytes)], End::Keep)
    }
}

impl Script {
    /// Adds the keep-alive header that HTTP/1.0 needs.
    pub(crate) fn say_keep_alive(&mut self) {
        let first =
            self.steps.iter_mut().find_map(|step| if let Step::Send(bytes) = step { Some(bytes) } else { None });
        let Some(bytes) = first.filter(|_| self.end == End::Keep) else { return };
        if let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") {
            bytes.splice(end..end, *b"\r\nConnection: keep-alive");
        }
    }
}

/// A response head: status such as "200 OK", then header lines. The blank line is added.
pub(crate) fn head(status: &str, lines: &[&str]) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for line in lines {
        text.push_str(line);
        text.push_str("\r\n");
    }
    text.push_str("\r\n");
    text.into_bytes()
}

/// A whole response with its Content-Length.
pub(crate) fn response(status: &str, lines: &[&str], body: &[u8]) -> Vec<u8> {
    let length = format!("Content-Length: {}", body.len());
    let lines: Vec<&str> = lines.iter().copied().chain([length.as_str()]).collect();
    let mut bytes = head(status, &lines);
    bytes.extend_from_slice(body);
    bytes
}

#[cfg(test)]
mod tests {
    use super::{End, FILLING, Script, Step, head, response};

    #[test]
    fn heads_and_responses_are_http() {
        assert_eq!(head("204 No Content", &["A: b"]), b"HTTP/1.1 204 No Content\r\nA: b\r\n\r\n");
        assert_eq!(response("200 OK", &[], b"hi"), b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    }

    #[test]
    fn a_kept_connection_is_announced_and_a_closed_one_is_not() {
        let mut kept = Script::delayed(5, response("200 OK", &[], b""));
        kept.say_keep_alive();
        let expected = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
        assert_eq!(kept.steps[1], Step::Send(expected.to_vec()));
        let mut closed = Script { end: End::Close, ..Script::reply(response("200 OK", &[], b"")) };
        let before = closed.clone();
        closed.say_keep_alive();
        assert_eq!(closed, before);
    }

    #[test]
    fn filling_is_letters() {
        assert_eq!(&FILLING[..27], b"abcdefghijklmnopqrstuvwxyza");
    }
}
