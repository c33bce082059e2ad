//! The public side of the tunnel: HTTP/1.1, requests without a body, kept connections.

use std::rc::Rc;

use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::files::Files;

const LONGEST_HEAD: usize = 16 * 1024;
/// The response while no client of the tunnel is connected.
pub(crate) const NO_CLIENT: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n";

/// Responds to requests.
pub(crate) trait Origin: 'static {
    /// Writes the whole response. An error ends the connection.
    fn answer(&self, request: Vec<u8>, public: &mut TcpStream) -> impl Future<Output = io::Result<()>>;
}

impl Origin for Files {
    async fn answer(&self, request: Vec<u8>, public: &mut TcpStream) -> io::Result<()> {
        public.write_all(&self.reply(&request)).await
    }
}

/// Serves without end.
pub(crate) async fn serve<O: Origin>(listener: TcpListener, origin: Rc<O>) -> Result<(), Box<dyn std::error::Error>> {
    loop {
        // Without file descriptors, continue: waiting connections are accepted when others close.
        let Ok((public, _)) = listener.accept().await else {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            continue;
        };
        let origin = Rc::clone(&origin);
        tokio::task::spawn_local(async move {
            // An error concerns one connection: close it.
            let _ = converse(public, &*origin).await;
        });
    }
}

async fn converse<O: Origin>(mut public: TcpStream, origin: &O) -> io::Result<()> {
    public.set_nodelay(true)?;
    let mut unread = Vec::new();
    while let Some(request) = next_request(&mut public, &mut unread).await? {
        origin.answer(request, &mut public).await?;
    }
    Ok(())
}

/// The head of the next request; None at the end of the connection. unread: bytes after the last request.
async fn next_request(public: &mut TcpStream, unread: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    loop {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        match httparse::Request::new(&mut headers).parse(unread) {
            Ok(httparse::Status::Complete(length)) => {
                let rest = unread.split_off(length);
                return Ok(Some(std::mem::replace(unread, rest)));
            }
            Ok(httparse::Status::Partial) if unread.len() < LONGEST_HEAD => {}
            _ => return Err(io::ErrorKind::InvalidData.into()),
        }
        if public.read_buf(unread).await? == 0 {
            return Ok(None);
        }
    }
}
