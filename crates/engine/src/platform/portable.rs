//! Any Unix: uses only what `mio` has. A thread is the timer, and there are no kernel stamps.

// The signatures are those of `linux.rs`, where the functions may fail.
#![allow(clippy::unnecessary_wraps, clippy::unused_self)]

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mio::unix::pipe::{self, Receiver, Sender};
use socket2::{Domain, Protocol, Socket, Type};

use crate::clock::now;
use crate::socket::Received;

/// The clock of all times; the same as Python's `time.monotonic`.
#[cfg(target_vendor = "apple")]
pub(crate) const MONOTONIC: libc::clockid_t = libc::CLOCK_UPTIME_RAW;
#[cfg(not(target_vendor = "apple"))]
pub(crate) const MONOTONIC: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// Whether a read can return a kernel stamp.
#[cfg(test)]
pub(crate) const HAS_STAMPS: bool = false;

/// A non-blocking stream socket.
pub(crate) fn stream(domain: Domain, protocol: Option<Protocol>) -> io::Result<Socket> {
    let socket = Socket::new(domain, Type::STREAM, protocol)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// No effect: the port is chosen by `bind`.
pub(crate) fn choose_port_late(_: &Socket) -> io::Result<()> {
    Ok(())
}

/// Not available here.
pub(crate) fn enable_stamps(_: RawFd) -> bool {
    false
}

/// Not known here.
pub(crate) fn retransmissions(_: RawFd) -> Option<u32> {
    None
}

#[allow(unsafe_code)]
#[inline]
pub(crate) fn receive(fd: RawFd, buffer: &mut [u8]) -> io::Result<Received> {
    // SAFETY: `buffer` is valid for writing all of its bytes for the duration of the call.
    let got = unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Received { length: got as usize, stamp: None })
}

/// Not available here, so there is no state.
#[derive(Debug)]
pub(crate) struct StampSwitch;

impl StampSwitch {
    pub(crate) fn new() -> io::Result<StampSwitch> {
        Ok(StampSwitch)
    }

    pub(crate) fn probe(&self) -> bool {
        false
    }
}

/// Nothing is done here, and nothing is known.
pub(crate) fn sleep_precisely() -> bool {
    false
}

/// A descriptor that becomes readable at a given time: a thread writes to its other end.
#[derive(Debug)]
pub(crate) struct Alarm {
    receiver: Receiver,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    wanted: Mutex<Wanted>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Wanted {
    /// Monotonic ns; 0 = none.
    deadline: u64,
    is_over: bool,
}

impl Alarm {
    pub(crate) fn new() -> io::Result<Alarm> {
        let (sender, receiver) = pipe::new()?;
        let shared = Arc::new(Shared::default());
        let ours = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("plimsoll-timer".into()).spawn(move || ours.keep_time(sender))?;
        Ok(Alarm { receiver, shared, thread: Some(thread) })
    }

    /// Sets the time: `deadline`, monotonic ns, > 0.
    pub(crate) fn set(&mut self, deadline: u64) {
        self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner).deadline = deadline;
        self.shared.changed.notify_one();
    }

    /// Call it after the descriptor was readable.
    pub(crate) fn fired(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.receiver.read(&mut bytes), Ok(read) if read == bytes.len()) {}
    }
}

impl Shared {
    fn keep_time(&self, mut sender: Sender) {
        let mut wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        while !wanted.is_over {
            let left = wanted.deadline.saturating_sub(now());
            wanted = if wanted.deadline == 0 {
                self.changed.wait(wanted).unwrap_or_else(PoisonError::into_inner)
            } else if left > 0 {
                let waited = self.changed.wait_timeout(wanted, Duration::from_nanos(left));
                waited.unwrap_or_else(PoisonError::into_inner).0
            } else {
                wanted.deadline = 0;
                // A full pipe is readable already.
                let _ = sender.write(&[0]);
                wanted
            };
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.shared.wanted.lock().unwrap_or_else(PoisonError::into_inner).is_over = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl AsRawFd for Alarm {
    fn as_raw_fd(&self) -> RawFd {
        self.receiver.as_raw_fd()
    }
}
