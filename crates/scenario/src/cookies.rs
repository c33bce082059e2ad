//! A user's cookies, by RFC 6265bis.
//!
//! A cookie goes back to the host that set it, at any port, or with `Domain` to that domain and all hosts below it; to
//! paths at or below its `Path`, by default the directory of the request that got it; and with `Secure` to secure
//! targets only. Hosts cannot set cookies for others, nor for a public suffix such as `com`. Differences from a browser:
//!
//! - A cookie with a later expiry date lives as long as its user. `Max-Age` of 0 or less removes the cookie, and so
//!   does `Expires` in the past: servers use these to remove cookies.
//! - `SameSite` is ignored: a user has no site that embeds others. `HttpOnly` is ignored: there are no scripts.
//! - Cookies without a name are ignored.

mod set_cookie;

use std::sync::Arc;

use crate::date::Clock;

pub(crate) use set_cookie::SetCookie;

/// Limits the memory for servers that always set new names: the oldest are removed (RFC 6265 §6.1 asks for at least
/// 50).
const MOST_PER_DOMAIN: usize = 50;

/// A target, as cookies distinguish targets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// Number of its host. Targets that differ only in scheme or port share it.
    pub(crate) host: u32,
    /// The host in lower case.
    pub(crate) name: String,
    /// The host is no name in a domain.
    pub(crate) is_address: bool,
    /// It may set and get Secure cookies.
    pub(crate) is_secure: bool,
}

impl Site {
    /// RFC 6265 §5.1.3
    #[inline]
    fn is_in(&self, domain: &str) -> bool {
        is_below_domain(&self.name, domain) && (!self.is_address || self.name.len() == domain.len())
    }
}

/// The cookies of one user for all hosts.
#[derive(Debug, Default)]
pub(crate) struct Jar {
    /// In the order of the Cookie header: longer paths first, then in the order in which they were first set.
    cookies: Vec<Cookie>,
}

#[derive(Debug)]
struct Cookie {
    reach: Reach,
    is_secure: bool,
    name: String,
    value: String,
    path: String,
}

/// The hosts that get a cookie.
#[derive(Debug)]
enum Reach {
    /// The host with this number, which has set it.
    Host(u32, Arc<Site>),
    /// Those of this domain, in lower case.
    Domain(Box<str>),
}

impl Reach {
    /// `None`: the sender must not set it.
    fn new(domain: Option<&str>, sender: &Arc<Site>) -> Option<Reach> {
        let host = || Reach::Host(sender.host, Arc::clone(sender));
        let Some(domain) = domain else { return Some(host()) };
        let domain = domain.to_ascii_lowercase();
        if !domain.is_ascii() || !sender.is_in(&domain) {
            return None;
        }
        if sender.is_address {
            return Some(host());
        }
        if is_public_suffix(&domain) {
            return (domain == sender.name).then(host);
        }
        Some(Reach::Domain(domain.into()))
    }

    #[inline]
    fn includes(&self, site: &Site) -> bool {
        match self {
            Reach::Host(number, _) => *number == site.host,
            Reach::Domain(domain) => site.is_in(domain),
        }
    }

    fn name(&self) -> &str {
        match self {
            Reach::Host(_, site) => &site.name,
            Reach::Domain(domain) => domain,
        }
    }
}

impl PartialEq for Reach {
    fn eq(&self, other: &Reach) -> bool {
        match (self, other) {
            (Reach::Host(one, _), Reach::Host(two, _)) => one == two,
            (Reach::Domain(one), Reach::Domain(two)) => one == two,
            _ => false,
        }
    }
}

impl Jar {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.cookies.is_empty()
    }

    /// Stores, replaces or removes a cookie by a Set-Cookie value. `directory`: of the request, for a cookie without
    /// `Path`. `clock` is read only for a cookie with `Expires`.
    pub(crate) fn set(&mut self, sender: &Arc<Site>, directory: &str, line: &[u8], clock: Clock) {
        let line = String::from_utf8_lossy(line);
        let Some(given) = SetCookie::read(&line) else { return };
        let Some(reach) = Reach::new(given.domain, sender) else { return };
        let path = given.path.unwrap_or(directory);
        if !is_permitted(&given, &reach, sender) || (!sender.is_secure && self.has_secure(&given, &reach, path)) {
            return;
        }
        let same = |cookie: &Cookie| cookie.name == given.name && cookie.path == path && cookie.reach == reach;
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
            (None, false) => self.add(reach, path, &given),
        }
    }

    /// Whether there is a Secure cookie of this name that an insecure sender must not hide.
    fn has_secure(&self, given: &SetCookie<'_>, reach: &Reach, path: &str) -> bool {
        let overlaps = |cookie: &Cookie| {
            let (own, other) = (cookie.reach.name(), reach.name());
            is_below_domain(own, other) || is_below_domain(other, own)
        };
        let is_hidden = |cookie: &Cookie| {
            cookie.is_secure && cookie.name == given.name && is_below(path, &cookie.path) && overlaps(cookie)
        };
        self.cookies.iter().any(is_hidden)
    }

    fn add(&mut self, reach: Reach, path: &str, given: &SetCookie<'_>) {
        if self.cookies.iter().filter(|cookie| cookie.reach == reach).count() >= MOST_PER_DOMAIN {
            let oldest = self.cookies.iter().position(|cookie| cookie.reach == reach).expect("it has many");
            self.cookies.remove(oldest);
        }
        let place = self.cookies.partition_point(|cookie| cookie.path.len() >= path.len());
        let (name, value, path) = (given.name.into(), given.value.into(), path.into());
        self.cookies.insert(place, Cookie { reach, is_secure: given.is_secure, name, value, path });
    }

    /// Appends the value of the Cookie header for a request target, if there are cookies for it.
    pub(crate) fn push(&self, site: &Site, target: &str, out: &mut String) {
        let path = path_of(target);
        let start = out.len();
        let fits = |cookie: &&Cookie| {
            cookie.reach.includes(site) && (site.is_secure || !cookie.is_secure) && is_below(path, &cookie.path)
        };
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

/// What the sender and the prefix of the name ask for (RFC 6265bis §4.1.3).
fn is_permitted(given: &SetCookie<'_>, reach: &Reach, sender: &Site) -> bool {
    let begins = |prefix: &str| given.name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    let is_of_host = || given.is_secure && matches!(reach, Reach::Host(..)) && given.path == Some("/");
    (sender.is_secure || !given.is_secure)
        && (given.is_secure || !begins("__Secure-"))
        && (!begins("__Host-") || is_of_host())
}

/// A name below which different owners have their hosts. A name of one label is one, whatever the list has.
fn is_public_suffix(domain: &str) -> bool {
    psl::suffix(domain.as_bytes()).is_some_and(|suffix| suffix == domain)
}

#[inline]
fn is_below_domain(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// RFC 6265 §5.1.4
fn is_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || top.ends_with('/'))
}

/// The path of a request target.
fn path_of(target: &str) -> &str {
    target.split(['?', '#']).next().unwrap_or_default()
}

/// The path of a cookie without `Path` (RFC 6265 §5.1.4).
pub(crate) fn directory_of(target: &str) -> &str {
    match path_of(target).rfind('/') {
        None | Some(0) => "/",
        Some(end) => &target[..end],
    }
}

#[cfg(test)]
mod tests;
