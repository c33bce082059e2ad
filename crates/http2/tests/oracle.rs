//! The same requests and responses as another implementation, h2, which is the server here.

#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use h2::RecvStream;
use h2::server::{Builder, SendResponse};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use plimsoll_http::{self as text, Head, Limits};
use plimsoll_http2::{Connection, Events, Options, StreamError};
use proptest::collection::vec;
use proptest::prelude::*;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The bytes in both directions.
#[derive(Default)]
struct Wire {
    to_server: VecDeque<u8>,
    to_client: Vec<u8>,
}

/// The server's end of the wire.
#[derive(Clone, Default)]
struct Socket(Rc<RefCell<Wire>>);

impl AsyncRead for Socket {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let mut wire = self.0.borrow_mut();
        let count = wire.to_server.len().min(buffer.remaining());
        if count == 0 {
            return Poll::Pending;
        }
        buffer.put_slice(&wire.to_server.drain(..count).collect::<Vec<_>>());
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.borrow_mut().to_client.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Answers with the request: its method and path as headers, its headers, its body, and a trailer with the body's length.
async fn answer(request: Request<RecvStream>, mut respond: SendResponse<Bytes>) {
    let (parts, mut body) = request.into_parts();
    let mut response = Response::builder().status(if parts.method == "PUT" { 404 } else { 200 }).body(()).unwrap();
    *response.headers_mut() = parts.headers;
    let headers = response.headers_mut();
    headers.insert("x-method", HeaderValue::from_str(parts.method.as_str()).unwrap());
    headers.insert("x-path", HeaderValue::from_str(parts.uri.path_and_query().unwrap().as_str()).unwrap());
    headers.insert("x-host", HeaderValue::from_str(parts.uri.authority().unwrap().as_str()).unwrap());
    let mut send = respond.send_response(response, false).unwrap();
    let mut length = 0;
    while let Some(chunk) = body.data().await {
        let chunk = chunk.unwrap();
        length += chunk.len();
        body.flow_control().release_capacity(chunk.len()).unwrap();
        send.send_data(chunk, false).unwrap();
    }
    let length = HeaderValue::from(length);
    send.send_trailers(HeaderMap::from_iter([(HeaderName::from_static("x-length"), length)])).unwrap();
}

/// What the client has of a response.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Got {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    trailers: Vec<(String, String)>,
    ended: bool,
}

#[derive(Default)]
struct Responses {
    got: BTreeMap<u64, Got>,
    /// Requests beyond the server's limit of streams, which they did not know yet.
    refused: Vec<u64>,
}

impl Responses {
    fn of(&mut self, tag: u64) -> &mut Got {
        self.got.entry(tag).or_default()
    }
}

fn strings(lines: Vec<(&[u8], &[u8])>) -> Vec<(String, String)> {
    let string = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    lines.into_iter().map(|(name, value)| (string(name), string(value))).collect()
}

impl Events for Responses {
    fn interim(&mut self, _: u64, status: u16) {
        panic!("{status}");
    }

    fn head(&mut self, tag: u64, head: &Head<'_>) {
        let got = self.of(tag);
        got.status = head.status;
        got.headers = strings(text::headers(head.raw));
        got.headers.sort();
    }

    fn body(&mut self, tag: u64, chunk: &[u8]) {
        self.of(tag).body.extend_from_slice(chunk);
    }

    fn trailers(&mut self, tag: u64, raw: &[u8]) {
        self.of(tag).trailers = strings(text::trailers(raw));
    }

    fn end(&mut self, tag: u64) {
        self.of(tag).ended = true;
    }

    fn failed(&mut self, tag: u64, error: StreamError) {
        assert!(error.is_unprocessed(), "{tag}: {error}");
        self.refused.push(tag);
    }
}

/// A request, and in how many parts its body is given.
#[derive(Debug, Clone)]
struct Sent {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    parts: usize,
}

impl Sent {
    fn head(&self) -> String {
        let lines: Vec<String> = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let lines = lines.concat();
        format!("{} {} HTTP/1.1\r\nHost: example.org:8443\r\n{lines}\r\n", self.method, self.path)
    }

    fn expected(&self) -> Got {
        let trailers = vec![("x-length".into(), self.body.len().to_string())];
        let mut headers = self.headers.clone();
        headers.push(("x-method".into(), self.method.into()));
        headers.push(("x-path".into(), self.path.clone()));
        headers.push(("x-host".into(), "example.org:8443".into()));
        for (name, _) in &mut headers {
            name.make_ascii_lowercase();
        }
        headers.sort();
        let status = if self.method == "PUT" { 404 } else { 200 };
        Got { status, headers, body: self.body.clone(), trailers, ended: true }
    }
}

fn any_request() -> impl Strategy<Value = Sent> {
    let method = prop::sample::select(vec!["GET", "POST", "PUT", "PATCH"]);
    let name = prop_oneof![Just("Accept".to_owned()), Just("Cookie".to_owned()), "X-[a-zA-Z]{1,12}"];
    let header = (name, "[!-~]([ -~]{0,60}[!-~])?");
    let length = prop_oneof![3 => 0_usize..300, 1 => 15_000_usize..120_000];
    let body =
        (length, any::<u8>()).prop_map(|(length, start)| (0..length).map(|at| start.wrapping_add(at as u8)).collect());
    (method, "/[a-z0-9]{0,9}(\\?[a-z=&]{0,9})?", vec(header, 0..5), body, 1_usize..4)
        .prop_map(|(method, path, headers, body, parts)| Sent { method, path, headers, body, parts })
}

/// Sends the requests and returns the responses. `early`: the first ones before the server's SETTINGS. `cut`: the client
/// reads so many bytes at a time.
fn exchange(requests: &[Sent], server: &Builder, options: &Options, early: bool, cut: usize) -> BTreeMap<u64, Got> {
    let socket = Socket::default();
    let mut context = Context::from_waker(Waker::noop());
    let mut tasks: Vec<Pin<Box<dyn Future<Output = ()>>>> = Vec::new();
    let mut handshake = pin!(server.handshake::<_, Bytes>(socket.clone()));
    let mut connected = None;
    let mut client = Connection::new(options);
    let mut waiting: VecDeque<usize> = (0..requests.len()).collect();
    let mut got = Responses::default();
    let mut still = 0;
    while still < 5 {
        while (early || connected.is_some())
            && client.room() > 0
            && let Some(index) = waiting.pop_front()
        {
            let request = &requests[index];
            let mut parts = request.body.chunks(request.body.len().div_ceil(request.parts).max(1)).peekable();
            let first = parts.next().unwrap_or_default();
            let is_end = |parts: &mut std::iter::Peekable<std::slice::Chunks<'_, u8>>| parts.peek().is_none();
            let stream = client.open(request.head().as_bytes(), first, is_end(&mut parts), index as u64).unwrap();
            while let Some(part) = parts.next() {
                client.send_body(stream, part, is_end(&mut parts));
            }
        }
        let output = client.output().to_vec();
        client.wrote(output.len());
        socket.0.borrow_mut().to_server.extend(&output);
        if connected.is_none()
            && let Poll::Ready(server) = handshake.as_mut().poll(&mut context)
        {
            connected = Some(server.unwrap());
        }
        if let Some(server) = &mut connected {
            while let Poll::Ready(Some(accepted)) = server.poll_accept(&mut context) {
                let (request, respond) = accepted.unwrap();
                tasks.push(Box::pin(answer(request, respond)));
            }
        }
        tasks.retain_mut(|task| task.as_mut().poll(&mut context).is_pending());
        let input = std::mem::take(&mut socket.0.borrow_mut().to_client);
        for piece in input.chunks(cut) {
            client.input(piece, &Limits::default(), &mut got).unwrap();
        }
        waiting.extend(got.refused.drain(..).map(|tag| tag as usize));
        still = if output.is_empty() && input.is_empty() { still + 1 } else { 0 };
    }
    assert!(tasks.is_empty() && waiting.is_empty() && client.open_streams() == 0, "all is answered");
    got.got
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_server_reads_what_the_client_sends_and_the_client_reads_its_answers(
        requests in vec(any_request(), 1..12),
        streams in prop::sample::select(vec![1_u32, 3, 100]),
        window in prop::sample::select(vec![1_u32, 1000, 65_535, 1 << 20]),
        own_window in prop::sample::select(vec![100_u32, 65_535, 1 << 20]),
        frame in prop::sample::select(vec![16_384_u32, 100_000]),
        cut in 1_usize..5000,
    ) {
        let mut server = Builder::new();
        // The window of 1 byte is for short bodies: there is a frame for each byte.
        let longest = requests.iter().map(|request| request.body.len()).max().unwrap_or_default();
        let window = if longest > 1000 { window.max(1000) } else { window };
        // h2 forgets to open a window again that became smaller while a body was on its way.
        let early = window >= 65_535;
        server.max_concurrent_streams(streams).initial_window_size(window).max_frame_size(frame);
        let options = Options { stream_window: own_window, max_frame_size: frame, ..Options::default() };
        let got = exchange(&requests, &server, &options, early, cut);
        for (tag, request) in (0..).zip(&requests) {
            prop_assert_eq!(&got[&tag], &request.expected());
        }
    }
}
