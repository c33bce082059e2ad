//! One socket: open, connect, write, and the read with the kernel's receive stamp where available.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, RawFd};
use std::path::Path;

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, SockAddr};

use crate::platform::{choose_port_late, enable_stamps, receive, retransmissions, stream};

/// A non-blocking stream socket whose reads return the kernel's receive stamp where available.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// One read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Bytes read; 0 is the end of the stream.
    pub length: usize,
    /// The kernel's stamp of the last segment of these bytes, real time in ns.
    pub stamp: Option<u64>,
}

impl Socket {
    /// Starts a TCP connection. It is established when the socket becomes writable without an error.
    pub(crate) fn tcp(address: SocketAddr, source: Option<IpAddr>) -> io::Result<Socket> {
        let socket = stream(Domain::for_address(address), Some(Protocol::TCP))?;
        socket.set_tcp_nodelay(true)?;
        if let Some(ip) = source {
            // Choosing the port at connect time allows the kernel to use all ports for each peer.
            choose_port_late(&socket)?;
            socket.bind(&SockAddr::from(SocketAddr::new(ip, 0)))?;
        }
        enable_stamps(socket.as_raw_fd());
        begin_connect(&socket, &SockAddr::from(address))?;
        Ok(Socket::Tcp(TcpStream::from_std(socket.into())))
    }

    /// Starts a connection to a Unix socket.
    pub(crate) fn unix(path: &Path) -> io::Result<Socket> {
        let socket = stream(Domain::UNIX, None)?;
        begin_connect(&socket, &SockAddr::unix(path)?)?;
        Ok(Socket::Unix(UnixStream::from_std(socket.into())))
    }

    /// Registers for readiness in both directions, edge-triggered: once per connection, never per request.
    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        match self {
            Socket::Tcp(stream) => stream.register(registry, token, interest),
            Socket::Unix(stream) => stream.register(registry, token, interest),
        }
    }

    /// The result of `tcp` or `unix` after the socket becomes writable.
    pub(crate) fn connected(&self) -> io::Result<()> {
        let error = match self {
            Socket::Tcp(stream) => stream.take_error()?,
            Socket::Unix(stream) => stream.take_error()?,
        };
        error.map_or(Ok(()), Err)
    }

    /// Whether it has a peer: false while connecting, and after a failure.
    pub(crate) fn is_through(&self) -> bool {
        match self {
            Socket::Tcp(stream) => stream.peer_addr().is_ok(),
            Socket::Unix(stream) => stream.peer_addr().is_ok(),
        }
    }

    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Unix(stream) => stream.write(bytes),
        }
    }

    /// One system call. A read shorter than `buffer` has drained the socket: later bytes cause a new event.
    #[inline]
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        receive(self.as_raw_fd(), buffer)
    }

    /// How many segments the kernel has sent again, or None if it does not say. One system call.
    pub(crate) fn retransmissions(&self) -> Option<u32> {
        match self {
            Socket::Tcp(stream) => retransmissions(stream.as_raw_fd()),
            Socket::Unix(_) => None,
        }
    }

    /// Whether a kept connection has unexpected input: it was closed, or has extra bytes.
    #[allow(unsafe_code)]
    pub(crate) fn is_stale(&self) -> bool {
        let mut byte = 0u8;
        // SAFETY: one byte at `byte` is valid for writing for the duration of the call.
        let got =
            unsafe { libc::recv(self.as_raw_fd(), (&raw mut byte).cast(), 1, libc::MSG_PEEK | libc::MSG_DONTWAIT) };
        got >= 0 || io::Error::last_os_error().kind() != io::ErrorKind::WouldBlock
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Socket::Tcp(stream) => stream.as_raw_fd(),
            Socket::Unix(stream) => stream.as_raw_fd(),
        }
    }
}

fn begin_connect(socket: &socket2::Socket, address: &SockAddr) -> io::Result<()> {
    match socket.connect(address) {
        Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    use super::{Socket, receive};
    use crate::platform::{HAS_STAMPS, StampSwitch};

    /// A connected pair on loopback: our end and the peer's.
    fn pair() -> (Socket, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = Socket::tcp(listener.local_addr().unwrap(), None).unwrap();
        let (peer, _) = listener.accept().unwrap();
        (ours, peer)
    }

    fn wait_readable(socket: &Socket) {
        while !socket.is_stale() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    #[test]
    fn what_the_peer_sends_arrives_with_a_kernel_stamp_where_there_are_any() {
        let switch = StampSwitch::new().unwrap();
        assert_eq!(switch.probe(), HAS_STAMPS, "this kernel gives no software receive stamps");
        let (mut ours, mut peer) = pair();
        peer.write_all(b"hello").unwrap();
        wait_readable(&ours);
        let mut buffer = [0; 16];
        let received = ours.receive(&mut buffer).unwrap();
        assert_eq!(&buffer[..received.length], b"hello");
        assert_eq!(received.stamp.is_some(), HAS_STAMPS);
    }

    #[test]
    fn a_quiet_connection_is_not_stale_and_a_closed_one_is() {
        let (ours, peer) = pair();
        assert!(!ours.is_stale());
        drop(peer);
        wait_readable(&ours);
        assert_eq!(receive(ours.as_raw_fd(), &mut [0; 4]).unwrap().length, 0);
    }
}
