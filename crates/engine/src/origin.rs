//! The destination of exchanges, and how to reach it.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plimsoll_scenario::{Address, proxy_authorization};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use url::Url;

use crate::socks5::{Destination, Login};
use crate::tls;
pub use crate::tls::{Identity, Trust};

/// How to reach an origin, besides its URL.
#[derive(Clone, Debug, Default)]
pub struct OriginOptions {
    /// The trusted certificates.
    pub trust: Trust,
    /// Client certificate and key.
    pub identity: Option<Identity>,
    /// `[scheme]://[user:pass@]host:port` of a proxy that every connection tunnels through: http (CONNECT), socks5 or
    /// socks5h (SOCKS 5; with socks5h it resolves the target's name).
    pub proxy: Option<String>,
    /// If this origin is an HTTP proxy for plain requests: the URL that it forwards them to.
    pub forwards: Option<String>,
    /// Local address to connect from.
    pub source: Option<IpAddr>,
    /// Speak HTTP/2, and nothing else: chosen in the handshake with https, from the first byte with http. A client has
    /// one connection to the origin, which carries all its exchanges.
    pub http2: bool,
}

/// An error in an origin. The text names what is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginError(String);

impl fmt::Display for OriginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OriginError {}

/// The address for the socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectTo {
    /// Host (name or literal address) and port: of the origin, or of its proxy.
    Tcp(String, u16),
    /// Path of a Unix socket.
    Unix(PathBuf),
}

/// A tunnel through a proxy.
#[derive(Clone, Debug)]
pub(crate) enum Tunnel {
    /// By HTTP.
    Connect {
        /// host:port for the CONNECT line.
        target: String,
        /// Value of Proxy-Authorization.
        authorization: Option<String>,
    },
    Socks5 {
        login: Option<Login>,
        /// As it is written.
        destination: Destination,
        /// The target's name is resolved here, and the proxy gets its address.
        resolved_here: bool,
    },
}

/// TLS to the origin.
#[derive(Clone, Debug)]
pub(crate) struct Secure {
    pub config: Arc<ClientConfig>,
    pub name: ServerName<'static>,
}

/// Scheme, host and port, and what is needed to connect. Connections are reused only within one origin.
#[derive(Debug)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
    authority: String,
    pub(crate) connect_to: ConnectTo,
    pub(crate) tunnel: Option<Tunnel>,
    pub(crate) secure: Option<Secure>,
    pub(crate) source: Option<IpAddr>,
    /// Speak HTTP/2.
    pub(crate) http2: bool,
    /// If this origin is a proxy: the host that it forwards requests to.
    forwards: Option<String>,
    /// A response was received from it.
    has_answered: AtomicBool,
}

impl Origin {
    /// Builds an origin from a URL with scheme http, https or http+unix. Path, query and user are ignored.
    pub fn new(url: &str, options: &OriginOptions) -> Result<Origin, OriginError> {
        let address = parse(url)?;
        let (parsed, host) = (address.url(), address.host());
        if host.is_empty() {
            return Err(OriginError(format!("{url:?} has no host")));
        }
        if parsed.scheme() == "http+unix" {
            return Ok(Origin::unix(host, options.http2));
        }
        let default_port = match parsed.scheme() {
            "http" => 80,
            "https" => 443,
            other => return Err(OriginError(format!("{url:?}: scheme {other} is not supported, use http or https"))),
        };
        let port = parsed.port().unwrap_or(default_port);
        if port == 0 {
            return Err(OriginError(format!("{url:?}: nothing can listen on port 0")));
        }
        let authority = if port == default_port { host.to_owned() } else { format!("{host}:{port}") };
        let bare = address.bare_host();
        let (connect_to, tunnel) = match &options.proxy {
            None => (ConnectTo::Tcp(bare.clone(), port), None),
            Some(proxy) => through(proxy, host, &bare, port)?,
        };
        let secure = (default_port == 443).then(|| secure(&bare, options)).transpose()?;
        let scheme = parsed.scheme().to_owned();
        let forwards = options.forwards.as_deref().map(host_of).transpose()?;
        let (source, http2, has_answered) = (options.source, options.http2, AtomicBool::default());
        if http2 && forwards.is_some() {
            return Err(OriginError("HTTP/2 needs a tunnel through the proxy; this one forwards requests".into()));
        }
        Ok(Origin {
            scheme,
            host: bare,
            port,
            authority,
            connect_to,
            tunnel,
            secure,
            source,
            http2,
            forwards,
            has_answered,
        })
    }

    fn unix(host: &str, http2: bool) -> Origin {
        let path = percent_decoded(host);
        Origin {
            scheme: "http+unix".into(),
            host: path.clone(),
            port: 0,
            authority: "localhost".into(),
            connect_to: ConnectTo::Unix(PathBuf::from(path)),
            tunnel: None,
            secure: None,
            source: None,
            http2,
            forwards: None,
            has_answered: AtomicBool::default(),
        }
    }

    /// The same with another client certificate: they share no connection and no session of TLS. None without TLS.
    pub(crate) fn with_identity(&self, identity: &Identity) -> Result<Option<Origin>, OriginError> {
        let Some(secure) = &self.secure else { return Ok(None) };
        let config = tls::with_identity(&secure.config, identity).map_err(OriginError)?;
        Ok(Some(Origin {
            scheme: self.scheme.clone(),
            host: self.host.clone(),
            port: self.port,
            authority: self.authority.clone(),
            connect_to: self.connect_to.clone(),
            tunnel: self.tunnel.clone(),
            secure: Some(Secure { config, name: secure.name.clone() }),
            source: self.source,
            http2: self.http2,
            forwards: self.forwards.clone(),
            has_answered: AtomicBool::default(),
        }))
    }

    /// http, https or http+unix.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Name or address without brackets; for http+unix the path of the socket.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// TCP port; 0 for http+unix.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The host behind the proxy, if connections go to a proxy.
    pub(crate) fn behind_proxy(&self) -> Option<&str> {
        self.forwards.as_deref().or(self.tunnel.as_ref().map(|_| self.host.as_str()))
    }

    /// The host and port of the target, if connections go to a proxy that gets its address from here.
    pub(crate) fn target_resolved_here(&self) -> Option<(&str, u16)> {
        match self.tunnel {
            Some(Tunnel::Socks5 { resolved_here: true, .. }) => Some((&self.host, self.port)),
            _ => None,
        }
    }

    /// Records that a response was received.
    pub(crate) fn answers(&self) {
        self.has_answered.store(true, Ordering::Relaxed);
    }

    /// Whether a peer that closes at once may expect TLS: we used none, and it never responded.
    pub(crate) fn may_want_tls(&self) -> bool {
        self.scheme == "http" && !self.has_answered.load(Ordering::Relaxed)
    }

    /// The value of the Host header. It has the port only if it is not the scheme's default.
    pub fn authority(&self) -> &str {
        &self.authority
    }
}

fn parse(url: &str) -> Result<Address, OriginError> {
    Address::parse(url).map_err(|error| OriginError(format!("{url:?} is not a URL: {error}")))
}

fn host_of(url: &str) -> Result<String, OriginError> {
    parse(url).map(|address| address.bare_host())
}

fn secure(host: &str, options: &OriginOptions) -> Result<Secure, OriginError> {
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| OriginError(format!("{host:?} cannot be the name in a certificate")))?;
    let config = tls::config(&options.trust, options.identity.as_ref(), options.http2).map_err(OriginError)?;
    Ok(Secure { config, name })
}

const PROXIES: &str = "use http://[user:password@]host:port, socks5://… or socks5h://…";

/// `host`: of the target, as it stands in URLs; `bare`: without brackets.
fn through(proxy: &str, host: &str, bare: &str, port: u16) -> Result<(ConnectTo, Option<Tunnel>), OriginError> {
    let wrong = |what: &str| OriginError(format!("proxy {what}, {PROXIES}"));
    let address = Address::parse(proxy).map_err(|error| wrong(&format!("is not a URL: {error}")))?;
    let url = address.url();
    let (default_port, tunnel) = match url.scheme() {
        "http" => {
            let (target, authorization) = (format!("{host}:{port}"), proxy_authorization(url));
            (80, Tunnel::Connect { target, authorization })
        }
        scheme @ ("socks5" | "socks5h") => {
            let proxy_error = |reason| OriginError(format!("proxy {reason}"));
            let destination = Destination::new(bare, port).map_err(proxy_error)?;
            let login = login(url).map_err(proxy_error)?;
            (1080, Tunnel::Socks5 { login, destination, resolved_here: scheme == "socks5" })
        }
        scheme => return Err(wrong(&format!("scheme {scheme} is not supported"))),
    };
    // The port as it is written: with http in its place, 80 would be the default.
    let proxy_port = url.port().unwrap_or(default_port);
    // Only hosts of http are read as such: an IPv4 address, a name in small letters and ASCII.
    let rest = proxy.split_once("://").map(|(_, rest)| format!("http://{rest}")).unwrap_or_default();
    let address = Address::parse(&rest).map_err(|error| wrong(&format!("is not a URL: {error}")))?;
    Ok((ConnectTo::Tcp(address.bare_host(), proxy_port), Some(tunnel)))
}

/// The user and password in the URL of a proxy.
fn login(url: &Url) -> Result<Option<Login>, String> {
    let decoded = |text: &str| percent_encoding::percent_decode_str(text).collect();
    let login = || Login::new(decoded(url.username()), decoded(url.password().unwrap_or_default()));
    (!url.username().is_empty()).then(login).transpose()
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{ConnectTo, Destination, Login, Origin, OriginOptions, Tunnel};

    fn origin(url: &str) -> Origin {
        Origin::new(url, &OriginOptions::default()).unwrap()
    }

    fn refusal(url: &str) -> String {
        Origin::new(url, &OriginOptions::default()).unwrap_err().to_string()
    }

    #[test]
    fn the_port_is_in_the_authority_only_when_it_is_not_the_schemes_own() {
        for (url, authority) in [
            ("http://example.org", "example.org"),
            ("http://example.org:80/path?x=1", "example.org"),
            ("http://example.org:8080", "example.org:8080"),
            ("http://[::1]:8080", "[::1]:8080"),
            ("http://user:secret@example.org", "example.org"),
        ] {
            assert_eq!(origin(url).authority(), authority, "{url}");
        }
    }

    #[test]
    fn an_ipv6_literal_is_dialled_without_its_brackets() {
        assert_eq!(origin("http://[::1]:8080").connect_to, ConnectTo::Tcp("::1".into(), 8080));
    }

    #[test]
    fn a_unix_socket_is_a_percent_encoded_host() {
        assert_eq!(
            origin("http+unix://%2Frun%2Fapp.sock/x").connect_to,
            ConnectTo::Unix(PathBuf::from("/run/app.sock"))
        );
    }

    #[test]
    fn invalid_origins_are_refused_by_name() {
        assert!(refusal("ftp://example.org").contains("scheme ftp"));
        assert!(refusal("example.org").contains("not a URL"));
        assert!(refusal("http://").contains("http://"));
        assert!(refusal("http://x:0").contains("port 0"));
        assert!(refusal("http://x:99999").contains("99999"));
    }

    #[test]
    fn a_proxy_is_dialled_instead_and_asked_for_a_tunnel() {
        let options = OriginOptions { proxy: Some("http://me:p%40ss@proxy:3128".into()), ..OriginOptions::default() };
        let origin = Origin::new("http://example.org", &options).unwrap();
        assert_eq!(origin.connect_to, ConnectTo::Tcp("proxy".into(), 3128));
        let Some(Tunnel::Connect { target, authorization }) = origin.tunnel else { panic!("{:?}", origin.tunnel) };
        assert_eq!((target.as_str(), authorization.as_deref()), ("example.org:80", Some("Basic bWU6cEBzcw==")));
    }

    #[test]
    fn a_socks_proxy_gets_the_name_or_the_address() {
        for (proxy, dialled, user, resolved_here) in [
            ("socks5://proxy", ("proxy", 1080), None, true),
            ("SOCKS5H://me:p%40ss@Proxy:80", ("proxy", 80), Some(("me", "p@ss")), false),
            ("socks5h://me@[::1]:1", ("::1", 1), Some(("me", "")), false),
            ("socks5://127.1", ("127.0.0.1", 1080), None, true),
            ("socks5://web.1:9/", ("web.1", 9), None, true),
        ] {
            let options = OriginOptions { proxy: Some(proxy.into()), ..OriginOptions::default() };
            let origin = Origin::new("http://example.org", &options).unwrap();
            assert_eq!(origin.connect_to, ConnectTo::Tcp(dialled.0.into(), dialled.1), "{proxy}");
            assert_eq!(origin.target_resolved_here().is_some(), resolved_here, "{proxy}");
            let Some(Tunnel::Socks5 { login, destination, .. }) = origin.tunnel else { panic!("{:?}", origin.tunnel) };
            assert_eq!(login, user.map(|(user, password)| Login::new(user.into(), password.into()).unwrap()));
            assert_eq!(destination, Destination::new("example.org", 80).unwrap());
        }
    }

    #[test]
    fn a_proxy_that_cannot_be_is_refused_without_its_password() {
        let long = format!("socks5://{}:pa55@proxy", "u".repeat(256));
        for (proxy, expected) in [
            ("https://me:pa55@p", "scheme https is not supported, use http://"),
            ("socks4://me:pa55@p", "scheme socks4 is not supported, use http://[user:password@]host:port, socks5://…"),
            ("socks5://me:pa55@", "proxy is not a URL"),
            ("socks5://me:pa55@p:99999", "proxy is not a URL"),
            ("socks5://me:pa55@p q", "proxy is not a URL"),
            (&long, "proxy has a user of 256 bytes; SOCKS 5 allows 255"),
        ] {
            let options = OriginOptions { proxy: Some(proxy.into()), ..OriginOptions::default() };
            let error = Origin::new("http://example.org", &options).unwrap_err().to_string();
            assert!(error.contains(expected) && !error.contains("pa55"), "{proxy}: {error}");
        }
    }

    #[test]
    fn an_unreadable_bundle_is_named() {
        let options =
            OriginOptions { trust: super::Trust::Bundle("/nowhere/ca.pem".into()), ..OriginOptions::default() };
        let error = Origin::new("https://example.org", &options).unwrap_err().to_string();
        assert!(error.contains("/nowhere/ca.pem"), "{error}");
        let trust = super::Trust::Bundle("/proc/self/net".into());
        let error =
            Origin::new("https://x", &OriginOptions { trust, ..OriginOptions::default() }).unwrap_err().to_string();
        assert!(error.contains("no certificate in /proc/self/net"), "{error}");
    }
}
