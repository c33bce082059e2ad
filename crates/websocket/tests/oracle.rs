//! The same messages as another implementation, tungstenite, in both directions.

#![allow(clippy::unwrap_used)]

use std::io::{self, Cursor, ErrorKind, Read, Write};

use plimsoll_http::Work;
use plimsoll_websocket::{Client, Message};
use proptest::collection::vec;
use proptest::prelude::*;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocket};

/// What a server reads and writes.
#[derive(Default)]
struct Wire {
    input: Cursor<Vec<u8>>,
    output: Vec<u8>,
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.input.read(buffer)? {
            0 => Err(ErrorKind::WouldBlock.into()),
            length => Ok(length),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Sent {
    Text(String),
    Binary(Vec<u8>),
}

fn any_message() -> impl Strategy<Value = Sent> {
    prop_oneof![
        "\\PC{0,80}".prop_map(Sent::Text),
        vec(any::<u8>(), 0..400).prop_map(Sent::Binary),
        (65_530_usize..65_550).prop_map(|length| Sent::Binary(vec![7; length])),
    ]
}

fn server(input: Vec<u8>) -> WebSocket<Wire> {
    WebSocket::from_raw_socket(Wire { input: Cursor::new(input), output: Vec::new() }, Role::Server, None)
}

proptest! {
    #[test]
    fn the_server_reads_what_the_client_sends(messages in vec(any_message(), 0..5), seed: u64) {
        let mut client = Client::new(1 << 20, None, seed);
        for message in &messages {
            match message {
                Sent::Text(text) => client.send(Message::Text(text)),
                Sent::Binary(bytes) => client.send(Message::Binary(bytes)),
            }
        }
        client.close(4001, "done");
        let mut server = server(std::mem::take(client.output()));
        for message in messages {
            let got = match server.read().unwrap() {
                tungstenite::Message::Text(text) => Sent::Text(text.as_str().to_owned()),
                tungstenite::Message::Binary(bytes) => Sent::Binary(bytes.to_vec()),
                other => panic!("{other:?}"),
            };
            prop_assert_eq!(got, message);
        }
        let close = CloseFrame { code: CloseCode::Library(4001), reason: "done".into() };
        prop_assert_eq!(server.read().unwrap(), tungstenite::Message::Close(Some(close)));
    }

    #[test]
    fn the_client_reads_what_the_server_sends(messages in vec(any_message(), 0..5), cut in 1_usize..5000) {
        let mut server = server(Vec::new());
        for message in &messages {
            server.send(match message {
                Sent::Text(text) => tungstenite::Message::text(text.clone()),
                Sent::Binary(bytes) => tungstenite::Message::binary(bytes.clone()),
            }).unwrap();
            server.send(tungstenite::Message::Ping(b"?".to_vec().into())).unwrap();
        }
        let mut client = Client::new(1 << 20, None, 1);
        let mut got = Vec::new();
        for piece in server.get_ref().output.clone().chunks(cut) {
            client.feed(piece, &mut Work::all(), &mut |message| got.push(match message {
                Message::Text(text) => Sent::Text(text.to_owned()),
                Message::Binary(bytes) => Sent::Binary(bytes.to_vec()),
            })).unwrap();
        }
        server.get_mut().input = Cursor::new(std::mem::take(client.output()));
        for _ in &messages {
            prop_assert_eq!(server.read().unwrap(), tungstenite::Message::Pong(b"?".to_vec().into()));
        }
        prop_assert_eq!(got, messages);
    }
}
