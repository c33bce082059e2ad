//! The opening handshake (RFC 6455 §4): an HTTP/1.1 request with a key, and the check of the response.

use std::hash::{BuildHasher, Hasher, RandomState};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use plimsoll_http as http;
use sha1::{Digest, Sha1};

use crate::HandshakeError;
use crate::deflate::Parameters;

/// The text that the standard appends to a key before it is hashed.
const MAGIC: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const EXTENSION: &str = "permessage-deflate";

/// The key of one handshake, as in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; Key::LENGTH]);

impl Key {
    /// Bytes of a key.
    pub const LENGTH: usize = 24;

    /// `random`: different for each connection.
    pub fn new(random: [u8; 16]) -> Key {
        let mut text = [0; Key::LENGTH];
        BASE64_STANDARD.encode_slice(random, &mut text).expect("16 bytes are 24 characters");
        Key(text)
    }

    /// A key that no other connection has.
    pub fn random() -> Key {
        let mut bits = [0; 16];
        bits[..8].copy_from_slice(&random().to_ne_bytes());
        bits[8..].copy_from_slice(&random().to_ne_bytes());
        Key::new(bits)
    }

    /// The key with this value of its header.
    pub const fn from_bytes(text: [u8; Key::LENGTH]) -> Key {
        Key(text)
    }

    /// The value of `Sec-WebSocket-Key`: ASCII.
    pub fn as_bytes(&self) -> &[u8; Key::LENGTH] {
        &self.0
    }

    /// The value of `Sec-WebSocket-Accept` that belongs to it.
    fn accept(&self) -> String {
        BASE64_STANDARD.encode(Sha1::new().chain_update(self.0).chain_update(MAGIC).finalize())
    }
}

/// A random number, for a key or for the seed of a client. It is not secret.
pub fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// What a client asks for, besides the connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offer {
    /// Subprotocols, the preferred one first.
    pub protocols: Vec<String>,
    /// The server may compress its messages (permessage-deflate).
    pub deflate: bool,
}

impl Offer {
    /// The headers of the request, without `Host`. The request is a GET without a body.
    pub fn headers(&self, key: &Key) -> Vec<(&'static str, String)> {
        let mut headers = vec![
            ("Upgrade", "websocket".to_owned()),
            ("Connection", "Upgrade".to_owned()),
            ("Sec-WebSocket-Version", "13".to_owned()),
            ("Sec-WebSocket-Key", String::from_utf8_lossy(&key.0).into_owned()),
        ];
        if !self.protocols.is_empty() {
            headers.push(("Sec-WebSocket-Protocol", self.protocols.join(", ")));
        }
        if self.deflate {
            headers.push(("Sec-WebSocket-Extensions", EXTENSION.to_owned()));
        }
        headers
    }

    /// Checks the response to a request with these headers. `head`: raw.
    pub fn check(&self, key: &Key, status: u16, head: &[u8]) -> Result<Accepted, HandshakeError> {
        if status != 101 {
            let place = http::header(head, "location").filter(|_| matches!(status, 300..=399));
            return Err(HandshakeError::Status(status, place.map(|place| text(place.trim_ascii()))));
        }
        let upgrade = http::header(head, "upgrade").map(<[u8]>::trim_ascii);
        if !upgrade.is_some_and(|value| value.eq_ignore_ascii_case(b"websocket")) {
            return Err(HandshakeError::Upgrade(upgrade.map(text)));
        }
        let mut options = http::values(head, "connection").flat_map(|value| value.split(|&byte| byte == b','));
        if !options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"upgrade")) {
            return Err(HandshakeError::Connection);
        }
        let accept = http::header(head, "sec-websocket-accept").map(<[u8]>::trim_ascii);
        if accept != Some(key.accept().as_bytes()) {
            return Err(HandshakeError::Accept);
        }
        let protocol = http::header(head, "sec-websocket-protocol").map(|value| text(value.trim_ascii()));
        if let Some(name) = protocol.as_ref().filter(|name| !self.protocols.contains(name)) {
            return Err(HandshakeError::Protocol(name.clone()));
        }
        let extensions: Vec<String> = http::values(head, "sec-websocket-extensions").map(text).collect();
        let extensions = extensions.join(", ");
        let deflate = match extensions.trim() {
            "" => None,
            given if self.deflate => Some(deflate(given).ok_or_else(|| HandshakeError::Extension(given.to_owned()))?),
            given => return Err(HandshakeError::Extension(given.to_owned())),
        };
        Ok(Accepted { protocol, deflate })
    }
}

/// What the server chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// One of the offered subprotocols; None: the server chose none.
    pub protocol: Option<String>,
    /// The parameters of permessage-deflate; None: no message is compressed.
    pub deflate: Option<Parameters>,
}

/// The parameters in the server's answer to the extension without parameters; None if they are not allowed there
/// (RFC 7692 §7.1).
fn deflate(given: &str) -> Option<Parameters> {
    let mut parts = given.split(';').map(str::trim);
    parts.next().filter(|name| name.eq_ignore_ascii_case(EXTENSION))?;
    let (mut fresh, mut seen) = (false, Vec::new());
    for part in parts {
        let (name, value) =
            part.split_once('=').map_or((part, None), |(name, value)| (name.trim(), Some(value.trim())));
        if seen.contains(&name) {
            return None;
        }
        seen.push(name);
        match (name, value) {
            ("server_no_context_takeover", None) => fresh = true,
            ("client_no_context_takeover", None) => {}
            ("server_max_window_bits", Some(bits)) => {
                bits.trim_matches('"').parse().ok().filter(|bits: &u8| (8..=15).contains(bits))?;
            }
            _ => return None,
        }
    }
    Some(Parameters { no_context_takeover: fresh })
}

fn text(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Accepted, HandshakeError, Key, Offer, deflate};
    use crate::deflate::Parameters;

    /// The key of the example in the standard, section 1.2.
    fn key() -> Key {
        Key(*b"dGhlIHNhbXBsZSBub25jZQ==")
    }

    fn head(lines: &str) -> Vec<u8> {
        format!("HTTP/1.1 101 Switching Protocols\r\n{lines}\r\n").into_bytes()
    }

    const GOOD: &str = "Upgrade: WebSocket\r\nConnection: keep-alive, upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n";

    #[test]
    fn the_example_of_the_standard_is_accepted() {
        let offer = Offer::default();
        assert_eq!(offer.check(&key(), 101, &head(GOOD)), Ok(Accepted { protocol: None, deflate: None }));
        assert_eq!(Key::new(*b"the sample nonce"), key());
    }

    #[test]
    fn the_request_has_what_the_server_needs() {
        let offer = Offer { protocols: vec!["chat".into(), "v2".into()], deflate: true };
        let headers = offer.headers(&key());
        let lines: Vec<String> = headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        assert_eq!(
            lines,
            [
                "Upgrade: websocket",
                "Connection: Upgrade",
                "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Sec-WebSocket-Protocol: chat, v2",
                "Sec-WebSocket-Extensions: permessage-deflate",
            ]
        );
    }

    #[test]
    fn each_wrong_answer_has_its_name() {
        let offer = Offer { protocols: vec!["chat".into()], deflate: false };
        let check = |status, lines: &str| offer.check(&key(), status, &head(lines)).unwrap_err();
        assert_eq!(check(200, GOOD), HandshakeError::Status(200, None));
        let moved = HandshakeError::Status(301, Some("/there".into()));
        assert_eq!(check(301, "Location: /there\r\n"), moved);
        assert_eq!(check(101, &GOOD.replace("WebSocket\r", "h2c\r")), HandshakeError::Upgrade(Some("h2c".into())));
        assert_eq!(check(101, ""), HandshakeError::Upgrade(None));
        assert_eq!(check(101, &GOOD.replace(", upgrade", "")), HandshakeError::Connection);
        assert_eq!(check(101, &GOOD.replace("s3p", "S3p")), HandshakeError::Accept);
        let protocol = format!("{GOOD}Sec-WebSocket-Protocol: other\r\n");
        assert_eq!(check(101, &protocol), HandshakeError::Protocol("other".into()));
        let extension = format!("{GOOD}Sec-WebSocket-Extensions: permessage-deflate\r\n");
        assert_eq!(check(101, &extension), HandshakeError::Extension("permessage-deflate".into()));
    }

    #[test]
    fn the_server_chooses_from_the_offer() {
        let offer = Offer { protocols: vec!["chat".into(), "v2".into()], deflate: true };
        let lines = format!("{GOOD}Sec-WebSocket-Protocol: v2\r\nSec-WebSocket-Extensions: permessage-deflate\r\n");
        let accepted = offer.check(&key(), 101, &head(&lines)).unwrap();
        assert_eq!(accepted.protocol.as_deref(), Some("v2"));
        assert_eq!(accepted.deflate, Some(Parameters { no_context_takeover: false }));
    }

    #[test]
    fn parameters_of_the_extension_are_those_of_the_standard() {
        let fresh = |fresh| Some(Parameters { no_context_takeover: fresh });
        for (given, expected) in [
            ("permessage-deflate; server_no_context_takeover", fresh(true)),
            ("Permessage-Deflate; server_max_window_bits=10; client_no_context_takeover", fresh(false)),
            ("permessage-deflate; server_max_window_bits=\"15\"", fresh(false)),
            ("permessage-deflate; server_max_window_bits=7", None),
            ("permessage-deflate; server_max_window_bits", None),
            ("permessage-deflate; client_max_window_bits=15", None),
            ("permessage-deflate; server_no_context_takeover; server_no_context_takeover", None),
            ("permessage-deflate; other", None),
            ("permessage-deflate, permessage-deflate", None),
            ("x-webkit-deflate-frame", None),
        ] {
            assert_eq!(deflate(given), expected, "{given}");
        }
    }
}
