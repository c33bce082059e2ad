//! Messages in a body: each has a byte that says whether it is compressed, and its length.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use plimsoll_http as http;

use crate::error::FrameError;

/// Headers of every call. The last one says how messages of the server may be compressed.
pub const HEADERS: [(&str, &str); 3] =
    [("TE", "trailers"), ("Content-Type", "application/grpc"), ("grpc-accept-encoding", "gzip, deflate, identity")];

/// Bytes before each message.
const PREFIX: usize = 5;

/// Appends a message with its prefix. `gzip`: compressed, which `grpc-encoding: gzip` must say.
pub fn push_message(message: &[u8], gzip: bool, into: &mut Vec<u8>) {
    let start = into.len();
    into.extend_from_slice(&[gzip.into(), 0, 0, 0, 0]);
    if gzip {
        let mut encoder = GzEncoder::new(&mut *into, Compression::fast());
        encoder.write_all(message).expect("writing to a Vec does not fail");
        encoder.finish().expect("writing to a Vec does not fail");
    } else {
        into.extend_from_slice(message);
    }
    let length = u32::try_from(into.len() - start - PREFIX).expect("a message has less than 4 GiB");
    into[start + 1..start + PREFIX].copy_from_slice(&length.to_be_bytes());
}

/// Finds the messages in a body that arrives in pieces. How the body is cut makes no difference.
#[derive(Debug)]
pub struct MessageSplitter {
    /// The value of `grpc-encoding`.
    encoding: Option<Vec<u8>>,
    /// Maximum bytes of a message, decompressed or not.
    limit: u64,
    /// Maximum bytes of all messages that were compressed.
    room: u64,
    /// The start of a message whose end has not arrived, with its prefix.
    rest: Vec<u8>,
}

/// Passes the messages of a whole body to `each`. `limit`: maximum bytes of a message, and of all together that were
/// compressed.
pub fn split(encoding: Option<&[u8]>, body: &[u8], limit: u64, each: &mut dyn FnMut(&[u8])) -> Result<(), FrameError> {
    let mut splitter = MessageSplitter { room: limit, ..MessageSplitter::new(encoding, limit) };
    splitter.feed(body, each)?;
    splitter.end()
}

impl MessageSplitter {
    /// `encoding`: the response's `grpc-encoding`. `limit`: maximum bytes of a message.
    pub fn new(encoding: Option<&[u8]>, limit: u64) -> MessageSplitter {
        MessageSplitter { encoding: encoding.map(<[u8]>::to_vec), limit, room: u64::MAX, rest: Vec::new() }
    }

    /// Passes each message that ends in these bytes to `each`, decompressed. After an error nothing more can be read.
    pub fn feed(&mut self, bytes: &[u8], each: &mut dyn FnMut(&[u8])) -> Result<(), FrameError> {
        if self.rest.is_empty() {
            let taken = self.take(bytes, each)?;
            self.rest.extend_from_slice(&bytes[taken..]);
            return Ok(());
        }
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(bytes);
        let taken = self.take(&rest, each)?;
        rest.drain(..taken);
        self.rest = rest;
        Ok(())
    }

    /// Bytes of the message whose end has not arrived.
    pub fn unfinished(&self) -> usize {
        self.rest.len()
    }

    /// The body is complete.
    pub fn end(&self) -> Result<(), FrameError> {
        if self.rest.is_empty() { Ok(()) } else { Err(FrameError::Truncated { found: self.rest.len() as u64 }) }
    }

    /// Takes whole messages. Returns the number of bytes that they have.
    fn take(&mut self, bytes: &[u8], each: &mut dyn FnMut(&[u8])) -> Result<usize, FrameError> {
        let mut taken = 0;
        while let Some((prefix, after)) = bytes[taken..].split_first_chunk::<PREFIX>() {
            let [flag, length @ ..] = *prefix;
            if flag > 1 {
                return Err(FrameError::Flag(flag));
            }
            let length = u32::from_be_bytes(length);
            if u64::from(length) > self.limit {
                return Err(FrameError::TooLong { length: length.into(), limit: self.limit });
            }
            let Some(message) = after.get(..length as usize) else { break };
            if flag == 1 {
                let message = self.decompressed(message)?;
                let room = self.room.checked_sub(message.len() as u64);
                self.room = room.ok_or(FrameError::AllTooLong { limit: self.limit })?;
                each(&message);
            } else {
                each(message);
            }
            taken += PREFIX + message.len();
        }
        Ok(taken)
    }

    fn decompressed(&self, message: &[u8]) -> Result<Vec<u8>, FrameError> {
        let encoding = self.encoding.as_deref().filter(|name| *name != b"identity").ok_or(FrameError::NoEncoding)?;
        http::decode(encoding, message, self.limit).map_err(|error| FrameError::Encoding(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FrameError, MessageSplitter, push_message};

    fn split(encoding: Option<&[u8]>, pieces: &[&[u8]]) -> Result<Vec<Vec<u8>>, FrameError> {
        let (mut splitter, mut found) = (MessageSplitter::new(encoding, 1000), Vec::new());
        for piece in pieces {
            splitter.feed(piece, &mut |message| found.push(message.to_vec()))?;
        }
        splitter.end().map(|()| found)
    }

    #[test]
    fn a_message_has_a_prefix_and_may_be_compressed() {
        let (mut plain, mut gzip) = (b"before".to_vec(), Vec::new());
        push_message(b"abc", false, &mut plain);
        assert_eq!(plain, b"before\0\0\0\0\x03abc");
        push_message(&[b'a'; 900], true, &mut gzip);
        assert!(gzip.len() < 100 && gzip[0] == 1, "{gzip:?}");
        assert_eq!(split(Some(b"gzip"), &[&gzip, b"\0\0\0\0\0"]), Ok(vec![vec![b'a'; 900], vec![]]));
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let mut gzip = Vec::new();
        push_message(&[b'a'; 1001], true, &mut gzip);
        for (encoding, body, begins) in [
            (None, &b"\x02\0\0\0\0"[..], "a message begins with the byte 2"),
            (None, b"\0\0\0\x03\xe9", "a message has 1001 bytes, which is over the limit of 1000"),
            (None, b"\x01\0\0\0\0", "a message is compressed, but there is no grpc-encoding"),
            (Some(&b"identity"[..]), b"\x01\0\0\0\0", "a message is compressed, but there is no grpc-encoding"),
            (Some(b"snappy"), b"\x01\0\0\0\x01x", "a message cannot be decompressed: "),
            (Some(b"gzip"), b"\x01\0\0\0\x01x", "a message cannot be decompressed: "),
            (Some(b"gzip"), &gzip, "a message cannot be decompressed: "),
            (None, b"\0\0\0\0\x02x", "the body ends inside a message, after 6 bytes of it"),
            (None, b"\0\0", "the body ends inside a message, after 2 bytes of it"),
        ] {
            let error = split(encoding, &[body]).unwrap_err().to_string();
            assert!(error.starts_with(begins), "{error}");
        }
    }

    #[test]
    fn the_compressed_messages_of_a_whole_body_have_one_limit() {
        let (mut plain, mut gzip, mut count) = (Vec::new(), Vec::new(), 0);
        for _ in 0..2 {
            push_message(&[b'a'; 600], false, &mut plain);
            push_message(&[b'a'; 600], true, &mut gzip);
        }
        let mut whole = |body: &[u8], limit| super::split(Some(b"gzip"), body, limit, &mut |_| count += 1);
        assert_eq!(whole(&plain, 1000), Ok(()));
        assert_eq!(whole(&gzip, 1200), Ok(()));
        assert_eq!(whole(&gzip, 1000), Err(FrameError::AllTooLong { limit: 1000 }));
        assert_eq!(count, 5);
        assert_eq!(split(Some(b"gzip"), &[&gzip]).map(|found| found.len()), Ok(2), "of a stream, each message alone");
    }

    proptest! {
        #[test]
        fn cuts_make_no_difference(
            messages in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), any::<bool>()), 0..6),
            cuts in prop::collection::vec(0..200_usize, 0..6),
        ) {
            let mut body = Vec::new();
            for (message, gzip) in &messages {
                push_message(message, *gzip, &mut body);
            }
            let mut cuts: Vec<_> = cuts.into_iter().map(|cut| cut.min(body.len())).collect();
            cuts.extend([0, body.len()]);
            cuts.sort_unstable();
            let pieces: Vec<_> = cuts.windows(2).map(|cut| &body[cut[0]..cut[1]]).collect();
            let expected: Vec<_> = messages.into_iter().map(|(message, _)| message).collect();
            prop_assert_eq!(split(Some(b"gzip"), &pieces), Ok(expected));
        }
    }
}
