//! The destinations of requests.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::Address;
use crate::certificates::Certificates;
use crate::cookies::Site;
use crate::definition::{self, Certificate};

/// Which certificates of a target are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verify {
    /// Those issued by the system's roots.
    System,
    /// Those issued by the roots in this PEM file.
    Bundle(PathBuf),
    /// All, without a check.
    Nothing,
}

/// A destination of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `scheme://host[:port]` of scheme http, https or http+unix; no user, path or query.
    pub url: String,
    /// Which certificates are accepted.
    pub verify: Verify,
    /// Files of the client certificate and of its key (may be the same PEM file).
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The client certificates of users, in place of one for all.
    pub certificates: Option<Certificates>,
    /// `http://[user:pass@]host:port`, or socks5 or socks5h in place of http.
    pub proxy: Option<String>,
    /// Set if the proxy forwards the requests. Other requests go through a tunnel.
    pub(crate) forwarding: Option<Forwarding>,
    /// Its requests are HTTP/2.
    pub http2: bool,
    /// Whose cookies it gets.
    pub(crate) site: Arc<Site>,
}

/// What a proxy needs in each plain request that it forwards (RFC 9112 §3.2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Forwarding {
    /// `http://host[:port]` of the target, before the path.
    pub(crate) root: String,
    /// Value of Proxy-Authorization.
    pub(crate) authorization: Option<String>,
}

impl Target {
    /// Whether its proxy gets whole URLs, and no CONNECT. Only WebSockets of such a target use a tunnel.
    pub fn is_forwarded(&self) -> bool {
        self.forwarding.is_some()
    }

    /// `hosts`: the hosts of earlier targets, without duplicates; this one's is added. The error is about `url`.
    pub(crate) fn new(target: &definition::Target, hosts: &mut Vec<String>) -> Result<Self, String> {
        let parsed = check_url(&target.url)?;
        let (name, scheme) = (parsed.host(), parsed.url().scheme());
        let host = hosts.iter().position(|known| known == name).unwrap_or_else(|| {
            hosts.push(name.to_owned());
            hosts.len() - 1
        });
        let verify = match &target.verify {
            None | Some(definition::Verify::Switch(true)) => Verify::System,
            Some(definition::Verify::Switch(false)) => Verify::Nothing,
            Some(definition::Verify::Bundle(path)) => Verify::Bundle(path.clone()),
        };
        let certificate = target.cert.as_ref().map(|certificate| match certificate {
            Certificate::Both(path) => (path.clone(), path.clone()),
            Certificate::Pair(certificate, key) => (certificate.clone(), key.clone()),
        });
        let (url, proxy, http2) = (target.url.clone(), target.proxy.clone(), target.http2);
        // HTTP/2 has no such form; proxies such as Squid allow tunnels to port 443 only, so plain requests use none.
        let is_forwarded = scheme == "http" && !http2;
        let parsed_proxy = proxy.as_ref().filter(|_| is_forwarded).and_then(|proxy| Address::parse(proxy).ok());
        // SOCKS proxies know no requests.
        let forwarding = parsed_proxy.filter(|proxy| !is_socks(proxy.url())).map(|proxy| Forwarding {
            root: parsed.url().port().map_or(format!("http://{name}"), |port| format!("http://{name}:{port}")),
            authorization: proxy_authorization(proxy.url()),
        });
        let site = Arc::new(Site {
            host: host as u32,
            name: name.to_owned(),
            is_address: !parsed.has_name() || scheme == "http+unix",
            // As in browsers and curl, what stays on this machine is as good as TLS.
            is_secure: scheme == "https" || ["localhost", "127.0.0.1", "[::1]"].contains(&name),
        });
        Ok(Self { url, verify, certificate, certificates: None, proxy, forwarding, http2, site })
    }
}

/// Whether a proxy carries connections of any kind, and no requests.
fn is_socks(proxy: &Url) -> bool {
    proxy.scheme().starts_with("socks")
}

/// The value of Proxy-Authorization for the user and password in a proxy's URL.
pub fn proxy_authorization(proxy: &Url) -> Option<String> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let password = proxy.password().unwrap_or_default();
    let plain = || format!("{}:{}", decoded(proxy.username()), decoded(password));
    (!proxy.username().is_empty()).then(|| format!("Basic {}", STANDARD.encode(plain())))
}

fn check_url(text: &str) -> Result<Address, String> {
    let address = Address::parse(text).map_err(|error| format!("{text:?} is not a URL: {error}"))?;
    let url = address.url();
    if !["http", "https", "http+unix"].contains(&url.scheme()) {
        return Err(format!("{text:?}: the scheme must be http, https or http+unix"));
    }
    if address.host().is_empty() {
        return Err(format!("{text:?} has no host"));
    }
    if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
        return Err(format!("{text:?} must end with the host and port; the rest belongs in the path of the steps"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a user and password belong in a header: Authorization".into());
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use super::{Target, Verify};
    use crate::definition;

    fn target(url: &str, hosts: &mut Vec<String>) -> Result<Target, String> {
        let given: definition::Target = serde_json::from_value(serde_json::json!({"url": url})).unwrap();
        Target::new(&given, hosts)
    }

    #[test]
    fn targets_on_one_host_share_its_number() {
        let mut hosts = Vec::new();
        for (url, name, expected) in [
            ("http://a", "a", (0, false, false)),
            ("https://A:444", "a", (0, false, true)),
            ("http://b/", "b", (1, false, false)),
            ("https://[::1]:5", "[::1]", (2, true, true)),
            ("http+unix://%2Ftmp%2Fs", "%2Ftmp%2Fs", (3, true, false)),
            ("http://[0::1]", "[::1]", (2, true, true)),
            ("http://10.0.0.1", "10.0.0.1", (4, true, false)),
            ("http://127.0.0.1:1", "127.0.0.1", (5, true, true)),
            ("http://localhost", "localhost", (6, false, true)),
            ("http://M\u{fc}ller.test", "xn--mller-kva.test", (7, false, false)),
        ] {
            let site = target(url, &mut hosts).unwrap().site;
            assert_eq!((site.host, site.is_address, site.is_secure), expected, "{url}");
            assert_eq!(site.name, name);
        }
    }

    #[test]
    fn certificates_are_one_file_or_two() {
        for (given, verify, certificate) in [
            (r#"{"url": "https://a"}"#, Verify::System, None),
            (r#"{"url": "https://a", "verify": true, "cert": "c"}"#, Verify::System, Some(("c".into(), "c".into()))),
            (r#"{"url": "https://a", "verify": false}"#, Verify::Nothing, None),
            (
                r#"{"url": "https://a", "verify": "r", "cert": ["c", "k"]}"#,
                Verify::Bundle("r".into()),
                Some(("c".into(), "k".into())),
            ),
        ] {
            let target = Target::new(&serde_json::from_str(given).unwrap(), &mut Vec::new()).unwrap();
            assert_eq!((target.verify, target.certificate), (verify, certificate), "{given}");
        }
    }

    #[test]
    fn a_proxy_forwards_plain_requests_and_nothing_else() {
        for (given, expected) in [
            (r#"{"url": "http://A:80", "proxy": "http://p"}"#, Some(("http://a", None))),
            (
                r#"{"url": "http://[::1]:81", "proxy": "http://me:p%40ss@p"}"#,
                Some(("http://[::1]:81", Some("Basic bWU6cEBzcw=="))),
            ),
            (r#"{"url": "http://a"}"#, None),
            (r#"{"url": "http://a", "proxy": "socks5://p"}"#, None),
            (r#"{"url": "http://a", "proxy": "SOCKS5H://me:x@p:1"}"#, None),
            (r#"{"url": "https://a", "proxy": "http://p"}"#, None),
            (r#"{"url": "http://a", "http2": true, "proxy": "http://p"}"#, None),
            (r#"{"url": "http+unix://%2Fs", "proxy": "http://p"}"#, None),
        ] {
            let target = Target::new(&serde_json::from_str(given).unwrap(), &mut Vec::new()).unwrap();
            let found = target.forwarding.as_ref().map(|each| (each.root.as_str(), each.authorization.as_deref()));
            assert_eq!((found, target.is_forwarded()), (expected, expected.is_some()), "{given}");
        }
    }

    #[test]
    fn invalid_targets_are_refused() {
        for (url, expected) in [
            ("127.0.0.1:80", "is not a URL"),
            ("http://", "is not a URL"),
            ("http+unix:///x", "has no host"),
            ("ftp://a", "the scheme must be http"),
            ("http://a/b", "must end with the host and port"),
            ("http://a?b", "must end with the host and port"),
            ("http://a/#b", "must end with the host and port"),
            ("http://u@a", "belong in a header"),
            ("http://:p@a", "belong in a header"),
        ] {
            let error = target(url, &mut Vec::new()).unwrap_err();
            assert!(error.contains(expected), "{url}: {error}");
        }
    }
}
