//! The local address of a connection to the loopback network.
//!
//! One source address has about 28,000 ports per listener. All of 127.0.0.0/8 is local, so several source addresses
//! allow more connections than that.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Connections per source before the next source is used.
///
/// The kernel first assigns even ports, half of about 28,000. When these are in use, every connect searches all of them
/// before it takes an odd one. That costs 1 ms instead of 30 µs. Other processes use the ports too.
const PER_SOURCE: usize = 2_000;

/// Open connections before any source other than 127.0.0.1 is used. Every process starts with that one, so all of them
/// share its ports: 51 processes of a million users still fit into the even ones.
const FROM_DEFAULT: usize = 250;

/// Sources in use: 127.0.0.1 … 127.0.0.254.
const SOURCES: u8 = 254;

/// Maximum sources to try for one connection. Each source without a free port costs the kernel 1 ms.
const TRIES: usize = 8;

/// Assigns source addresses in turn.
#[derive(Debug)]
pub(crate) struct Sources {
    from_default: usize,
    per_source: usize,
    /// Last byte of the current source after 127.0.0.1 is used up, 1…254.
    current: u8,
    /// Connections from the current source.
    used: usize,
}

impl Default for Sources {
    /// Each process starts with a different source, so that workers do not fill the same ones.
    fn default() -> Sources {
        Sources::with(FROM_DEFAULT, PER_SOURCE, (std::process::id().wrapping_mul(37) % u32::from(SOURCES)) as u8 + 1)
    }
}

impl Sources {
    fn with(from_default: usize, per_source: usize, first: u8) -> Sources {
        Sources { from_default, per_source, current: first, used: 0 }
    }

    /// Calls `connect` with the source for `address`: `fixed` if it is set. For the loopback network it is 127.0.0.1
    /// while few connections are `open`, then the current source; the next one if that has no free port.
    pub(crate) fn connect<T>(
        &mut self,
        address: SocketAddr,
        fixed: Option<IpAddr>,
        open: usize,
        connect: impl Fn(SocketAddr, Option<IpAddr>) -> io::Result<T>,
    ) -> io::Result<T> {
        let is_ours = matches!(address.ip(), IpAddr::V4(ip) if ip.is_loopback());
        if fixed.is_some() || !is_ours {
            return connect(address, fixed);
        }
        if open <= self.from_default {
            // The kernel uses 127.0.0.1 by default, which saves a call.
            match connect(address, None) {
                Err(error) if error.kind() == ErrorKind::AddrNotAvailable => {}
                result => return result,
            }
        }
        if self.used >= self.per_source {
            self.pass_on();
        }
        self.used += 1;
        let mut tries = 1;
        loop {
            match connect(address, Some(Ipv4Addr::new(127, 0, 0, self.current).into())) {
                Err(error) if error.kind() == ErrorKind::AddrNotAvailable && tries < TRIES => {
                    self.pass_on();
                    self.used = 1;
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    fn pass_on(&mut self) {
        self.current = self.current % SOURCES + 1;
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io;
    use std::net::{IpAddr, SocketAddr, TcpListener};

    use super::{SOURCES, Sources, TRIES};
    use crate::socket::Socket;

    /// More connections than 127.0.0.1 alone is used for.
    const MANY: usize = 1_000_000;

    fn none_left() -> io::Error {
        io::Error::from_raw_os_error(libc::EADDRNOTAVAIL)
    }

    /// Last bytes of the sources of `count` connections to the loopback network; 0 is the kernel's choice.
    fn dealt(sources: &mut Sources, open: usize, count: usize) -> Vec<u8> {
        let last = |source: Option<IpAddr>| match source {
            Some(IpAddr::V4(ip)) => ip.octets()[3],
            _ => 0,
        };
        let to = "127.0.0.1:9".parse().unwrap();
        (0..count).map(|_| sources.connect(to, None, open, |_, source| Ok(last(source))).unwrap()).collect()
    }

    #[test]
    fn few_connections_use_the_default_source_even_when_they_are_opened_often() {
        assert_eq!(dealt(&mut Sources::with(3, 1, 7), 3, 50), [0; 50]);
    }

    #[test]
    fn more_connections_than_that_come_from_one_source_after_the_other() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let mut sources = Sources::with(2, 3, 7);
        let sockets: Vec<Socket> = (1..=10).map(|open| sources.connect(to, None, open, Socket::tcp).unwrap()).collect();
        let mut seen: Vec<String> = sockets.iter().map(|_| listener.accept().unwrap().1.ip().to_string()).collect();
        seen.sort();
        let [first, second, third, fourth] = ["127.0.0.1", "127.0.0.7", "127.0.0.8", "127.0.0.9"];
        assert_eq!(seen, [first, first, second, second, second, third, third, third, fourth, fourth]);
    }

    #[test]
    fn after_the_last_source_comes_the_first_one() {
        let dealt = dealt(&mut Sources::with(1, 1, 1), MANY, 600);
        let expected: Vec<u8> = (1..=SOURCES).cycle().take(600).collect();
        assert_eq!(dealt, expected);
    }

    #[test]
    fn a_source_without_ports_is_passed_over_for_good() {
        let mut sources = Sources::with(3, 3, 1);
        let to: SocketAddr = "127.1.2.3:9".parse().unwrap();
        let asked = RefCell::new(Vec::new());
        let result = sources.connect(to, None, 1, |_, source| {
            asked.borrow_mut().push(source);
            if asked.borrow().len() < 4 { Err(none_left()) } else { Ok(()) }
        });
        assert!(result.is_ok());
        let [first, second, third] = ["127.0.0.1", "127.0.0.2", "127.0.0.3"].map(|ip| Some(ip.parse().unwrap()));
        assert_eq!(asked.into_inner(), [None, first, second, third]);
        assert_eq!(dealt(&mut sources, MANY, 3), [3, 3, 4], "the connection that was made counts for its source");
    }

    #[test]
    fn when_no_source_has_a_port_the_search_ends() {
        let tries = RefCell::new(0);
        let result: io::Result<()> =
            Sources::with(3, 3, 1).connect("127.0.0.1:9".parse().unwrap(), None, MANY, |_, _| {
                *tries.borrow_mut() += 1;
                Err(none_left())
            });
        assert_eq!(result.unwrap_err().raw_os_error(), Some(libc::EADDRNOTAVAIL));
        assert_eq!(tries.into_inner(), TRIES);
    }

    #[test]
    fn another_error_is_the_targets_and_is_reported_at_once() {
        let mut sources = Sources::with(3, 3, 1);
        let refused = || Err::<(), _>(io::Error::from_raw_os_error(libc::ECONNREFUSED));
        let error = sources.connect("127.0.0.1:9".parse().unwrap(), None, MANY, |_, _| refused()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ECONNREFUSED));
        assert_eq!(dealt(&mut sources, MANY, 3), [1, 1, 2]);
    }

    #[test]
    fn a_source_that_was_asked_for_is_kept_and_other_networks_are_left_to_the_kernel() {
        let fixed = Some("127.0.0.9".parse().unwrap());
        let mut sources = Sources::with(1, 1, 1);
        for (to, fixed) in [("127.0.0.1:9", fixed), ("192.0.2.1:9", None), ("[::1]:9", None)] {
            for _ in 0..3 {
                assert_eq!(sources.connect(to.parse().unwrap(), fixed, MANY, |_, source| Ok(source)).unwrap(), fixed);
            }
            let failed = sources.connect(to.parse().unwrap(), fixed, MANY, |_, _| Err::<(), _>(none_left()));
            assert!(failed.is_err());
        }
        assert_eq!(dealt(&mut sources, MANY, 2), [1, 2], "they took no turn");
    }
}
