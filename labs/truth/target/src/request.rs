//! One request for the behaviours: method, target, query, and the length of its body.

use httparse::{EMPTY_HEADER, Status};

/// Maximum header lines of a request.
const MAX_HEADERS: usize = 128;
/// Maximum bytes of a request head.
const MAX_HEAD: usize = 1 << 20;

/// What the request says about its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// HTTP/1.1: it is kept by default.
    Usual,
    /// HTTP/1.0 with keep-alive: it is kept if the response says so too.
    Asked,
    /// It is closed after the reply.
    Close,
}

/// A request's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// Path and query as received: the key of the record.
    pub(crate) target: String,
    /// The value of the Cookie header.
    pub(crate) cookie: Option<String>,
    /// The value of the Sec-WebSocket-Key header.
    pub(crate) key: Option<String>,
    /// Length of the body.
    pub(crate) body: u64,
    /// The payload, if it is a frame of a WebSocket.
    pub(crate) message: Vec<u8>,
    pub(crate) keeping: Keeping,
    /// It waits for 100 (Continue) before it sends its body.
    pub(crate) expects_continue: bool,
}

impl Request {
    /// The target without its query.
    pub(crate) fn path(&self) -> &str {
        self.target.split_once('?').map_or(&self.target, |(path, _)| path)
    }

    /// The value of a query parameter, not decoded.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        let (_, query) = self.target.split_once('?')?;
        query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (key == name).then_some(value)
        })
    }

    /// A numeric query parameter; `default` if it is missing.
    pub(crate) fn number<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        let Some(text) = self.text(name) else { return Ok(default) };
        text.parse().map_err(|_| format!("{name}={text} is not a number that fits"))
    }

    /// A duration in multiples of `unit` ns, 0 … 1 h, as ns.
    pub(crate) fn duration(&self, name: &str, default: f64, unit: f64) -> Result<u64, String> {
        let nanos = self.number(name, default)? * unit;
        if (0.0..=3.6e12).contains(&nanos) { Ok(nanos as u64) } else { Err(format!("{name} must be within 0 … 1 h")) }
    }
}

/// The start of a stream of requests.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parsed {
    /// The head is incomplete.
    Partial,
    /// A head, and its length in bytes.
    Head(Request, usize),
    /// Not a request that can be answered.
    Refused(String),
}

/// Parses the frame of a WebSocket at the start of `bytes`: a text, as a request for `/message` below the target that the
/// connection was opened with, or a close frame, as one for `/close`. Other frames are refused.
pub(crate) fn parse_frame(bytes: &[u8], opened: &str) -> Parsed {
    let &[first, second, ref rest @ ..] = bytes else { return Parsed::Partial };
    let (length, rest) = match (second & 0x7f, rest) {
        (126, &[high, low, ref rest @ ..]) => (usize::from(high) << 8 | usize::from(low), rest),
        (126, _) => return Parsed::Partial,
        (127, _) => return Parsed::Refused("a long message".to_owned()),
        (length, rest) => (usize::from(length), rest),
    };
    let name = match first {
        _ if second & 0x80 == 0 => return Parsed::Refused("a frame without a mask".to_owned()),
        0x81 => "message",
        0x88 => "close",
        _ => return Parsed::Refused(format!("a frame that begins with {first:#x}")),
    };
    let Some((key, payload)) = rest.split_at_checked(4) else { return Parsed::Partial };
    let Some(payload) = payload.get(..length) else { return Parsed::Partial };
    let message = payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key).collect();
    let (path, query) = opened.split_once('?').unwrap_or((opened, ""));
    let target = format!("{path}/{name}?{query}").trim_end_matches('?').to_owned();
    let request = Request {
        method: "WS".to_owned(),
        target,
        cookie: None,
        key: None,
        body: 0,
        message,
        keeping: Keeping::Usual,
        expects_continue: false,
    };
    Parsed::Head(request, bytes.len() - rest.len() + 4 + length)
}

/// Parses the head at the start of `bytes`.
pub(crate) fn parse(bytes: &[u8]) -> Parsed {
    let mut headers = [EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(Status::Complete(length)) => length,
        Ok(Status::Partial) if bytes.len() < MAX_HEAD => return Parsed::Partial,
        Ok(Status::Partial) => return Parsed::Refused("the head is too long".to_owned()),
        Err(error) => return Parsed::Refused(error.to_string()),
    };
    let mut request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        cookie: None,
        key: None,
        body: 0,
        message: Vec::new(),
        keeping: if parsed.version == Some(0) { Keeping::Close } else { Keeping::Usual },
        expects_continue: false,
    };
    for header in parsed.headers.iter() {
        let value = String::from_utf8_lossy(header.value).trim().to_owned();
        match header.name.to_ascii_lowercase().as_str() {
            "content-length" => match value.parse() {
                Ok(body) => request.body = body,
                Err(_) => return Parsed::Refused(format!("Content-Length: {value}")),
            },
            "transfer-encoding" => return Parsed::Refused("a request body must have a Content-Length".to_owned()),
            "cookie" => request.cookie = Some(value),
            "sec-websocket-key" => request.key = Some(value),
            "connection" => {
                let has = |word: &str| value.split(',').any(|token| token.trim().eq_ignore_ascii_case(word));
                request.keeping = match request.keeping {
                    _ if has("close") => Keeping::Close,
                    Keeping::Close if has("keep-alive") => Keeping::Asked,
                    usual => usual,
                };
            }
            "expect" => request.expects_continue = value.eq_ignore_ascii_case("100-continue"),
            _ => {}
        }
    }
    Parsed::Head(request, length)
}

#[cfg(test)]
pub(crate) fn get(target: &str) -> Request {
    match parse(format!("GET {target} HTTP/1.1\r\n\r\n").as_bytes()) {
        Parsed::Head(request, _) => request,
        other => panic!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Keeping, Parsed, get, parse, parse_frame};

    fn head(text: &str) -> super::Request {
        match parse(text.as_bytes()) {
            Parsed::Head(request, length) => {
                assert_eq!(length, text.find("\r\n\r\n").unwrap() + 4);
                request
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_head_is_parsed_with_its_length() {
        let request =
            head("POST /a?b=1&c HTTP/1.1\r\ncontent-LENGTH: 7\r\nCookie: x=y\r\nExpect: 100-Continue\r\n\r\nbody");
        assert_eq!((request.method.as_str(), request.target.as_str(), request.path()), ("POST", "/a?b=1&c", "/a"));
        assert_eq!((request.body, request.cookie.as_deref()), (7, Some("x=y")));
        assert!(request.expects_continue);
        assert_eq!((request.text("b"), request.text("c"), request.text("d")), (Some("1"), Some(""), None));
    }

    #[test]
    fn the_connection_is_kept_as_the_version_and_the_header_say() {
        assert_eq!(head("GET / HTTP/1.1\r\n\r\n").keeping, Keeping::Usual);
        assert_eq!(head("GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n").keeping, Keeping::Usual);
        assert_eq!(head("GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n").keeping, Keeping::Close);
        assert_eq!(head("GET / HTTP/1.0\r\n\r\n").keeping, Keeping::Close);
        assert_eq!(head("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").keeping, Keeping::Asked);
    }

    #[test]
    fn an_incomplete_head_is_partial_and_an_invalid_one_is_refused() {
        assert_eq!(parse(b"GET / HTTP/1.1\r\nHost: "), Parsed::Partial);
        assert!(matches!(parse(b"\x16\x03\x01"), Parsed::Refused(_)));
        assert!(matches!(parse(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), Parsed::Refused(_)));
        assert!(matches!(parse(b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"), Parsed::Refused(_)));
        let endless = [b"GET / HTTP/1.1\r\nA: ", vec![b'a'; super::MAX_HEAD].as_slice()].concat();
        assert!(matches!(parse(&endless), Parsed::Refused(_)));
    }

    #[test]
    fn a_frame_is_a_request() {
        let frame = b"\x81\x82\x01\x02\x03\x04ik\x88";
        let Parsed::Head(request, length) = parse_frame(frame, "/ws?ms=5") else { panic!("it is whole") };
        assert_eq!((request.target.as_str(), request.message.as_slice(), length), ("/ws/message?ms=5", &b"hi"[..], 8));
        let Parsed::Head(request, _) = parse_frame(b"\x88\x80\0\0\0\0", "/ws") else { panic!("it is whole") };
        assert_eq!(request.target, "/ws/close");
        assert_eq!(parse_frame(&frame[..7], "/ws"), Parsed::Partial);
        assert!(matches!(parse_frame(b"\x81\x00", "/ws"), Parsed::Refused(_)));
        assert!(matches!(parse_frame(b"\x89\x80", "/ws"), Parsed::Refused(_)));
    }

    #[test]
    fn parameters_have_defaults_and_ranges() {
        let request = get("/fixed?ms=2.5&n=-3&bad=x");
        assert_eq!(request.duration("ms", 9.0, 1e6), Ok(2_500_000));
        assert_eq!(request.duration("s", 1.0, 1e9), Ok(1_000_000_000));
        assert_eq!(request.number("n", 0), Ok(-3));
        assert!(request.number("bad", 0).is_err());
        assert!(request.duration("n", 0.0, 1e6).is_err());
        assert!(get("/fixed?ms=NaN").duration("ms", 0.0, 1e6).is_err());
    }
}
