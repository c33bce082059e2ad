//! A file that all processes share. It switches the rules on, and counts how often each applied.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::rules::MOST;

/// 32-bit words in native byte order: first whether rules apply, then a counter per rule.
pub(crate) struct Switch(&'static [AtomicU32; MOST + 1]);

const BYTES: usize = (MOST + 1) * 4;

impl Switch {
    /// The file must be at least as long as the words. It stays mapped until the process ends.
    pub(crate) fn open(path: &str) -> io::Result<Self> {
        let file = File::options().read(true).write(true).open(path)?;
        if file.metadata()?.len() < BYTES as u64 {
            return Err(io::Error::other("the switch is too short"));
        }
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, of a file that is as long as that; nothing unmaps it.
        let at = unsafe { libc::mmap(ptr::null_mut(), BYTES, access, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: mappings are aligned to pages, and all processes use the words as atomics.
        Ok(Self(unsafe { &*at.cast() }))
    }

    pub(crate) fn is_on(&self) -> bool {
        self.0[0].load(Relaxed) != 0
    }

    /// rule: its index in the plan.
    pub(crate) fn count(&self, rule: usize) {
        self.0[rule + 1].fetch_add(1, Relaxed);
    }
}
