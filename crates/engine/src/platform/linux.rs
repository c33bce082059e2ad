//! Linux: timers are descriptors, and reads return the kernel's receive stamp.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use socket2::{Domain, Protocol, Socket, Type};

use crate::clock::nanos;
use crate::socket::Received;

/// The clock of all times; the same as Python's `time.monotonic`.
pub(crate) const MONOTONIC: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// Whether a read can return a kernel stamp.
#[cfg(test)]
pub(crate) const HAS_STAMPS: bool = true;

/// A non-blocking stream socket.
pub(crate) fn stream(domain: Domain, protocol: Option<Protocol>) -> io::Result<Socket> {
    Socket::new(domain, Type::STREAM.nonblocking(), protocol)
}

/// Delays the choice of the port until a bound socket connects.
pub(crate) fn choose_port_late(socket: &Socket) -> io::Result<()> {
    set_option(socket.as_raw_fd(), libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1)
}

#[allow(unsafe_code)]
fn set_option(fd: RawFd, level: libc::c_int, name: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` is a live c_int and `size` is its size.
    let result = unsafe { libc::setsockopt(fd, level, name, (&raw const value).cast(), size) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Requests a software stamp of every received segment. If the kernel refuses, reads have no stamp and the run says so.
pub(crate) fn enable_stamps(fd: RawFd) -> bool {
    let flags = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    set_option(fd, libc::SOL_SOCKET, libc::SO_TIMESTAMPING, flags.cast_signed()).is_ok()
}

/// How many segments the kernel has sent again on a TCP socket, or None if it does not say.
#[allow(unsafe_code)]
pub(crate) fn retransmissions(fd: RawFd) -> Option<u32> {
    // SAFETY: an all-zero tcp_info is valid.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut size = size_of::<libc::tcp_info>() as libc::socklen_t;
    let value = (&raw mut info).cast();
    // SAFETY: `value` points at a live tcp_info and `size` is its size. The kernel writes at most that many bytes.
    let result = unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, value, &raw mut size) };
    let needed = std::mem::offset_of!(libc::tcp_info, tcpi_total_retrans) + size_of::<u32>();
    (result == 0 && size as usize >= needed).then_some(info.tcpi_total_retrans)
}

/// Space for the one control message that we request: three timespecs, with some reserve.
#[repr(C, align(8))]
struct Control([u8; 128]);

#[allow(unsafe_code)]
#[inline]
pub(crate) fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<Received> {
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

/// Keeps the kernel's stamping on while it lives, and knows whether it works.
///
/// The kernel starts stamping shortly after the first socket requests it, and stops after the last one closes. One open
/// socket ensures that the first exchange of a run is stamped too.
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

    /// Sends datagrams to itself until one comes back with a stamp, for at most 50 ms.
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

/// Makes sleeps of this thread end on time, within 1 µs. By default the kernel may add 50 µs. Returns whether it does.
#[allow(unsafe_code)]
pub(crate) fn sleep_precisely() -> bool {
    // SAFETY: this option takes one number, in ns, and no pointers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong) == 0 }
}

/// A descriptor that becomes readable at a given time.
#[derive(Debug)]
pub(crate) struct Alarm(OwnedFd);

impl Alarm {
    #[allow(unsafe_code)]
    pub(crate) fn new() -> io::Result<Alarm> {
        // SAFETY: no pointers are passed; a non-negative result is a new descriptor without another owner.
        unsafe {
            let fd = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC);
            if fd < 0 { Err(io::Error::last_os_error()) } else { Ok(Alarm(OwnedFd::from_raw_fd(fd))) }
        }
    }

    /// Sets the time: `deadline`, monotonic ns, > 0.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) fn set(&mut self, deadline: u64) {
        let at = libc::timespec {
            tv_sec: (deadline / 1_000_000_000).cast_signed(),
            tv_nsec: (deadline % 1_000_000_000).cast_signed(),
        };
        let value = libc::itimerspec { it_interval: libc::timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        let flags = libc::TFD_TIMER_ABSTIME;
        // SAFETY: `value` is a valid itimerspec, the old value is not asked for. Setting a valid time cannot fail.
        unsafe { libc::timerfd_settime(self.0.as_raw_fd(), flags, &raw const value, std::ptr::null_mut()) };
    }

    /// Call it after the descriptor was readable. It need not be read: it is edge-triggered, and each expiry is an
    /// edge.
    #[allow(clippy::unused_self)] // the portable version does something
    pub(crate) fn fired(&mut self) {}
}

impl AsRawFd for Alarm {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
