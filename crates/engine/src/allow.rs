//! The hosts that connections may be made to. The check runs for each new connection, not for each request.
//!
//! A pattern allows a name, whatever it resolves to. A network allows an address, whatever name resolved to it. Each
//! new connection checks the addresses that its name resolves to.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use url::Host;

use crate::origin::{ConnectTo, Origin};

/// One list: names, networks and Unix sockets.
#[derive(Clone, Debug, Default)]
pub struct AllowList {
    names: Vec<String>,
    /// With the leading dot.
    suffixes: Vec<String>,
    networks: Vec<Network>,
    /// Paths of Unix sockets.
    paths: Vec<String>,
    place: String,
}

/// Several lists. Each of them must allow a connection. Without a list, every connection is allowed.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    lists: Vec<AllowList>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Network {
    address: IpAddr,
    bits: u8,
}

impl Network {
    fn host(address: IpAddr) -> Network {
        let address = address.to_canonical();
        Network { address, bits: width(address) }
    }

    /// Parses a network such as `10.0.0.0/8`.
    fn parse(address: &str, bits: &str) -> Result<Network, String> {
        let given: IpAddr = bare(address).parse().map_err(|_| format!("{address} is no IP address"))?;
        let most = width(given);
        let bits: u8 = bits.parse().ok().filter(|&bits| bits <= most).ok_or(format!("/{bits} is not 0 to {most}"))?;
        let network = match given.to_canonical() {
            // ::ffff:10.0.0.0/104 is the same as 10.0.0.0/8.
            address @ IpAddr::V4(_) if given.is_ipv6() && bits >= 96 => Network { address, bits: bits - 96 },
            _ => Network { address: given, bits },
        };
        let first = network.first();
        if first != network.address {
            return Err(format!("{} is within this network; write {first}/{}", network.address, network.bits));
        }
        Ok(network)
    }

    fn first(self) -> IpAddr {
        match self.address {
            IpAddr::V4(ip) => IpAddr::V4((u32::from(ip) & mask(self.bits, 32) as u32).into()),
            IpAddr::V6(ip) => IpAddr::V6((u128::from(ip) & mask(self.bits, 128)).into()),
        }
    }

    fn has(self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        ip.is_ipv4() == self.address.is_ipv4() && Network { address: ip, bits: self.bits }.first() == self.address
    }
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// The highest `bits` of a number of `width` bits.
fn mask(bits: u8, width: u32) -> u128 {
    let all = u128::MAX >> (128 - width);
    all & !all.checked_shr(u32::from(bits)).unwrap_or(0)
}

fn bare(host: &str) -> &str {
    host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host)
}

impl AllowList {
    /// Patterns: `api.example.com`, `*.example.com` (all names below it), `10.0.0.0/8`, `::1`, `/run/app.sock`.
    /// `place`: the name of the list in messages: "… is not in PLACE". The error names the wrong pattern.
    pub fn new<'a>(patterns: impl IntoIterator<Item = &'a str>, place: &str) -> Result<AllowList, String> {
        let mut list = AllowList { place: place.to_owned(), ..AllowList::default() };
        for pattern in patterns {
            list.add(pattern.trim()).map_err(|reason| format!("{pattern:?}: {reason}"))?;
        }
        Ok(list)
    }

    fn add(&mut self, pattern: &str) -> Result<(), String> {
        if pattern.starts_with('/') {
            self.paths.push(pattern.to_owned());
            return Ok(());
        }
        if pattern.contains("://") {
            return Err("this is a URL; write the host alone".into());
        }
        if let Ok(ip) = bare(pattern).parse() {
            self.networks.push(Network::host(ip));
            return Ok(());
        }
        if let Some((address, bits)) = pattern.split_once('/') {
            self.networks.push(Network::parse(address, bits)?);
            return Ok(());
        }
        if pattern == "*" {
            return Err("this would allow every host; to allow them, leave the list out".into());
        }
        let (is_suffix, name) = pattern.strip_prefix("*.").map_or((false, pattern), |rest| (true, rest));
        if name.contains('*') {
            return Err("a * stands only at the beginning, as in *.example.com".into());
        }
        if name.contains(':') {
            return Err("write the host without its port".into());
        }
        if name.starts_with('.') {
            return Err(format!("write *{name} for all names below it"));
        }
        match Host::parse(name) {
            Ok(Host::Domain(name)) if is_suffix => self.suffixes.push(format!(".{}", undotted(&name))),
            Ok(Host::Domain(name)) => self.names.push(undotted(&name).to_owned()),
            Ok(Host::Ipv4(ip)) if !is_suffix => self.networks.push(Network::host(ip.into())),
            _ => return Err("this is no host, *.domain, address or network".into()),
        }
        Ok(())
    }

    fn has_name(&self, host: &str) -> bool {
        let host = undotted(host);
        self.names.iter().any(|name| name == host) || self.suffixes.iter().any(|suffix| host.ends_with(suffix))
    }

    fn has_address(&self, ip: IpAddr) -> bool {
        self.networks.iter().any(|network| network.has(ip))
    }

    /// Whether the host is allowed as written. For hosts whose address is resolved elsewhere.
    fn has_written(&self, host: &str) -> bool {
        self.has_name(host) || host.parse().is_ok_and(|ip| self.has_address(ip))
    }

    /// Whether the host may be allowed once its addresses are known.
    fn may_have(&self, host: &str) -> bool {
        self.has_written(host) || (host.parse::<IpAddr>().is_err() && !self.networks.is_empty())
    }

    fn refusal(&self, what: &str) -> String {
        format!("not allowed: {what} is not in {}", self.place)
    }
}

/// Without the trailing dot of an absolute name.
fn undotted(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

impl AllowedHosts {
    /// No list allows everything. A list without a pattern allows nothing.
    pub fn new(lists: Vec<AllowList>) -> AllowedHosts {
        AllowedHosts { lists }
    }

    /// Why this origin is not allowed. Blocks while the system resolves the name. A name that cannot be resolved is not
    /// refused here.
    pub fn refusal(&self, origin: &Origin) -> Option<String> {
        if let Some(refusal) = self.refuses(origin) {
            return Some(refusal);
        }
        if let Some(target) = origin.target_resolved_here()
            && let Some(addresses) = self.unknown_addresses(target.0, target.1)
            && let Err(refusal) = self.admit_target(target.0, addresses)
        {
            return Some(refusal);
        }
        let ConnectTo::Tcp(host, port) = &origin.connect_to else { return None };
        self.admit(origin, self.unknown_addresses(host, *port)?).err()
    }

    /// The addresses of a host, if some list does not allow its name. Blocks while the system resolves it.
    fn unknown_addresses(&self, host: &str, port: u16) -> Option<Vec<SocketAddr>> {
        if self.lists.iter().all(|list| list.has_name(host)) {
            return None;
        }
        (host, port).to_socket_addrs().ok().map(Iterator::collect)
    }

    /// Why this origin is not allowed, as far as is known without addresses.
    pub(crate) fn refuses(&self, origin: &Origin) -> Option<String> {
        self.lists.iter().find_map(|list| match &origin.connect_to {
            ConnectTo::Unix(path) => {
                let path = path.to_string_lossy();
                (!list.paths.iter().any(|known| *known == path)).then(|| list.refusal(&format!("the socket {path}")))
            }
            ConnectTo::Tcp(host, _) => match origin.behind_proxy() {
                Some(target) if origin.target_resolved_here().is_some() => {
                    let refused =
                        [(target, ""), (host, "the proxy ")].into_iter().find(|(name, _)| !list.may_have(name));
                    refused.map(|(name, what)| list.refusal(&format!("{what}{name}")))
                }
                Some(target) if !list.has_written(target) => {
                    Some(list.refusal(&format!("{target} (behind a proxy, so by name only)")))
                }
                Some(_) if !list.may_have(host) => Some(list.refusal(&format!("the proxy {host}"))),
                None if !list.may_have(host) => Some(list.refusal(host)),
                _ => None,
            },
        })
    }

    /// The addresses that a connection to this origin, or to its proxy, may use. The error says why there is none.
    pub(crate) fn admit(&self, origin: &Origin, addresses: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, String> {
        let ConnectTo::Tcp(host, _) = &origin.connect_to else { return Ok(addresses) };
        self.admit_host(host, if origin.behind_proxy().is_some() { "the proxy " } else { "" }, addresses)
    }

    /// The addresses that a proxy may be asked to connect to. The error says why there is none.
    pub(crate) fn admit_target(&self, host: &str, addresses: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, String> {
        self.admit_host(host, "", addresses)
    }

    fn admit_host(&self, host: &str, what: &str, mut addresses: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, String> {
        for list in self.lists.iter().filter(|list| !list.has_name(host)) {
            let first = addresses.first().copied();
            addresses.retain(|address| list.has_address(address.ip()));
            if let (true, Some(first)) = (addresses.is_empty(), first) {
                let ip = first.ip().to_canonical().to_string();
                let named = if ip == *host { ip } else { format!("{ip} ({host})") };
                return Err(list.refusal(&format!("{what}{named}")));
            }
        }
        Ok(addresses)
    }
}

#[cfg(test)]
mod tests;
