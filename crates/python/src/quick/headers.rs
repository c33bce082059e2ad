//! The header lines of a common call.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::settings::Style;

/// A name, and a value or the wish that the session's line is not sent.
pub(super) type Line<'a> = (&'a [u8], Option<&'a [u8]>);

/// What geventhttpclient accepts, and sends.
const ACCEPT_ENCODING: &[u8] = b"gzip, deflate, br";
const JSON: &[u8] = b"application/json";

impl Style {
    /// Names, in lower case, of lines that cannot be sent as they are.
    fn special(self) -> &'static [&'static str] {
        match self {
            // urllib3 adds the first two, requests sets the others itself.
            Style::Requests => &["accept-encoding", "user-agent", "content-length", "transfer-encoding"],
            Style::Fast => {
                &["accept-encoding", "content-length", "content-type", "cookie", "host", "transfer-encoding"]
            }
        }
    }
}

/// The headers of user code.
#[derive(Default)]
pub(super) struct Lines<'py>(Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>);

impl<'py> Lines<'py> {
    /// None: it is no plain dict.
    pub(super) fn of(headers: &Bound<'py, PyAny>) -> Option<Self> {
        headers.cast_exact::<PyDict>().ok().map(|headers| Lines(headers.iter().collect()))
    }

    /// The lines of a session.
    pub(super) fn of_session(headers: &Bound<'py, PyDict>) -> Self {
        Lines(headers.iter().collect())
    }

    pub(super) fn names(&self) -> impl ExactSizeIterator<Item = &Bound<'py, PyAny>> + Clone {
        self.0.iter().map(|(name, _)| name)
    }

    /// The values as bytes; None: one has to be treated in another way.
    pub(super) fn values(&self, style: Style) -> impl Iterator<Item = Option<&[u8]>> {
        self.0.iter().map(move |(_, value)| value_bytes(value, style))
    }

    /// The lines as bytes; None: one has to be treated in another way.
    pub(super) fn bytes(&self, style: Style) -> Option<Vec<Line<'_>>> {
        // A place for each line that is added below.
        let mut lines: Vec<Line<'_>> = Vec::with_capacity(self.0.len() + 4);
        for (name, value) in &self.0 {
            let name = ascii(name)?;
            let value = match value {
                value if value.is_none() && style == Style::Requests => None,
                value => Some(value_bytes(value, style)?),
            };
            let is_special = style.special().iter().any(|special| special.as_bytes().eq_ignore_ascii_case(name));
            if is_special || lines.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
                return None;
            }
            lines.push((name, value));
        }
        Some(lines)
    }
}

/// Adds what Locust's session and geventhttpclient add. False: the lines have a spelling that changes what is added.
pub(super) fn complete<'a>(lines: &mut Vec<Line<'a>>, has_json: bool, authority: &'a str) -> bool {
    let accept = lines.iter().map(|line| line.0).find(|name| name.eq_ignore_ascii_case(b"accept"));
    lines.push((b"Accept-Encoding", Some(ACCEPT_ENCODING)));
    if has_json {
        lines.push((b"Content-Type", Some(JSON)));
        match accept {
            None => lines.push((b"Accept", Some(JSON))),
            Some(b"accept" | b"Accept") => {}
            Some(_) => return false,
        }
    }
    lines.push((b"Host", Some(authority.as_bytes())));
    true
}

fn value_bytes<'a>(value: &'a Bound<'_, PyAny>, style: Style) -> Option<&'a [u8]> {
    ascii(value).or_else(|| raw(value).filter(|_| style == Style::Requests))
}

/// The bytes of a text in ASCII.
fn ascii<'a>(text: &'a Bound<'_, PyAny>) -> Option<&'a [u8]> {
    let text = text.cast_exact::<PyString>().ok()?.to_str().ok()?;
    text.is_ascii().then_some(text.as_bytes())
}

fn raw<'a>(bytes: &'a Bound<'_, PyAny>) -> Option<&'a [u8]> {
    bytes.cast_exact::<PyBytes>().ok().map(PyBytesMethods::as_bytes)
}
