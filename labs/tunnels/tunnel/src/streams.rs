//! All requests over one connection: each is a stream of frames, and a response has one frame per piece.
//!
//! A frame is the number of its stream and the length of its content (both u32, big-endian), and the content. Length 0
//! ends a response; from the server it means that the response is no longer needed.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;

use tokio::io::{self, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::files::Files;
use crate::public::{NO_CLIENT, Origin};

/// Maximum size of a frame in bytes, so that a long response does not block the others.
const PIECE: usize = 16 * 1024;
const LONGEST_FRAME: u32 = 64 * 1024;
/// Maximum number of frames in the client's write queue. A response continues when there is space.
const QUEUE: usize = 64;

struct Frame {
    stream: u32,
    content: Vec<u8>,
}

/// The public side.
#[derive(Default)]
pub(crate) struct Server {
    next: Cell<u32>,
    waiting: RefCell<HashMap<u32, mpsc::UnboundedSender<Vec<u8>>>>,
    /// To the client; None until it is connected.
    client: RefCell<Option<mpsc::UnboundedSender<Frame>>>,
}

impl Server {
    /// Accept clients, one at a time.
    pub(crate) async fn accept(self: Rc<Self>, listener: TcpListener) {
        while let Ok((client, _)) = listener.accept().await {
            let _ = client.set_nodelay(true);
            let (reading, writing) = client.into_split();
            let (sender, frames) = mpsc::unbounded_channel();
            *self.client.borrow_mut() = Some(sender);
            let written = tokio::task::spawn_local(write_all(writing, Unbounded(frames)));
            let _ = self.read_replies(reading).await;
            written.abort();
            // No response will come for the waiting requests.
            *self.client.borrow_mut() = None;
            self.waiting.borrow_mut().clear();
        }
    }

    async fn read_replies(&self, reading: OwnedReadHalf) -> io::Result<()> {
        let mut reading = BufReader::with_capacity(LONGEST_FRAME as usize, reading);
        loop {
            let Frame { stream, content } = read_frame(&mut reading).await?;
            if let Some(waiting) = self.waiting.borrow().get(&stream) {
                let _ = waiting.send(content);
            }
        }
    }
}

impl Origin for Server {
    async fn answer(&self, request: Vec<u8>, public: &mut TcpStream) -> io::Result<()> {
        let Some(client) = self.client.borrow().clone() else {
            return public.write_all(NO_CLIENT).await;
        };
        let stream = self.next.get();
        self.next.set(stream.wrapping_add(1));
        let (sender, mut pieces) = mpsc::unbounded_channel();
        self.waiting.borrow_mut().insert(stream, sender);
        let _ = client.send(Frame { stream, content: request });
        let done = forward(&mut pieces, public).await;
        self.waiting.borrow_mut().remove(&stream);
        if done.is_err() {
            let _ = client.send(Frame { stream, content: Vec::new() });
        }
        done
    }
}

/// The pieces of a response as they arrive, unless the public side closes first.
async fn forward(pieces: &mut mpsc::UnboundedReceiver<Vec<u8>>, public: &mut TcpStream) -> io::Result<()> {
    loop {
        let mut byte = [0];
        let piece = tokio::select! {
            piece = pieces.recv() => piece,
            // The public side sends nothing before the response, so this is its end, or an error.
            _ = public.peek(&mut byte) => return Err(io::ErrorKind::ConnectionAborted.into()),
        };
        match piece {
            Some(piece) if piece.is_empty() => return Ok(()),
            Some(piece) => public.write_all(&piece).await?,
            None => return Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

/// The side with the files. Runs until the server closes.
pub(crate) async fn client(server: SocketAddr, files: Rc<Files>) -> io::Result<()> {
    let connection = TcpStream::connect(server).await?;
    connection.set_nodelay(true)?;
    let (reading, writing) = connection.into_split();
    let (sender, frames) = mpsc::channel(QUEUE);
    tokio::task::spawn_local(write_all(writing, Bounded(frames)));
    let mut reading = BufReader::new(reading);
    let mut replies: HashMap<u32, AbortHandle> = HashMap::new();
    loop {
        let Frame { stream, content } = read_frame(&mut reading).await?;
        if content.is_empty() {
            if let Some(reply) = replies.remove(&stream) {
                reply.abort();
            }
            continue;
        }
        if replies.len() >= 2 * QUEUE {
            replies.retain(|_, reply| !reply.is_finished());
        }
        let (reply, sender) = (files.reply(&content), sender.clone());
        let sending = tokio::task::spawn_local(async move {
            for piece in reply.chunks(PIECE).chain([&[][..]]) {
                if sender.send(Frame { stream, content: piece.to_vec() }).await.is_err() {
                    return;
                }
            }
        });
        replies.insert(stream, sending.abort_handle());
    }
}

/// The source of frames to write.
trait Frames {
    async fn next(&mut self) -> Option<Frame>;
}

struct Bounded(mpsc::Receiver<Frame>);
struct Unbounded(mpsc::UnboundedReceiver<Frame>);

impl Frames for Bounded {
    async fn next(&mut self) -> Option<Frame> {
        self.0.recv().await
    }
}

impl Frames for Unbounded {
    async fn next(&mut self) -> Option<Frame> {
        self.0.recv().await
    }
}

async fn write_all(mut writing: OwnedWriteHalf, mut frames: impl Frames) -> io::Result<()> {
    let mut bytes = Vec::new();
    while let Some(Frame { stream, content }) = frames.next().await {
        bytes.clear();
        bytes.extend(stream.to_be_bytes());
        bytes.extend((content.len() as u32).to_be_bytes());
        bytes.extend(content);
        writing.write_all(&bytes).await?;
    }
    Ok(())
}

async fn read_frame(reading: &mut (impl AsyncReadExt + Unpin)) -> io::Result<Frame> {
    let stream = reading.read_u32().await?;
    let length = reading.read_u32().await?;
    if length > LONGEST_FRAME {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut content = vec![0; length as usize];
    reading.read_exact(&mut content).await?;
    Ok(Frame { stream, content })
}
