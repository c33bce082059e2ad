//! A WebSocket whose messages come back after a known time.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha1::{Digest, Sha1};

use super::Context;
use crate::request::Request;
use crate::script::{End, Script, Step, head, response};

const MS: f64 = 1e6;
/// RFC 6455 §1.3.
const MAGIC: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT: u8 = 0x81;
const CLOSE: u8 = 0x88;

/// `?ms=20`: opens a WebSocket. Its messages are requests for `/ws/message` with the same query, its close frame is one
/// for `/ws/close`.
pub(super) fn open(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    request.duration("ms", 0.0, MS)?;
    let Some(key) = &request.key else {
        return Ok(Script::reply(response("426 Upgrade Required", &["Upgrade: websocket"], b"")));
    };
    let accept = BASE64_STANDARD.encode(Sha1::digest(format!("{key}{MAGIC}")));
    let accept = format!("Sec-WebSocket-Accept: {accept}");
    let lines = ["Upgrade: websocket", "Connection: Upgrade", accept.as_str()];
    Ok(Script { end: End::Switch, ..Script::reply(head("101 Switching Protocols", &lines)) })
}

/// The message, `ms` after it arrived.
pub(super) fn message(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    let delay = request.duration("ms", 0.0, MS)?;
    Ok(Script::new([Step::Wait(delay), Step::Send(frame(TEXT, &request.message))], End::Keep))
}

/// The close frame, and the end of the connection.
pub(super) fn close(request: &Request, _: &mut Context<'_>) -> Result<Script, String> {
    Ok(Script { end: End::Close, ..Script::reply(frame(CLOSE, &request.message)) })
}

/// A frame without a mask; `payload` has fewer than 64 KiB.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len();
    let mut bytes = match length {
        0..=125 => vec![first, length as u8],
        _ => vec![first, 126, (length >> 8) as u8, length as u8],
    };
    bytes.extend_from_slice(payload);
    bytes
}

#[cfg(test)]
mod tests {
    use super::frame;
    use crate::behaviours::{Context, script};
    use crate::draws::Draws;
    use crate::request::get;
    use crate::script::{End, Script, Step};

    fn play(target: &str, key: Option<&str>, message: &[u8]) -> Script {
        let mut request = get(target);
        request.key = key.map(str::to_owned);
        request.message = message.to_vec();
        script(&request, &mut Context { draws: &mut Draws::default(), turn: 1 })
    }

    #[test]
    fn a_request_with_a_key_switches_protocols() {
        let opened = play("/ws?ms=5", Some("dGhlIHNhbXBsZSBub25jZQ=="), b"");
        let Some(Step::Send(head)) = opened.steps.front() else { panic!("{opened:?}") };
        assert!(String::from_utf8_lossy(head).contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        assert_eq!((opened.end, play("/ws", None, b"").end), (End::Switch, End::Keep));
    }

    #[test]
    fn a_message_comes_back_after_its_time() {
        let script = play("/ws/message?ms=5", None, b"hi");
        assert_eq!(script, Script::new([Step::Wait(5_000_000), Step::Send(b"\x81\x02hi".to_vec())], End::Keep));
        assert_eq!(frame(0x81, &[0; 300])[..4], [0x81, 126, 1, 44]);
        assert_eq!(play("/ws/close", None, b"\x03\xe8").end, End::Close);
    }
}
