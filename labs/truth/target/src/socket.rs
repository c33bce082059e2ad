//! The listener, and the read with the kernel's receive stamp.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use mio::net::{TcpListener, TcpStream};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use crate::clock::{nanos, timespec};

/// Maximum connections that wait to be accepted; net.core.somaxconn may limit it further.
const BACKLOG: i32 = 16_384;

/// One read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    /// Bytes read; 0 is the end of the stream.
    pub(crate) length: usize,
    /// The kernel's stamp of the last segment of these bytes, real time in ns; None if there is none.
    pub(crate) stamp: Option<u64>,
}

/// A listener on loopback. port: 0 chooses a free one.
pub(crate) fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM.nonblocking().cloexec(), Some(Protocol::TCP))?;
    // A given port may be reused at once. Do not set this for a free port: the kernel could choose one that a
    // connection uses, and refuse to listen on it.
    socket.set_reuse_address(port != 0)?;
    socket.bind(&SockAddr::from(SocketAddr::from((Ipv4Addr::LOCALHOST, port))))?;
    socket.listen(BACKLOG)?;
    // Accepted sockets inherit it, so data that arrives before the accept is stamped too.
    enable_stamps(socket.as_raw_fd());
    Ok(TcpListener::from_std(socket.into()))
}

/// Waits until the kernel stamps received data, for at most 2 s: it starts shortly after a socket has requested it, and
/// later on a busy machine.
pub(crate) fn wait_for_stamps() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.connect(socket.local_addr()?)?;
    enable_stamps(socket.as_raw_fd());
    for _ in 0..2000 {
        socket.send(&[0])?;
        if receive(socket.as_raw_fd(), &mut [0])?.stamp.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

/// Closes a connection so that the peer sees a reset.
pub(crate) fn reset(stream: &TcpStream) {
    let socket = socket2::SockRef::from(stream);
    // Fails only for a closed socket, and then there is nothing to reset.
    drop(socket.set_linger(Some(Duration::ZERO)));
}

#[allow(unsafe_code)]
fn enable_stamps(fd: RawFd) {
    let flags = (libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE).cast_signed();
    let size = size_of_val(&flags) as libc::socklen_t;
    // SAFETY: `flags` lives until the call returns, and `size` is its size. If the kernel refuses, reads have no stamp,
    // and the record counts them as user time.
    unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, (&raw const flags).cast(), size) };
}

/// Space for the one control message that we request: three timespecs, with some reserve.
#[repr(C, align(8))]
struct Control([u8; 128]);

/// One `recvmsg`.
#[allow(unsafe_code)]
pub(crate) fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<Received> {
    let mut control = Control([0; 128]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: an all-zero msghdr is valid.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = (&raw mut control).cast();
    message.msg_controllen = size_of::<Control>();
    // SAFETY: `message` points at `part` and `control`, which live until the call returns; `part` is within `buffer`.
    let got = unsafe { libc::recvmsg(fd, &raw mut message, 0) };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Received { length: got.cast_unsigned(), stamp: stamp_of(&message) })
}

/// The software stamp among the control messages of a read.
#[allow(unsafe_code)]
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

/// A timer on the monotonic clock with a descriptor that becomes readable.
#[derive(Debug)]
pub(crate) struct Timer(OwnedFd);

impl Timer {
    #[allow(unsafe_code)]
    pub(crate) fn new() -> io::Result<Timer> {
        // SAFETY: no pointers are passed; a non-negative result is a new descriptor that nobody else owns.
        unsafe {
            let fd = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC);
            if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(Timer(OwnedFd::from_raw_fd(fd))) }
        }
    }

    /// Makes it readable at `deadline`, monotonic ns; 0 = never. Setting it clears an earlier expiry.
    #[allow(unsafe_code)]
    pub(crate) fn set(&self, deadline: u64) {
        let value = libc::itimerspec { it_interval: timespec(0), it_value: timespec(deadline) };
        // SAFETY: `value` is a valid itimerspec, and the old value is not asked for.
        unsafe {
            libc::timerfd_settime(self.as_raw_fd(), libc::TFD_TIMER_ABSTIME, &raw const value, std::ptr::null_mut())
        };
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::TcpStream;
    use std::os::fd::AsRawFd;

    use super::{listen, receive, wait_for_stamps};
    use crate::clock::{StampClock, now};

    #[test]
    fn what_came_before_the_connection_was_accepted_is_stamped_with_its_own_time() {
        let listener = listen(0).unwrap();
        wait_for_stamps().unwrap();
        let mut clock = StampClock::default();
        let mut buffer = [0; 16];
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let before = now();
        client.write_all(b"hello").unwrap();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let waited = now();
        let (ours, _) = listener.accept().unwrap();
        let received = receive(ours.as_raw_fd(), &mut buffer).unwrap();
        assert_eq!(&buffer[..received.length], b"hello");
        let stamp = clock.monotonic(received.stamp.expect("this kernel gives no software receive stamps"));
        assert!(before - clock.error() <= stamp, "{stamp} is before the send at {before}");
        assert!(stamp <= waited + clock.error(), "{stamp} is after the segment had come, at {waited}");
    }
}
