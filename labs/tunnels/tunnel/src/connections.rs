//! A connection for each request: the server asks for one, the client opens it, and it closes after the response.
//!
//! The client's first connection sends 0, and then receives the number of each request (u64, big-endian). Each later
//! connection sends the number of its request, receives the length of the request (u32) and the request, and returns
//! the length of the response and the response.
//!
//! **It leaks, like the published report's tunnel under overload**: the resources of a request are never freed if its
//! public side closes before the response arrives.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;

use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, oneshot};

use crate::files::Files;
use crate::public::{NO_CLIENT, Origin};

/// The number that marks the first connection.
const CONTROL: u64 = 0;
const LONGEST: u32 = 16 * 1024 * 1024;
/// Initial size of a connection's buffer in bytes.
const BUFFER: usize = 64 * 1024;

/// The public side.
#[derive(Default)]
pub(crate) struct Server {
    last: Cell<u64>,
    control: RefCell<Option<mpsc::UnboundedSender<u64>>>,
    waiting: RefCell<HashMap<u64, oneshot::Sender<TcpStream>>>,
    /// The leak: connections and buffers of responses that were not delivered.
    abandoned: RefCell<Vec<(TcpStream, Vec<u8>)>>,
}

impl Server {
    /// Accept the client's connections.
    pub(crate) async fn accept(self: Rc<Self>, listener: TcpListener) {
        loop {
            if let Ok((connection, _)) = listener.accept().await {
                let server = Rc::clone(&self);
                tokio::task::spawn_local(async move { server.take(connection).await });
            } else {
                tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            }
        }
    }

    async fn take(&self, mut connection: TcpStream) -> io::Result<()> {
        connection.set_nodelay(true)?;
        let number = connection.read_u64().await?;
        if number != CONTROL {
            if let Some(waiting) = self.waiting.borrow_mut().remove(&number) {
                let _ = waiting.send(connection);
            }
            return Ok(());
        }
        let (sender, mut numbers) = mpsc::unbounded_channel();
        *self.control.borrow_mut() = Some(sender);
        while let Some(number) = numbers.recv().await {
            connection.write_u64(number).await?;
        }
        Ok(())
    }

    /// The connection for a new request; None without a client.
    async fn connection(&self) -> Option<TcpStream> {
        let control = self.control.borrow().clone()?;
        let number = self.last.get() + 1;
        self.last.set(number);
        let (sender, connection) = oneshot::channel();
        self.waiting.borrow_mut().insert(number, sender);
        control.send(number).ok()?;
        connection.await.ok()
    }
}

impl Origin for Server {
    async fn answer(&self, request: Vec<u8>, public: &mut TcpStream) -> io::Result<()> {
        let Some(mut connection) = self.connection().await else {
            return public.write_all(NO_CLIENT).await;
        };
        connection.write_u32(request.len() as u32).await?;
        connection.write_all(&request).await?;
        let mut reply = Vec::with_capacity(BUFFER);
        let length = connection.read_u32().await?.min(LONGEST);
        (&mut connection).take(u64::from(length)).read_to_end(&mut reply).await?;
        if is_gone(public) {
            self.abandoned.borrow_mut().push((connection, reply));
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        public.write_all(&reply).await
    }
}

/// Whether the other side has closed it.
fn is_gone(public: &TcpStream) -> bool {
    let mut byte = [0];
    matches!(public.try_read(&mut byte), Ok(0)) || matches!(public.take_error(), Ok(Some(_)) | Err(_))
}

/// The side with the files. Runs until the server closes.
pub(crate) async fn client(server: SocketAddr, files: Rc<Files>) -> io::Result<()> {
    let mut control = TcpStream::connect(server).await?;
    control.write_u64(CONTROL).await?;
    loop {
        let number = control.read_u64().await?;
        let files = Rc::clone(&files);
        tokio::task::spawn_local(async move { answer(server, number, &files).await });
    }
}

async fn answer(server: SocketAddr, number: u64, files: &Files) -> io::Result<()> {
    let mut connection = TcpStream::connect(server).await?;
    connection.set_nodelay(true)?;
    connection.write_u64(number).await?;
    let mut request = vec![0; connection.read_u32().await?.min(LONGEST) as usize];
    connection.read_exact(&mut request).await?;
    let reply = files.reply(&request);
    connection.write_u32(reply.len() as u32).await?;
    connection.write_all(&reply).await?;
    // Wait until the server closes it.
    connection.read_u8().await.map(|_| ())
}
