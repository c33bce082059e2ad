//! Kinds of file descriptors.

use std::ffi::c_int;
use std::mem;

/// A kind of file descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A socket of IPv4 or IPv6.
    Tcp,
    /// A socket between processes of one machine.
    Unix,
    /// A pipe, such as the standard output of a process that another process reads.
    Pipe,
    /// A regular file.
    File,
}

impl Kind {
    pub(crate) fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "tcp" => Self::Tcp,
            "unix" => Self::Unix,
            "pipe" => Self::Pipe,
            "file" => Self::File,
            _ => return None,
        })
    }

    /// None for an epoll, a timer, a terminal, …, and for a closed descriptor.
    pub(crate) fn of(descriptor: c_int) -> Option<Self> {
        // SAFETY: stat is plain numbers, for which zeroes are valid; fstat writes at most one of them.
        let mut stat: libc::stat = unsafe { mem::zeroed() };
        // SAFETY: see above.
        if unsafe { libc::fstat(descriptor, &raw mut stat) } != 0 {
            return None;
        }
        match stat.st_mode & libc::S_IFMT {
            libc::S_IFIFO => Some(Self::Pipe),
            libc::S_IFREG => Some(Self::File),
            libc::S_IFSOCK => match domain(descriptor) {
                libc::AF_UNIX => Some(Self::Unix),
                libc::AF_INET | libc::AF_INET6 => Some(Self::Tcp),
                _ => None,
            },
            _ => None,
        }
    }
}

fn domain(socket: c_int) -> c_int {
    let mut found: c_int = -1;
    let mut length = 4;
    // SAFETY: SO_DOMAIN is one int, and `length` says that there is room for one.
    unsafe {
        libc::getsockopt(socket, libc::SOL_SOCKET, libc::SO_DOMAIN, (&raw mut found).cast(), &raw mut length);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::pipe;
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn each_kind_is_known() {
        let (reader, _writer) = pipe().unwrap();
        assert_eq!(Kind::of(reader.as_raw_fd()), Some(Kind::Pipe));
        assert_eq!(Kind::of(UnixStream::pair().unwrap().0.as_raw_fd()), Some(Kind::Unix));
        assert_eq!(Kind::of(UdpSocket::bind("127.0.0.1:0").unwrap().as_raw_fd()), Some(Kind::Tcp));
        assert_eq!(Kind::of(File::open("Cargo.toml").unwrap().as_raw_fd()), Some(Kind::File));
        assert_eq!(Kind::of(-1), None);
    }
}
