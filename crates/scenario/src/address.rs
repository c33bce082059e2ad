//! Scheme, host and port of a URL.

use url::{Host, ParseError, Url};

/// A URL whose host may also be a name that ends in a number, such as `web.1`.
///
/// The URL standard takes the last label for a part of an IPv4 address and refuses the name. Resolvers, curl and requests
/// do not, and container platforms give such names.
#[derive(Debug, Clone)]
pub struct Address {
    /// With another host, if it has such a name.
    url: Url,
    name: Option<String>,
}

/// Takes the place of a name that ends in a number while the rest is parsed.
const STAND_IN: &str = "plimsoll.invalid";

impl Address {
    /// Parses a URL.
    pub fn parse(text: &str) -> Result<Address, ParseError> {
        match Url::parse(text) {
            Err(ParseError::InvalidIpv4Address) => Address::with_name(text).ok_or(ParseError::InvalidIpv4Address),
            parsed => parsed.map(|url| Address { url, name: None }),
        }
    }

    fn with_name(text: &str) -> Option<Address> {
        let begin = text.find("://")? + 3;
        let end = text[begin..].find(['/', '?', '#']).map_or(text.len(), |end| begin + end);
        let begin = text[begin..end].rfind('@').map_or(begin, |at| begin + at + 1);
        let end = text[begin..end].rfind(':').map_or(end, |colon| begin + colon);
        let name = &text[begin..end];
        let is_label = |label: &str| {
            !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let is_number = |label: &str| label.bytes().all(|byte| byte.is_ascii_digit());
        // A mistyped address remains one.
        if !name.split('.').all(is_label) || name.split('.').all(is_number) {
            return None;
        }
        let url = Url::parse(&format!("{}{STAND_IN}{}", &text[..begin], &text[end..])).ok()?;
        Some(Address { url, name: Some(name.to_ascii_lowercase()) })
    }

    /// All but the host.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The host as it stands in URLs: an IPv6 address has brackets. Empty if there is none.
    pub fn host(&self) -> &str {
        self.name.as_deref().or(self.url.host_str()).unwrap_or_default()
    }

    /// The host for a resolver: an IPv6 address has no brackets.
    pub fn bare_host(&self) -> String {
        match self.url.host() {
            Some(Host::Ipv6(ip)) => ip.to_string(),
            _ => self.host().to_owned(),
        }
    }

    /// Whether the host is a name, and no IP address.
    pub fn has_name(&self) -> bool {
        matches!(self.url.host(), Some(Host::Domain(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn a_name_may_end_in_a_number() {
        for (text, host, port) in [
            ("http://web.1:8000/a@b:c", "web.1", Some(8000)),
            ("https://ann:pass@Task_2.web-x.07?q", "task_2.web-x.07", None),
            ("http://127.0.0.1:80/", "127.0.0.1", None),
            ("http://[::1]:81/", "[::1]", Some(81)),
            ("http://example.org", "example.org", None),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.host(), address.url().port()), (host, port), "{text}");
            assert_eq!(address.bare_host(), host.trim_matches(['[', ']']), "{text}");
            assert_eq!(address.has_name(), host.starts_with(['w', 't', 'e']), "{text}");
        }
    }

    #[test]
    fn a_mistyped_address_is_none() {
        for text in ["http://127.0.0.256/", "http://1.2.3.4.5", "http://..1", "http://a..1", "http://a%20b.1", "web.1"]
        {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }
}
