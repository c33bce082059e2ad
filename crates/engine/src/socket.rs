//! System calls on one socket: open, connect, write, and the read that brings the kernel's receive stamp.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, SockAddr, Type};

use crate::clock::nanos;

/// A non-blocking stream socket whose reads carry the kernel's receive stamp where the kernel gives one.
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
    /// Starts a TCP connection; it is established when the socket turns writable without an error.
    pub(crate) fn tcp(address: SocketAddr, source: Option<IpAddr>) -> io::Result<Socket> {
        let socket =
            socket2::Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        socket.set_tcp_nodelay(true)?;
        if let Some(ip) = source {
            // The port is chosen at connect time, when the kernel knows the peer: all ports of the pair can be used.
            set_option(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)?;
            socket.bind(&SockAddr::from(SocketAddr::new(ip, 0)))?;
        }
        enable_stamps(socket.as_raw_fd());
        begin_connect(&socket, &SockAddr::from(address))?;
        Ok(Socket::Tcp(TcpStream::from_std(socket.into())))
    }

    /// Starts a connection to a Unix socket.
    pub(crate) fn unix(path: &Path) -> io::Result<Socket> {
        let socket = socket2::Socket::new(Domain::UNIX, Type::STREAM.nonblocking(), None)?;
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

    /// The outcome of `tcp` or `unix` once the socket is writable.
    pub(crate) fn connected(&self) -> io::Result<()> {
        let error = match self {
            Socket::Tcp(stream) => stream.take_error()?,
            Socket::Unix(stream) => stream.take_error()?,
        };
        error.map_or(Ok(()), Err)
    }

    /// Whether it has a peer: false as long as the connection is being made, and when that failed.
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

    /// One `recvmsg`. A read shorter than `buffer` has drained the socket: the next edge is an event of its own.
    #[inline]
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        receive(self.as_raw_fd(), buffer)
    }

    /// Whether a kept connection has something to read although nothing was asked: closed, or garbage.
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

#[allow(unsafe_code)]
fn set_option(fd: RawFd, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` is a live c_int and `size` is its size.
    let result = unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), size) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Asks for a software stamp of every received segment. Where that is refused, reads carry none and the run says so.
fn enable_stamps(fd: RawFd) -> bool {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags.cast_signed()).is_ok()
}

/// Room for the one control message that we ask for: three timespecs, and some to spare.
#[repr(C, align(8))]
struct Control([u8; 128]);

#[allow(unsafe_code)]
#[inline]
fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<Received> {
    let mut control = std::mem::MaybeUninit::<Control>::uninit();
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: an all-zero msghdr is valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<Control>() as _; // 32 bits wide in musl
    // SAFETY: `message` points at `part` and `control`, which live until the call returns; `part` is within `buffer`.
    let got = unsafe { libc::recvmsg(fd, &raw mut message, 0) };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Received { length: got as usize, stamp: stamp_of(&message) })
}

/// The software stamp among the control messages of a read.
#[allow(unsafe_code)]
#[inline]
fn stamp_of(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel filled `msg_control` up to `msg_controllen` with well-formed control messages; the CMSG
    // functions stay within it. SCM_TIMESTAMPING carries three timespecs, the first is the software stamp.
    unsafe {
        let mut header = libc::CMSG_FIRSTHDR(message);
        while !header.is_null() {
            if (*header).cmsg_level == libc::SOL_SOCKET && (*header).cmsg_type == libc::SCM_TIMESTAMPING {
                let time = libc::CMSG_DATA(header).cast::<libc::timespec>().read_unaligned();
                return (time.tv_sec != 0 || time.tv_nsec != 0).then(|| nanos(&time));
            }
            header = libc::CMSG_NXTHDR(message, header);
        }
    }
    None
}

/// Keeps the kernel stamping while it lives, and knows whether it does.
///
/// The kernel starts stamping a little after the first socket asks for it and stops after the last is closed; one
/// socket held open means that the first exchange of a run is stamped like every other.
#[derive(Debug)]
pub(crate) struct StampSwitch {
    socket: std::net::UdpSocket,
}

impl StampSwitch {
    pub(crate) fn new() -> io::Result<StampSwitch> {
        let socket = std::net::UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(socket.local_addr()?)?;
        enable_stamps(socket.as_raw_fd());
        Ok(StampSwitch { socket })
    }

    /// Sends itself datagrams until one comes back stamped, for 50 ms at most.
    pub(crate) fn probe(&self) -> bool {
        let pause = std::time::Duration::from_millis(1);
        (0..50).any(|_| {
            let stamped = self.socket.send(&[0]).is_ok()
                && receive(self.socket.as_raw_fd(), &mut [0]).is_ok_and(|received| received.stamp.is_some());
            if !stamped {
                std::thread::sleep(pause);
            }
            stamped
        })
    }
}

/// A new timer on the monotonic clock, not set.
#[allow(unsafe_code)]
pub(crate) fn timer_descriptor() -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed; a non-negative result is a new descriptor without another owner.
    unsafe {
        let fd = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC);
        if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(fd)) }
    }
}

/// Makes `timer` readable at `deadline` (monotonic ns), or never for 0.
#[allow(unsafe_code)]
pub(crate) fn set_timer(timer: &OwnedFd, deadline: u64) {
    let at = libc::timespec {
        tv_sec: (deadline / 1_000_000_000).cast_signed(),
        tv_nsec: (deadline % 1_000_000_000).cast_signed(),
    };
    let value = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
    // SAFETY: `value` is a valid itimerspec, the old value is not asked for. Setting a valid time cannot fail.
    unsafe {
        libc::timerfd_settime(timer.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &raw const value, std::ptr::null_mut())
    };
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpListener;
    use std::os::fd::AsRawFd;

    use super::{Socket, StampSwitch, receive};

    /// A connected pair on loopback: ours, and the peer's.
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
    fn what_the_peer_sends_arrives_with_a_kernel_stamp() {
        assert!(StampSwitch::new().unwrap().probe(), "this kernel gives no software receive stamps");
        let switch = StampSwitch::new().unwrap();
        assert!(switch.probe());
        let (mut ours, mut peer) = pair();
        peer.write_all(b"hello").unwrap();
        wait_readable(&ours);
        let mut buffer = [0; 16];
        let received = ours.receive(&mut buffer).unwrap();
        assert_eq!(&buffer[..received.length], b"hello");
        assert!(received.stamp.is_some());
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
