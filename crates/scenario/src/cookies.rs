//! A user's cookies.
//!
//! A subset of RFC 6265: the latest value of a name, host and path is sent to that host (any port), to paths below its
//! own, and with `Secure` over https only. Differences from a browser:
//!
//! - A cookie with a later expiry date lives as long as its user. `Max-Age` of 0 or less removes the cookie, and so
//!   does `Expires` in the past: servers use these to remove cookies.
//! - `Domain` is ignored: a cookie is only sent to the host that set it.
//! - Without `Path` it is sent to all paths of its host.

use crate::date::unix_seconds;

/// Limits the memory for servers that always set new names: the oldest are removed (RFC 6265 §6.1 asks for at least
/// 50).
const MOST_PER_HOST: usize = 50;

/// Returns the time in seconds since 1970.
pub(crate) type Clock = fn() -> i64;

/// The cookies of one user for all hosts.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    /// In the order of the Cookie header: longer paths first, then in the order in which they were first set.
    cookies: Vec<Cookie>,
}

#[derive(Debug)]
struct Cookie {
    host: u32,
    is_secure: bool,
    name: String,
    value: String,
    path: String,
}

impl Jar {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Stores, replaces or removes a cookie by a Set-Cookie value. `host`: number of the sender. `clock` is read only
    /// for a cookie with `Expires`.
    pub(crate) fn set(&mut self, host: u32, line: &[u8], clock: Clock) {
        let line = String::from_utf8_lossy(line);
        let Some(given) = SetCookie::read(&line) else { return };
        let same = |cookie: &Cookie| cookie.host == host && cookie.name == given.name && cookie.path == given.path;
        let known = self.cookies.iter().position(same);
        match (known, given.is_expired(clock)) {
            (Some(index), true) => drop(self.cookies.remove(index)),
            (None, true) => {}
            (Some(index), false) => {
                let cookie = &mut self.cookies[index];
                cookie.value.clear();
                cookie.value.push_str(given.value);
                cookie.is_secure = given.is_secure;
            }
            (None, false) => self.add(host, &given),
        }
    }

    fn add(&mut self, host: u32, given: &SetCookie<'_>) {
        if self.cookies.iter().filter(|cookie| cookie.host == host).count() >= MOST_PER_HOST {
            let oldest = self.cookies.iter().position(|cookie| cookie.host == host).expect("it has many");
            self.cookies.remove(oldest);
        }
        let place = self.cookies.partition_point(|cookie| cookie.path.len() >= given.path.len());
        let (name, value, path) = (given.name.into(), given.value.into(), given.path.into());
        self.cookies.insert(place, Cookie { host, is_secure: given.is_secure, name, value, path });
    }

    /// Appends the value of the Cookie header for a request target, if there are cookies for it.
    pub(crate) fn push(&self, host: u32, over_tls: bool, target: &str, out: &mut String) {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let start = out.len();
        let fits =
            |cookie: &&Cookie| cookie.host == host && (over_tls || !cookie.is_secure) && is_below(path, &cookie.path);
        for cookie in self.cookies.iter().filter(fits) {
            if out.len() > start {
                out.push_str("; ");
            }
            for part in [&cookie.name, "=", &cookie.value] {
                out.push_str(part);
            }
        }
    }
}

/// RFC 6265 §5.1.4
fn is_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || top.ends_with('/'))
}

/// A parsed Set-Cookie value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SetCookie<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
    path: &'a str,
    is_secure: bool,
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
        let (mut path, mut is_secure, mut expires, mut max_age) = ("/", false, None, None);
        for part in parts {
            let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
            let value = value.trim();
            match attribute.trim() {
                a if a.eq_ignore_ascii_case("path") => path = if value.starts_with('/') { value } else { "/" },
                a if a.eq_ignore_ascii_case("secure") => is_secure = true,
                a if a.eq_ignore_ascii_case("expires") => expires = unix_seconds(value),
                a if a.eq_ignore_ascii_case("max-age") => max_age = value.parse::<i64>().ok().or(max_age),
                _ => {}
            }
        }
        Some(Self { name, value, path, is_secure, max_age, expires })
    }

    /// `Max-Age` takes precedence over `Expires` (RFC 6265 §5.3).
    fn is_expired(&self, clock: Clock) -> bool {
        match (self.max_age, self.expires) {
            (Some(seconds), _) => seconds <= 0,
            (None, Some(expires)) => expires <= clock(),
            (None, None) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Jar, MOST_PER_HOST};

    /// 2026-03-01 00:00:00 UTC
    const NOW: i64 = 1_772_323_200;

    fn jar(lines: &[&str]) -> Jar {
        let mut jar = Jar::default();
        for line in lines {
            jar.set(0, line.as_bytes(), || NOW);
        }
        jar
    }

    fn sent(jar: &Jar, target: &str) -> String {
        let mut out = String::new();
        jar.push(0, false, target, &mut out);
        out
    }

    #[test]
    fn the_latest_value_of_each_name_is_sent_in_the_order_of_the_first() {
        assert_eq!(
            sent(&jar(&["a=1; HttpOnly", "b = 2 ;Path=/", "a=3", "c=x=y", "d=\"q\"", "e="]), "/p?q"),
            "a=3; b=2; c=x=y; d=\"q\"; e="
        );
    }

    #[test]
    fn invalid_cookies_are_ignored() {
        assert!(jar(&["", "a", "=b", ";a=b", "a=b\u{1}c"]).is_empty());
    }

    #[test]
    fn cookies_are_removed_by_their_age_or_a_date_in_the_past() {
        for (line, removes) in [
            ("a=; Max-Age=0", true),
            ("a=; max-age=-1; Expires=Fri, 31 Dec 9999 23:59:59 GMT", true),
            ("a=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", true),
            ("a=deleted; expires=Thu, 01-Jan-1970 00:00:01 GMT; Path=/", true),
            ("a=; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", false),
            ("a=; Expires=Fri, 31 Dec 9999 23:59:59 GMT", false),
            ("a=; Expires=Sat, 28 Feb 2026 23:59:59 GMT", true),
            ("a=; Expires=Sun, 01 Mar 2026 00:00:00 GMT", true),
            ("a=; Expires=Sun, 01 Mar 2026 00:00:01 GMT", false),
            ("a=; Expires=soon; Max-Age=later", false),
            ("a=; Max-Age=0; Path=/other", false),
        ] {
            assert_eq!(jar(&["a=1", line]).is_empty(), removes, "{line}");
        }
        assert!(jar(&["a=1; Max-Age=0"]).is_empty());
    }

    #[test]
    fn the_clock_is_read_for_cookies_with_a_date_only() {
        let mut jar = Jar::default();
        for line in ["a=1", "b=2; Max-Age=5; Expires=Thu, 01 Jan 1970 00:00:00 GMT"] {
            jar.set(0, line.as_bytes(), || unreachable!("it has no date that counts"));
        }
        assert_eq!(sent(&jar, "/"), "a=1; b=2");
    }

    #[test]
    fn a_cookie_goes_to_paths_below_its_own_longest_first() {
        let jar = jar(&["all=1", "top=2; Path=/a", "deep=3; path=/a/b/", "odd=4; Path=a"]);
        for (target, expected) in [
            ("/", "all=1; odd=4"),
            ("/a", "top=2; all=1; odd=4"),
            ("/a?x=/a/b/", "top=2; all=1; odd=4"),
            ("/ab", "all=1; odd=4"),
            ("/a/b", "top=2; all=1; odd=4"),
            ("/a/b/c", "deep=3; top=2; all=1; odd=4"),
        ] {
            assert_eq!(sent(&jar, target), expected, "{target}");
        }
    }

    #[test]
    fn a_cookie_goes_to_its_host_and_a_secure_one_over_tls_only() {
        let mut jar = jar(&["a=1", "s=2; Secure"]);
        jar.set(1, b"b=3", || NOW);
        let sent = |host, over_tls| {
            let mut out = String::from("<");
            jar.push(host, over_tls, "/", &mut out);
            out
        };
        assert_eq!([sent(0, false), sent(0, true), sent(1, true), sent(2, true)], ["<a=1", "<a=1; s=2", "<b=3", "<"]);
    }

    #[test]
    fn a_jar_does_not_grow_without_end_and_forgets_the_oldest() {
        let mut jar = jar(&[]);
        jar.set(1, b"other=1", || NOW);
        for n in 0..MOST_PER_HOST + 2 {
            jar.set(0, format!("n{n}=v").as_bytes(), || NOW);
        }
        let all = sent(&jar, "/");
        assert_eq!(all.split("; ").count(), MOST_PER_HOST);
        assert!(all.starts_with("n2=v; ") && all.ends_with("; n51=v"), "{all}");
        assert_eq!(jar.cookies.len(), MOST_PER_HOST + 1);
    }
}
