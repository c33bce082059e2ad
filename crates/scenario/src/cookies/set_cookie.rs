//! The value of a Set-Cookie header.

use crate::date::{Clock, unix_seconds};

/// A parsed Set-Cookie value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SetCookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    /// Begins with /.
    pub(super) path: Option<&'a str>,
    /// Not empty, without the dot that it may begin with.
    pub(super) domain: Option<&'a str>,
    pub(super) is_secure: bool,
    /// Seconds.
    max_age: Option<i64>,
    /// Seconds since 1970.
    expires: Option<i64>,
}

impl<'a> SetCookie<'a> {
    /// `None`: it has no name, or a character that cannot be sent back.
    pub(crate) fn read(line: &'a str) -> Option<Self> {
        let mut parts = line.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() || line.contains(|letter: char| letter.is_ascii_control() && letter != '\t') {
            return None;
        }
        let mut cookie = Self { name, value, path: None, domain: None, is_secure: false, max_age: None, expires: None };
        for part in parts {
            let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match attribute.trim() {
                a if a.eq_ignore_ascii_case("path") => cookie.path = Some(value).filter(|path| path.starts_with('/')),
                a if a.eq_ignore_ascii_case("domain") => {
                    cookie.domain = Some(value.strip_prefix('.').unwrap_or(value)).filter(|domain| !domain.is_empty());
                }
                a if a.eq_ignore_ascii_case("secure") => cookie.is_secure = true,
                a if a.eq_ignore_ascii_case("expires") => cookie.expires = unix_seconds(value).or(cookie.expires),
                a if a.eq_ignore_ascii_case("max-age") => cookie.max_age = seconds(value).or(cookie.max_age),
                _ => {}
            }
        }
        Some(cookie)
    }

    /// `Max-Age` takes precedence over `Expires` (RFC 6265 §5.3).
    pub(super) fn is_expired(&self, clock: Clock) -> bool {
        match (self.max_age, self.expires) {
            (Some(seconds), _) => seconds <= 0,
            (None, Some(expires)) => expires * 1000 <= clock(),
            (None, None) => false,
        }
    }
}

/// Digits, with a minus or not; as many as there may be (RFC 6265 §5.2.2).
fn seconds(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(if digits.len() < text.len() { i64::MIN } else { i64::MAX }))
}
