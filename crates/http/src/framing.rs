//! From a response head to the length of its body, and to whether the connection is kept (RFC 9112 §6.3 and §9.3).

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Response, Status};

use crate::{Limits, Notes, ProtocolError};

/// The kind of request, as far as it affects the framing of the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Any method but the two below.
    Body,
    /// HEAD: the response has no body, whatever its headers say.
    Head,
    /// CONNECT: a 2xx ends with its head, and the following bytes belong to the tunnel.
    Connect,
    /// A request to switch protocols: after a 101 all bytes until the close are the other protocol's.
    Upgrade,
}

/// How the end of a body is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    None,
    Length(u64),
    Chunked,
    UntilClose,
}

/// A parsed response head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// Bytes of the head, blank line included.
    pub(crate) length: usize,
    pub(crate) status: u16,
    pub(crate) minor: u8,
    pub(crate) content_length: Option<u64>,
    pub(crate) body: Body,
    pub(crate) keep_alive: bool,
    pub(crate) notes: Notes,
}

impl Parsed {
    /// 101 is final: no HTTP/1.1 response follows it.
    pub(crate) fn is_interim(&self) -> bool {
        self.status < 200 && self.status != 101
    }
}

/// Parses the head at the start of `bytes`; `None` if it is incomplete.
pub(crate) fn parse(bytes: &[u8], limits: &Limits, asked: Asked) -> Result<Option<Parsed>, ProtocolError> {
    let mut slots = [const { MaybeUninit::<Header<'_>>::uninit() }; Limits::MAX_HEADERS];
    let slots = &mut slots[..limits.headers.min(Limits::MAX_HEADERS)];
    let mut response = Response::new(&mut []);
    let parsed = ParserConfig::default().parse_response_with_uninit_headers(&mut response, bytes, slots);
    let length = match parsed.map_err(|error| head_error(error, limits))? {
        Status::Complete(length) => length,
        Status::Partial => return Ok(None),
    };
    let (Some(minor), Some(status @ 100..)) = (response.version, response.code) else {
        return Err(ProtocolError::StatusLine);
    };
    let (content_length, notes) = (None, Notes::default());
    let head = Parsed { length, status, minor, content_length, body: Body::None, keep_alive: true, notes };
    // RFC 9110 §9.3.6: after a 2xx to CONNECT the tunnel begins, and both length fields must be ignored.
    let opens_tunnel = asked == Asked::Connect && matches!(status, 200..=299);
    if head.is_interim() || opens_tunnel {
        return Ok(Some(head));
    }
    Ok(Some(Fields::collect(response.headers)?.frame(head, asked)))
}

/// Counts the lines of a complete trailer section.
pub(crate) fn check_trailers(section: &[u8], limits: &Limits) -> Result<usize, ProtocolError> {
    let mut slots = [httparse::EMPTY_HEADER; Limits::MAX_HEADERS];
    match httparse::parse_headers(section, &mut slots[..limits.headers.min(Limits::MAX_HEADERS)]) {
        Ok(Status::Complete((_, lines))) => Ok(lines.len()),
        Err(httparse::Error::TooManyHeaders) => Err(ProtocolError::TooManyHeaders { limit: limits.headers }),
        Ok(Status::Partial) | Err(_) => Err(ProtocolError::Trailers),
    }
}

fn head_error(error: httparse::Error, limits: &Limits) -> ProtocolError {
    match error {
        httparse::Error::Version => ProtocolError::Version,
        httparse::Error::Status => ProtocolError::StatusLine,
        httparse::Error::TooManyHeaders => ProtocolError::TooManyHeaders { limit: limits.headers },
        httparse::Error::HeaderValue => ProtocolError::HeaderValue,
        _ => ProtocolError::HeaderName,
    }
}

/// The header fields for framing, and which others are there.
#[derive(Default)]
struct Fields<'a> {
    content_length: Option<u64>,
    /// The last transfer coding; "identity" counts as none.
    last_coding: Option<&'a [u8]>,
    close: bool,
    keep_alive: bool,
    notes: Notes,
}

impl<'a> Fields<'a> {
    fn collect(headers: &[Header<'a>]) -> Result<Self, ProtocolError> {
        let mut fields = Self::default();
        for header in headers {
            // Compare the length first: that rules out nearly every other header.
            match header.name.len() {
                10 if header.name.eq_ignore_ascii_case("connection") => fields.connection(header.value),
                10 if header.name.eq_ignore_ascii_case("set-cookie") => fields.notes.cookie = true,
                13 if header.name.eq_ignore_ascii_case("server-timing") => fields.notes.timing = true,
                14 if header.name.eq_ignore_ascii_case("content-length") => fields.content_length(header.value)?,
                16 if header.name.eq_ignore_ascii_case("content-encoding") => fields.notes.coding = true,
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => fields.transfer_encoding(header.value),
                _ => {}
            }
        }
        Ok(fields)
    }

    fn connection(&mut self, value: &[u8]) {
        for token in tokens(value) {
            self.close |= token.eq_ignore_ascii_case(b"close");
            self.keep_alive |= token.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// A repeated value is accepted if it is the same, also as a list in one line (RFC 9110 §8.6).
    fn content_length(&mut self, value: &[u8]) -> Result<(), ProtocolError> {
        let length = number(value).or_else(|| repeated(value)).ok_or(ProtocolError::ContentLength)?;
        match self.content_length.replace(length) {
            Some(known) if known != length => Err(ProtocolError::ContentLengthConflict),
            _ => Ok(()),
        }
    }

    fn transfer_encoding(&mut self, value: &'a [u8]) {
        let real = tokens(value).filter(|token| !token.eq_ignore_ascii_case(b"identity"));
        self.last_coding = real.last().or(self.last_coding);
    }

    fn frame(&self, head: Parsed, asked: Asked) -> Parsed {
        let persistent = !self.close && (head.minor == 1 || self.keep_alive);
        if asked == Asked::Upgrade && head.status == 101 {
            return Parsed { body: Body::UntilClose, keep_alive: false, notes: self.notes, ..head };
        }
        let bodiless = asked == Asked::Head || matches!(head.status, 101 | 204 | 304);
        let body = match (bodiless, self.last_coding, self.content_length) {
            (true, ..) | (_, None, Some(0)) => Body::None,
            (_, Some(coding), _) if coding.eq_ignore_ascii_case(b"chunked") => Body::Chunked,
            (_, None, Some(length)) => Body::Length(length),
            (_, Some(_), _) | (_, None, None) => Body::UntilClose,
        };
        // RFC 9112 §6.1: do not reuse the connection after a coding in HTTP/1.0, or one next to a length.
        let doubtful = self.last_coding.is_some() && (head.minor == 0 || self.content_length.is_some());
        let ends = body == Body::UntilClose || head.status == 101;
        Parsed {
            content_length: if self.last_coding.is_some() { None } else { self.content_length },
            body,
            keep_alive: persistent && !doubtful && !ends,
            notes: self.notes,
            ..head
        }
    }
}

fn tokens(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).filter(|token| !token.is_empty())
}

/// The number that a list repeats.
#[cold]
fn repeated(list: &[u8]) -> Option<u64> {
    let mut all = tokens(list).map(number);
    let first = all.next()??;
    all.all(|next| next == Some(first)).then_some(first)
}

/// Parses decimal digits, and nothing else, into 64 bits.
fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |value, &byte| {
        let digit = char::from(byte).to_digit(10)?;
        value.checked_mul(10)?.checked_add(digit.into())
    })
}
