//! Replacements of libc functions. Each asks the plan, and otherwise calls the original.

use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute_copy;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use libc::{epoll_event, iovec, msghdr, off64_t, size_t, sockaddr, socklen_t, ssize_t};

use crate::plan::effect;
use crate::rules::{Call, Effect};

/// The original function.
struct Next {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Next {
    const fn new(name: &'static CStr) -> Self {
        Self { name, found: AtomicPtr::new(ptr::null_mut()) }
    }

    fn get(&self) -> *mut c_void {
        let found = self.found.load(Relaxed);
        if !found.is_null() {
            return found;
        }
        // SAFETY: the name ends with a zero; libc has each of these functions.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.found.store(found, Relaxed);
        found
    }
}

fn fail(number: c_int) {
    // SAFETY: the address is this thread's own.
    unsafe { *libc::__errno_location() = number };
}

/// A call that fails, or calls the original.
macro_rules! whole {
    ($name:ident, $c:literal, $call:expr, $descriptor:expr, ($($arg:ident: $type:ty),*) -> $result:ty) => {
        /// # Safety
        ///
        /// As for the function of libc of this name.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            static NEXT: Next = Next::new($c);
            if let Some(Effect::Error(number)) = effect($call, $descriptor) {
                fail(number);
                return -1;
            }
            // SAFETY: libc's function of this name has this signature.
            let next: unsafe extern "C" fn($($type),*) -> $result = unsafe { transmute_copy(&NEXT.get()) };
            // SAFETY: the caller keeps to what libc asks.
            unsafe { next($($arg),*) }
        }
    };
}

/// A call that fails, does a part of its work, or calls the original.
macro_rules! partly {
    ($name:ident, $c:literal, $call:expr, ($fd:ident, $bytes:ident: $type:ty, $length:ident $(, $arg:ident: $other:ty)*)) => {
        /// # Safety
        ///
        /// As for the function of libc of this name.
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(
            $fd: c_int, $bytes: $type, $length: size_t $(, $arg: $other)*
        ) -> ssize_t {
            static NEXT: Next = Next::new($c);
            let length = match effect($call, $fd) {
                Some(Effect::Error(number)) => {
                    fail(number);
                    return -1;
                }
                Some(Effect::Short) => $length.div_ceil(2),
                None => $length,
            };
            // SAFETY: libc's function of this name has this signature.
            let next: unsafe extern "C" fn(c_int, $type, size_t $(, $other)*) -> ssize_t =
                unsafe { transmute_copy(&NEXT.get()) };
            // SAFETY: the caller keeps to what libc asks, and the length is not more than that of the caller.
            unsafe { next($fd, $bytes, length $(, $arg)*) }
        }
    };
}

partly!(read, c"read", Call::Read, (fd, bytes: *mut c_void, length));
partly!(write, c"write", Call::Write, (fd, bytes: *const c_void, length));
partly!(recv, c"recv", Call::Recv, (fd, bytes: *mut c_void, length, flags: c_int));
partly!(send, c"send", Call::Send, (fd, bytes: *const c_void, length, flags: c_int));
partly!(pwrite64, c"pwrite64", Call::PWrite, (fd, bytes: *const c_void, length, at: off64_t));

whole!(recvmsg, c"recvmsg", Call::RecvMsg, fd, (fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t);
whole!(sendmsg, c"sendmsg", Call::SendMsg, fd, (fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t);
whole!(writev, c"writev", Call::WriteV, fd, (fd: c_int, parts: *const iovec, count: c_int) -> ssize_t);
whole!(connect, c"connect", Call::Connect, fd, (fd: c_int, to: *const sockaddr, length: socklen_t) -> c_int);
whole!(socket, c"socket", Call::Socket, -1, (domain: c_int, kind: c_int, protocol: c_int) -> c_int);
whole!(epoll_wait, c"epoll_wait", Call::EpollWait, fd,
    (fd: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int);
whole!(fsync, c"fsync", Call::FSync, fd, (fd: c_int) -> c_int);
whole!(fdatasync, c"fdatasync", Call::FDataSync, fd, (fd: c_int) -> c_int);
