//! SOCKS 5 (RFC 1928), with a user and password (RFC 1929): the client's part, without a socket.
//!
//! The proxy's messages are read to their last byte and no further: what follows belongs to the target.

use std::net::IpAddr;

const VERSION: u8 = 5;
/// The version of the messages about user and password.
const LOGIN_VERSION: u8 = 1;
const NO_LOGIN: u8 = 0;
const WITH_LOGIN: u8 = 2;
const NOTHING_ACCEPTED: u8 = 0xff;
const CONNECT: u8 = 1;
const IPV4: u8 = 1;
const NAME: u8 = 3;
const IPV6: u8 = 4;

/// Bytes of the longest user, password or name of a host.
const LONGEST: usize = 255;

/// Bytes of a reply up to the first one of its address.
const REPLY_BEGINS: usize = 5;

/// The user and password for a proxy: each has at most 255 bytes, and the user at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Login {
    user: Vec<u8>,
    password: Vec<u8>,
}

impl Login {
    /// The error says which of them is too long.
    pub(crate) fn new(user: Vec<u8>, password: Vec<u8>) -> Result<Login, String> {
        for (what, bytes) in [("user", &user), ("password", &password)] {
            if bytes.len() > LONGEST {
                return Err(format!("has a {what} of {} bytes; SOCKS 5 allows {LONGEST}", bytes.len()));
            }
        }
        Ok(Login { user, password })
    }

    fn message(&self) -> Vec<u8> {
        let mut message = vec![LOGIN_VERSION];
        for part in [&self.user, &self.password] {
            message.push(part.len() as u8);
            message.extend_from_slice(part);
        }
        message
    }
}

/// Where the proxy connects to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Destination {
    Address(IpAddr, u16),
    /// The proxy resolves it; at most 255 bytes.
    Name(String, u16),
}

impl Destination {
    /// A literal address, or a name. The error says that the name is too long.
    pub(crate) fn new(host: &str, port: u16) -> Result<Destination, String> {
        match host.parse() {
            Ok(ip) => Ok(Destination::Address(ip, port)),
            Err(_) if host.len() > LONGEST => {
                Err(format!("takes names of {LONGEST} bytes; the target's has {}", host.len()))
            }
            Err(_) => Ok(Destination::Name(host.to_owned(), port)),
        }
    }

    fn request(&self) -> Vec<u8> {
        let mut request = vec![VERSION, CONNECT, 0];
        let port = match self {
            Destination::Address(IpAddr::V4(ip), port) => {
                request.push(IPV4);
                request.extend(ip.octets());
                port
            }
            Destination::Address(IpAddr::V6(ip), port) => {
                request.push(IPV6);
                request.extend(ip.octets());
                port
            }
            Destination::Name(name, port) => {
                request.extend([NAME, name.len() as u8]);
                request.extend(name.bytes());
                port
            }
        };
        request.extend(port.to_be_bytes());
        request
    }
}

/// What follows the proxy's bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// The message is not complete.
    More,
    /// Send these bytes.
    Send(Vec<u8>),
    /// The next bytes are the target's.
    Open,
}

/// Why there is no tunnel.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    /// The proxy does not reach this address; it may reach another one of the target.
    pub(crate) is_about_address: bool,
}

impl Refusal {
    fn new(message: String) -> Refusal {
        Refusal { message, is_about_address: false }
    }
}

/// The message that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Method,
    LoginResult,
    Reply,
}

/// One way through a proxy.
#[derive(Debug)]
pub(crate) struct Handshake {
    login: Option<Login>,
    destination: Destination,
    awaited: Awaited,
    /// The part of the message that has arrived.
    message: Vec<u8>,
}

impl Handshake {
    /// Send [`greeting`](Handshake::greeting) first.
    pub(crate) fn new(login: Option<Login>, destination: Destination) -> Handshake {
        Handshake { login, destination, awaited: Awaited::Method, message: Vec::new() }
    }

    /// The first bytes for the proxy.
    pub(crate) fn greeting(&self) -> &'static [u8] {
        match self.login {
            None => &[VERSION, 1, NO_LOGIN],
            Some(_) => &[VERSION, 2, NO_LOGIN, WITH_LOGIN],
        }
    }

    /// The bytes to read now: 1 to 262. More could belong to the target.
    pub(crate) fn wanted(&self) -> usize {
        self.length() - self.message.len()
    }

    /// The length of the message, as far as it is known.
    fn length(&self) -> usize {
        match (self.awaited, self.message.get(3), self.message.get(4)) {
            (Awaited::Method | Awaited::LoginResult, ..) => 2,
            (Awaited::Reply, Some(&IPV4), Some(_)) => 4 + 4 + 2,
            (Awaited::Reply, Some(&IPV6), Some(_)) => 4 + 16 + 2,
            (Awaited::Reply, Some(_), Some(&length)) => 4 + 1 + usize::from(length) + 2,
            // Also of a proxy that refuses: some leave out the rest.
            (Awaited::Reply, ..) if self.message.len() < 2 => 2,
            (Awaited::Reply, ..) => REPLY_BEGINS,
        }
    }

    /// Takes bytes of the proxy: at least one, at most [`wanted`](Handshake::wanted).
    pub(crate) fn input(&mut self, bytes: &[u8]) -> Result<Progress, Refusal> {
        self.message.extend_from_slice(bytes);
        match self.awaited {
            Awaited::Method => self.method(),
            Awaited::LoginResult => self.login_result(),
            Awaited::Reply => self.reply(),
        }
    }

    fn method(&mut self) -> Result<Progress, Refusal> {
        self.check_version(VERSION)?;
        let Some(&method) = self.message.get(1) else { return Ok(Progress::More) };
        match (method, &self.login) {
            (NO_LOGIN, _) => Ok(self.ask()),
            (WITH_LOGIN, Some(login)) => {
                let message = login.message();
                self.await_next(Awaited::LoginResult);
                Ok(Progress::Send(message))
            }
            (NOTHING_ACCEPTED, None) => Err(refusal("the proxy wants a user and a password")),
            (NOTHING_ACCEPTED, Some(_)) => Err(refusal("the proxy accepts no user and password")),
            (other, _) => Err(refusal(&format!("the proxy wants authentication {other}, which was not offered"))),
        }
    }

    fn login_result(&mut self) -> Result<Progress, Refusal> {
        self.check_version(LOGIN_VERSION)?;
        match self.message.get(1) {
            None => Ok(Progress::More),
            Some(0) => Ok(self.ask()),
            Some(code) => Err(refusal(&format!("the proxy refused the user or the password (code {code})"))),
        }
    }

    fn ask(&mut self) -> Progress {
        self.await_next(Awaited::Reply);
        Progress::Send(self.destination.request())
    }

    fn await_next(&mut self, awaited: Awaited) {
        self.message.clear();
        self.awaited = awaited;
    }

    fn reply(&mut self) -> Result<Progress, Refusal> {
        self.check_version(VERSION)?;
        if let Some(&code) = self.message.get(1).filter(|&&code| code != 0) {
            let message = format!("the proxy refused with code {code}: {}", meaning(code));
            return Err(Refusal { message, is_about_address: matches!(code, 1 | 3..=6 | 8) });
        }
        if let Some(kind) = self.message.get(3).filter(|kind| ![IPV4, NAME, IPV6].contains(kind)) {
            return Err(refusal(&format!("the proxy's answer has an address of unknown type {kind}")));
        }
        Ok(if self.wanted() == 0 { Progress::Open } else { Progress::More })
    }

    fn check_version(&self, expected: u8) -> Result<(), Refusal> {
        match self.message.first() {
            Some(&version) if version != expected => {
                Err(refusal("the proxy does not speak SOCKS 5; is it an HTTP proxy (http://)?"))
            }
            _ => Ok(()),
        }
    }
}

fn refusal(message: &str) -> Refusal {
    Refusal::new(message.to_owned())
}

/// RFC 1928 §6
fn meaning(code: u8) -> &'static str {
    match code {
        1 => "general failure of the proxy",
        2 => "its rules do not allow the connection",
        3 => "network unreachable",
        4 => "host unreachable",
        5 => "connection refused",
        6 => "TTL expired",
        7 => "command not supported",
        8 => "address type not supported",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests;
