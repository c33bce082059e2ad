//! From an origin to a connecting socket. Tries one address after another.

use std::io;
use std::net::{IpAddr, SocketAddr};

use crate::origin::{ConnectTo, Origin};
use crate::resolve::Resolver;
use crate::socket::Socket;
use crate::source::Sources;

/// The addresses of an origin that were not tried yet.
#[derive(Debug)]
pub(crate) struct Dial {
    /// In reverse order: the next address is the last element.
    left: Vec<SocketAddr>,
    /// The latest one that was tried.
    tried: Option<SocketAddr>,
    source: Option<IpAddr>,
}

impl Dial {
    /// Tries `addresses` in order, without those of another family than `source`. The first address's family stays
    /// first, and each `turn` starts with the next address of that family.
    pub(crate) fn new(mut addresses: Vec<SocketAddr>, source: Option<IpAddr>, turn: usize) -> Dial {
        addresses.retain(|address| source.is_none_or(|ip| ip.is_ipv4() == address.is_ipv4()));
        let alike = addresses.iter().take_while(|address| address.is_ipv4() == addresses[0].is_ipv4()).count();
        if alike > 1 {
            addresses[..alike].rotate_left(turn % alike);
        }
        addresses.reverse();
        Dial { left: addresses, tried: None, source }
    }

    /// Starts to connect to the next usable address. `open`: number of open connections. `last`: the error to return if
    /// no address is left.
    pub(crate) fn next(&mut self, sources: &mut Sources, open: usize, mut last: io::Error) -> io::Result<Socket> {
        while let Some(address) = self.left.pop() {
            self.tried = Some(address);
            match sources.connect(address, self.source, open, Socket::tcp) {
                Ok(socket) => return Ok(socket),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Tries the latest address once more: a proxy takes a connection for each address of the target.
    pub(crate) fn repeat(&mut self) {
        self.left.extend(self.tried);
    }
}

/// The addresses in the order in which a direct connection tries them.
pub(crate) fn ordered(addresses: Vec<SocketAddr>, turn: usize) -> Vec<SocketAddr> {
    let mut left = Dial::new(addresses, None, turn).left;
    left.reverse();
    left
}

/// The initial `last` of [`Dial::next`].
pub(crate) fn nothing_to_try() -> io::Error {
    io::Error::new(io::ErrorKind::AddrNotAvailable, "no address of this host can be used")
}

/// How a connection begins.
pub(crate) enum Opening {
    /// Connect to these addresses.
    Tcp(Vec<SocketAddr>),
    /// Use this socket.
    Unix(Socket),
    /// Resolve this host and port.
    Ask(String, u16),
}

/// Decides how to begin.
pub(crate) fn open(origin: &Origin, resolver: &Resolver, now: u64) -> io::Result<Opening> {
    match &origin.connect_to {
        ConnectTo::Unix(path) => Socket::unix(path).map(Opening::Unix),
        ConnectTo::Tcp(host, port) => Ok(match resolver.lookup(host, *port, now) {
            Some(addresses) => Opening::Tcp(addresses),
            None => Opening::Ask(host.clone(), *port),
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::{Dial, Sources, nothing_to_try};

    #[test]
    fn addresses_are_tried_in_their_order() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (first, second) = (listener.local_addr().unwrap(), "127.0.0.9:9".parse().unwrap());
        let mut dial = Dial::new(vec![first, second], None, 0);
        let _socket = dial.next(&mut Sources::default(), 0, nothing_to_try()).unwrap();
        assert_eq!(listener.accept().unwrap().0.local_addr().unwrap(), first);
        assert_eq!(dial.left, [second]);
    }

    #[test]
    fn each_turn_begins_with_the_next_address_of_the_family_that_comes_first() {
        let addresses = ["[::1]:1", "[::2]:2", "127.0.0.3:3", "127.0.0.4:4"].map(|text| text.parse().unwrap());
        let ports = |turn| -> Vec<u16> {
            let dial = Dial::new(addresses.to_vec(), None, turn);
            dial.left.iter().rev().map(std::net::SocketAddr::port).collect()
        };
        assert_eq!([0, 1, 2].map(ports), [[1, 2, 3, 4], [2, 1, 3, 4], [1, 2, 3, 4]].map(Vec::from));
    }

    #[test]
    fn a_source_address_rules_out_the_other_family() {
        let mut dial = Dial::new(vec!["[::1]:9".parse().unwrap()], Some("127.0.0.1".parse().unwrap()), 1);
        assert_eq!(
            dial.next(&mut Sources::default(), 0, nothing_to_try()).unwrap_err().kind(),
            std::io::ErrorKind::AddrNotAvailable
        );
    }
}
