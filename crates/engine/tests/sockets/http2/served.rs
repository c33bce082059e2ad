//! A peer made of the crate `h2`.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use h2::server::{Builder, Connection, SendResponse};
use h2::{RecvStream, SendStream};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime;
use tokio::task::{LocalSet, spawn_local};

use crate::peer::{Conn, Peer};

/// A peer, and the requests that it has read.
pub(super) struct Served {
    pub(super) peer: Peer,
    requests: Arc<AtomicUsize>,
}

impl Served {
    /// Requests read to their end so far.
    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// Responds to each request with its method, its path and its body.
pub(super) fn echoing(settings: &Builder) -> Served {
    serving(settings, async |request, body, respond| {
        let text = [format!("{} {} ", request.method(), request.uri().path()).as_bytes(), &body].concat();
        send(respond, text).await;
    })
}

/// Calls `handle` with each request, its body, and the way to respond. Streams run side by side.
pub(super) fn serving(
    settings: &Builder,
    handle: impl AsyncFn(Request<()>, Vec<u8>, SendResponse<Bytes>) + Clone + Send + Sync + 'static,
) -> Served {
    let requests = Arc::<AtomicUsize>::default();
    let (settings, counter) = (settings.clone(), Arc::clone(&requests));
    let peer = Peer::new(move |_, conn| serve(conn, &settings, &counter, &handle));
    Served { peer, requests }
}

/// The same for one connection, until its end.
fn serve(
    conn: Conn,
    settings: &Builder,
    counter: &Arc<AtomicUsize>,
    handle: &(impl AsyncFn(Request<()>, Vec<u8>, SendResponse<Bytes>) + Clone + 'static),
) {
    conn.stream.set_nonblocking(true).unwrap();
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let stream = TcpStream::from_std(conn.stream).unwrap();
        if let Ok(connection) = settings.handshake(stream).await {
            accept(connection, counter, handle).await;
        }
    });
}

/// Takes streams until the connection ends.
async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
    mut connection: Connection<S, Bytes>,
    counter: &Arc<AtomicUsize>,
    handle: &(impl AsyncFn(Request<()>, Vec<u8>, SendResponse<Bytes>) + Clone + 'static),
) {
    while let Some(Ok((request, respond))) = connection.accept().await {
        let (counter, handle) = (Arc::clone(counter), handle.clone());
        spawn_local(async move {
            let (head, body) = request.into_parts();
            let Some(body) = read(body).await else { return };
            counter.fetch_add(1, Ordering::SeqCst);
            handle(Request::from_parts(head, ()), body, respond).await;
        });
    }
}

/// The whole body; None if the stream ends before it.
async fn read(mut body: RecvStream) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.data().await {
        let chunk = chunk.ok()?;
        let _ = body.flow_control().release_capacity(chunk.len());
        bytes.extend_from_slice(&chunk);
    }
    Some(bytes)
}

/// Responds with 200 and this body.
pub(super) async fn send(mut respond: SendResponse<Bytes>, body: Vec<u8>) {
    let Ok(mut stream) = respond.send_response(Response::new(()), false) else { return };
    write(&mut stream, body.into(), true).await;
}

/// Sends bytes of a body as the client's windows allow. Returns false if the client has given up.
pub(super) async fn write(stream: &mut SendStream<Bytes>, mut bytes: Bytes, ends: bool) -> bool {
    loop {
        stream.reserve_capacity(bytes.len());
        let room = if bytes.is_empty() {
            0
        } else {
            match poll_fn(|context| stream.poll_capacity(context)).await {
                Some(Ok(room)) => room,
                _ => return false,
            }
        };
        let part = bytes.split_to(room.min(bytes.len()));
        let is_last = bytes.is_empty();
        if stream.send_data(part, ends && is_last).is_err() {
            return false;
        }
        if is_last {
            return true;
        }
    }
}
