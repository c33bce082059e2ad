//! The other end: a loopback listener that runs a script for each connection, on its own thread.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use socket2::SockRef;

/// Maximum time of any step. A longer wait is a bug.
pub(crate) const LIMIT: Duration = Duration::from_mins(2);

/// A response with a body of known length.
pub(crate) fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Messages between a peer and its test, which set the order of events at the two ends.
pub(crate) fn gate<T>() -> (Sender<T>, Gate<T>) {
    let (sender, receiver) = channel();
    (sender, Gate(Mutex::new(receiver)))
}

/// The receiving end. Scripts of several connections may share it.
#[derive(Debug)]
pub(crate) struct Gate<T>(Mutex<Receiver<T>>);

impl<T> Gate<T> {
    /// The next message. Fails if there is none.
    pub(crate) fn wait(&self) -> T {
        self.0.lock().unwrap().recv_timeout(LIMIT).expect("the other end says nothing")
    }

    /// The next message, if it is there.
    pub(crate) fn try_wait(&self) -> Option<T> {
        self.0.lock().unwrap().try_recv().ok()
    }
}

/// What a peer has seen.
#[derive(Debug, Default)]
struct Seen {
    connections: AtomicUsize,
    requests: AtomicUsize,
    stopped: AtomicBool,
}

/// A listener with a script. On drop it waits for its scripts, and fails the test if one of them panicked.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) address: SocketAddr,
    seen: Arc<Seen>,
    acceptor: Option<JoinHandle<()>>,
}

impl Peer {
    /// Runs `script` for every connection, with its number counted from 0.
    pub(crate) fn new(script: impl Fn(usize, Conn) + Send + Sync + 'static) -> Peer {
        Peer::on(TcpListener::bind("127.0.0.1:0").unwrap(), script)
    }

    pub(crate) fn on(listener: TcpListener, script: impl Fn(usize, Conn) + Send + Sync + 'static) -> Peer {
        let address = listener.local_addr().unwrap();
        let seen = Arc::<Seen>::default();
        let acceptor = thread::spawn({
            let seen = Arc::clone(&seen);
            move || accept(&listener, &seen, &Arc::new(script))
        });
        Peer { address, seen, acceptor: Some(acceptor) }
    }

    /// Sends these bytes as the response to every request on every connection.
    pub(crate) fn answering(response: impl AsRef<[u8]> + Send + Sync + 'static) -> Peer {
        Peer::new(move |_, mut conn| conn.serve(response.as_ref()))
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Accepts no more connections, and waits for the running scripts.
    pub(crate) fn stop(&mut self) {
        let Some(acceptor) = self.acceptor.take() else { return };
        self.seen.stopped.store(true, Ordering::SeqCst);
        // Wakes the accepting thread.
        let _ = TcpStream::connect(self.address);
        let ended = acceptor.join();
        assert!(ended.is_ok() || thread::panicking(), "the peer's script failed");
    }

    /// Connections accepted so far.
    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Complete request heads read so far.
    pub(crate) fn requests(&self) -> usize {
        self.seen.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept<F: Fn(usize, Conn) + Send + Sync + 'static>(listener: &TcpListener, seen: &Arc<Seen>, script: &Arc<F>) {
    let mut scripts = Vec::new();
    for stream in listener.incoming() {
        if seen.stopped.load(Ordering::SeqCst) {
            break;
        }
        let number = seen.connections.fetch_add(1, Ordering::SeqCst);
        let conn = Conn::new(stream.unwrap(), Arc::clone(seen));
        let script = Arc::clone(script);
        scripts.push(thread::spawn(move || script(number, conn)));
    }
    for script in scripts {
        script.join().expect("the script tells why");
    }
}

/// A stream with the timeout [`LIMIT`].
pub(crate) trait Stream: Read + Write {
    fn limit(&self);
}

impl Stream for TcpStream {
    fn limit(&self) {
        self.set_read_timeout(Some(LIMIT)).unwrap();
        self.set_write_timeout(Some(LIMIT)).unwrap();
        self.set_nodelay(true).unwrap();
    }
}

impl Stream for std::os::unix::net::UnixStream {
    fn limit(&self) {
        self.set_read_timeout(Some(LIMIT)).unwrap();
        self.set_write_timeout(Some(LIMIT)).unwrap();
    }
}

/// The peer's end of one connection.
#[derive(Debug)]
pub(crate) struct Conn<S = TcpStream> {
    pub(crate) stream: S,
    /// Bytes that were read and not used yet.
    ahead: Vec<u8>,
    seen: Arc<Seen>,
}

impl<S: Stream> Conn<S> {
    fn new(stream: S, seen: Arc<Seen>) -> Conn<S> {
        stream.limit();
        Conn { stream, ahead: Vec::new(), seen }
    }

    /// A connection outside of a [`Peer`].
    pub(crate) fn alone(stream: S) -> Conn<S> {
        Conn::new(stream, Arc::default())
    }

    /// The next request's head; None if the connection ends first.
    pub(crate) fn head(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.ahead.windows(4).position(|window| window == b"\r\n\r\n") {
                self.seen.requests.fetch_add(1, Ordering::SeqCst);
                return Some(String::from_utf8(self.take(end + 4)).unwrap());
            }
            if !self.read() {
                return None;
            }
        }
    }

    /// The head of a request. Fails if there is none.
    pub(crate) fn request(&mut self) -> String {
        self.head().expect("the connection ended before a request came")
    }

    /// The next bytes. Fails if there are none.
    pub(crate) fn body(&mut self, length: usize) -> Vec<u8> {
        while self.ahead.len() < length {
            assert!(self.read(), "{} bytes of {length} came", self.ahead.len());
        }
        self.take(length)
    }

    /// Waits for the end of the connection. Returns the bytes before it.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        while self.read() {}
        std::mem::take(&mut self.ahead)
    }

    /// Whether more bytes come before the end of the connection.
    pub(crate) fn has_more(&mut self) -> bool {
        !self.ahead.is_empty() || self.read()
    }

    /// Writes all of it, unless the connection ends.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        if let Err(error) = self.stream.write_all(bytes.as_ref()).and_then(|()| self.stream.flush()) {
            assert!(is_end(error.kind()), "{error}");
        }
    }

    /// Answers requests until the connection ends.
    pub(crate) fn serve(&mut self, response: &[u8]) {
        while self.head().is_some() {
            self.write(response);
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        self.ahead.drain(..length).collect()
    }

    /// Reads the available bytes; false at the end.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 16 << 10];
        match self.stream.read(&mut buffer) {
            Ok(length) => {
                self.ahead.extend_from_slice(&buffer[..length]);
                length > 0
            }
            Err(error) if is_end(error.kind()) => false,
            Err(error) => panic!("the peer reads: {error}"),
        }
    }
}

impl Conn {
    /// Whether there is input now, or within a few milliseconds.
    pub(crate) fn has_input(&self) -> bool {
        thread::sleep(Duration::from_millis(5));
        self.stream.set_nonblocking(true).unwrap();
        let came = self.stream.peek(&mut [0]).is_ok_and(|length| length > 0);
        self.stream.set_nonblocking(false).unwrap();
        came || !self.ahead.is_empty()
    }

    /// Ends the connection with a reset.
    pub(crate) fn reset(self) {
        SockRef::from(&self.stream).set_linger(Some(Duration::ZERO)).unwrap();
    }

    /// Closes only our half of the connection, unless the client has ended it: what was written before may be all it waits for.
    pub(crate) fn finish_writing(&self) {
        if let Err(error) = self.stream.shutdown(Shutdown::Write) {
            assert!(is_end(error.kind()), "{error}");
        }
    }

    /// The same connection with a layer on top of its stream.
    pub(crate) fn over<S: Stream>(self, wrap: impl FnOnce(TcpStream) -> S) -> Conn<S> {
        Conn { stream: wrap(self.stream), ahead: self.ahead, seen: self.seen }
    }
}

fn is_end(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof | ErrorKind::NotConnected
    )
}
