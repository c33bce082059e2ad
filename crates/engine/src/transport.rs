//! A socket, with TLS if the origin uses it.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use rustls::ClientConnection;

use crate::origin::Secure;
use crate::socket::{Received, Socket};
use crate::tls::HTTP2;

/// The transport of a connection.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) socket: Socket,
    tls: Option<Box<ClientConnection>>,
}

impl Transport {
    pub(crate) fn new(socket: Socket) -> Transport {
        Transport { socket, tls: None }
    }

    /// Adds TLS to the socket, before its handshake.
    pub(crate) fn secure(&mut self, secure: &Secure) -> Result<(), rustls::Error> {
        let tls = ClientConnection::new(Arc::clone(&secure.config), secure.name.clone())?;
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    #[inline]
    pub(crate) fn is_secure(&self) -> bool {
        self.tls.is_some()
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.is_handshaking())
    }

    /// Whether the peer has chosen HTTP/2 in the handshake.
    pub(crate) fn speaks_http2(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.alpn_protocol() == Some(HTTP2))
    }

    /// Accepts some of `bytes` for the peer. `WouldBlock` only if the socket is full: a writable event follows.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => seal(tls, &mut self.socket, bytes),
            None => self.socket.write(bytes),
        }
    }

    /// Whether TLS has bytes that are not in the socket yet.
    #[inline]
    pub(crate) fn has_output(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Writes the bytes of TLS to the socket; `WouldBlock` if some are left.
    #[inline]
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.tls.as_mut().map_or(Ok(()), |tls| flush(tls, &mut self.socket))
    }

    /// Reads raw bytes from the socket.
    #[inline]
    pub(crate) fn receive(&mut self, buffer: &mut [u8]) -> io::Result<Received> {
        self.socket.receive(buffer)
    }

    /// Decrypts some bytes from `sealed` and removes them. Read the result with `open` before the next call: TLS
    /// buffers only a little.
    pub(crate) fn unseal(&mut self, sealed: &mut &[u8]) -> Result<(), rustls::Error> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let worked = match tls.read_tls(sealed) {
            // After the peer's close_notify, nothing more is read.
            Ok(0) => {
                *sealed = &[];
                Ok(())
            }
            Ok(_) => tls.process_new_packets().map(|_| ()),
            Err(error) => Err(rustls::Error::General(error.to_string())),
        };
        // TLS may have a response or an alert to send. If this fails, the next read fails too.
        let _ = flush(tls, &mut self.socket);
        worked
    }

    /// Reads decrypted bytes. 0 after the peer's `close_notify`, `WouldBlock` if there are none.
    pub(crate) fn open(&mut self, plain: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            Some(tls) => tls.reader().read(plain),
            None => Err(ErrorKind::WouldBlock.into()),
        }
    }

    /// Whether only a next response can follow: `sealed`, the rest of the last read, contains no more plain bytes and
    /// no `close_notify`.
    pub(crate) fn is_clean(&mut self, mut sealed: &[u8]) -> bool {
        while !sealed.is_empty() {
            if self.unseal(&mut sealed).is_err() {
                return false;
            }
        }
        let Some(tls) = &mut self.tls else { return true };
        tls.process_new_packets().is_ok_and(|state| state.plaintext_bytes_to_read() == 0 && !state.peer_has_closed())
    }
}

/// Passes some of `bytes` to TLS, and the result to the socket.
#[inline(never)]
fn seal(tls: &mut ClientConnection, socket: &mut Socket, bytes: &[u8]) -> io::Result<usize> {
    flush(tls, socket)?;
    let taken = tls.writer().write(bytes)?;
    match flush(tls, socket) {
        Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
        _ => Ok(taken),
    }
}

fn flush(tls: &mut ClientConnection, socket: &mut Socket) -> io::Result<()> {
    while tls.wants_write() {
        match tls.write_tls(&mut Writer(socket)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Ok(())
}

struct Writer<'a>(&'a mut Socket);

impl Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
