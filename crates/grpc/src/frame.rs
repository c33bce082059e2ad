//! Messages in a body: each has a byte that says whether it is compressed, and its length.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use plimsoll_http::{Rest, StepDecoder, Work};

use crate::error::FrameError;

/// Headers of every call. The last one says how messages of the server may be compressed.
pub const HEADERS: [(&str, &str); 3] =
    [("TE", "trailers"), ("Content-Type", "application/grpc"), ("grpc-accept-encoding", "gzip, deflate, identity")];

/// The names among them that mean compression. A server uses no other (gRPC over HTTP/2, "Compression").
const CODINGS: [&[u8]; 2] = [b"gzip", b"deflate"];

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
pub struct MessageSplitter {
    /// The value of `grpc-encoding`.
    encoding: Option<Vec<u8>>,
    /// Maximum bytes of a message, decompressed or not.
    limit: u64,
    /// Maximum bytes of all messages that were compressed.
    room: u64,
    /// Bytes that were not taken, from the prefix of a message on.
    rest: Rest,
    /// The compressed message at the start of `rest` that is being decompressed.
    decoder: Option<StepDecoder>,
}

impl std::fmt::Debug for MessageSplitter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MessageSplitter").field("limit", &self.limit).field("rest", &self.rest).finish_non_exhaustive()
    }
}

/// Passes the messages of a whole body to `each`. `limit`: maximum bytes of a message, and of all together that were
/// compressed.
pub fn split(encoding: Option<&[u8]>, body: &[u8], limit: u64, each: &mut dyn FnMut(&[u8])) -> Result<(), FrameError> {
    let mut splitter = MessageSplitter::of_whole_body(encoding, limit);
    splitter.feed(body, &mut Work::all(), each)?;
    splitter.end()
}

impl MessageSplitter {
    /// `encoding`: the response's `grpc-encoding`. `limit`: maximum bytes of a message.
    pub fn new(encoding: Option<&[u8]>, limit: u64) -> MessageSplitter {
        let encoding = encoding.map(<[u8]>::to_vec);
        MessageSplitter { encoding, limit, room: u64::MAX, rest: Rest::default(), decoder: None }
    }

    /// The same for a body that is kept as a whole: `limit` is also that of all messages together that were compressed.
    pub fn of_whole_body(encoding: Option<&[u8]>, limit: u64) -> MessageSplitter {
        MessageSplitter { room: limit, ..MessageSplitter::new(encoding, limit) }
    }

    /// Passes each message that ends in these bytes to `each`, decompressed. Without work, bytes are kept: then call it
    /// again without new ones. A message that takes longer than one share of work ends it. After an error nothing more can
    /// be read.
    pub fn feed(&mut self, bytes: &[u8], work: &mut Work, each: &mut dyn FnMut(&[u8])) -> Result<(), FrameError> {
        let mut rest = std::mem::take(&mut self.rest);
        let fed = rest.feed(bytes, |bytes| self.take(bytes, work, each));
        self.rest = rest;
        fed
    }

    /// Bytes in memory: of messages that were not passed yet.
    pub fn unfinished(&self) -> usize {
        self.rest.len() + self.decoder.as_ref().map_or(0, StepDecoder::unfinished)
    }

    /// Whether a message is being decompressed.
    pub fn is_in_message(&self) -> bool {
        self.decoder.is_some()
    }

    /// The body is complete.
    pub fn end(&self) -> Result<(), FrameError> {
        if self.rest.is_empty() { Ok(()) } else { Err(FrameError::Truncated { found: self.rest.len() as u64 }) }
    }

    /// Takes whole messages. Returns the number of bytes that they have.
    fn take(&mut self, bytes: &[u8], work: &mut Work, each: &mut dyn FnMut(&[u8])) -> Result<usize, FrameError> {
        let mut taken = 0;
        while work.is_left()
            && let Some((prefix, after)) = bytes[taken..].split_first_chunk::<PREFIX>()
        {
            let [flag, length @ ..] = *prefix;
            if flag > 1 {
                return Err(FrameError::Flag(flag));
            }
            let length = u32::from_be_bytes(length);
            if u64::from(length) > self.limit {
                return Err(FrameError::TooLong { length: length.into(), limit: self.limit });
            }
            let Some(message) = after.get(..length as usize) else { break };
            if flag == 0 {
                work.spend_message(message.len());
                each(message);
            } else if !self.decompress(message, work, each)? {
                break;
            }
            taken += PREFIX + message.len();
        }
        Ok(taken)
    }

    /// Passes on a compressed message. Returns false if there is more to do for it than there is work.
    fn decompress(&mut self, message: &[u8], work: &mut Work, each: &mut dyn FnMut(&[u8])) -> Result<bool, FrameError> {
        let encoding = self.encoding.as_deref().filter(|name| *name != b"identity").ok_or(FrameError::NoEncoding)?;
        if !CODINGS.contains(&encoding) {
            return Err(FrameError::UnknownEncoding(encoding.escape_ascii().take(40).map(char::from).collect()));
        }
        let was_begun = self.decoder.is_some();
        let decoder = self.decoder.get_or_insert_with(|| StepDecoder::new(encoding, self.limit, true));
        if !decoder.go_on(message, work).map_err(|error| FrameError::Encoding(error.to_string()))? {
            return Ok(false);
        }
        let room = self.room.checked_sub(decoder.length());
        self.room = room.ok_or(FrameError::AllTooLong { limit: self.limit })?;
        let text = self.decoder.take().map(StepDecoder::into_text).unwrap_or_default();
        each(&text);
        if was_begun {
            work.end();
        } else {
            work.spend_message(0);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CODINGS, FrameError, HEADERS, MessageSplitter, Work, push_message};

    fn split(encoding: Option<&[u8]>, pieces: &[&[u8]]) -> Result<Vec<Vec<u8>>, FrameError> {
        let (mut splitter, mut found) = (MessageSplitter::new(encoding, 1000), Vec::new());
        for piece in pieces {
            splitter.feed(piece, &mut Work::all(), &mut |message| found.push(message.to_vec()))?;
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
    fn the_codings_that_are_read_are_those_that_are_offered() {
        let (_, offered) = HEADERS.iter().find(|(name, _)| *name == "grpc-accept-encoding").unwrap();
        let names: Vec<_> = CODINGS.iter().map(|name| std::str::from_utf8(name).unwrap()).chain(["identity"]).collect();
        assert_eq!(names.join(", "), *offered);
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
            (
                Some(b"snappy"),
                b"\x01\0\0\0\x01x",
                "a message is compressed with snappy, which is neither gzip nor deflate",
            ),
            (Some(b"gzip,br"), b"\x01\0\0\0\x01x", "a message is compressed with gzip,br, which"),
            (Some(b"\xff"), b"\x01\0\0\0\x01x", "a message is compressed with \\xff, which"),
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

    #[test]
    fn a_long_message_takes_many_shares_of_work_and_the_next_one_waits() {
        let mut body = Vec::new();
        for _ in 0..2 {
            push_message(&vec![b'a'; 1 << 20], true, &mut body);
        }
        let mut splitter = MessageSplitter::new(Some(b"gzip"), 1 << 21);
        let (mut found, mut shares, mut bytes) = (Vec::new(), 0, &body[..]);
        while shares == 0 || splitter.unfinished() > 0 {
            let before = found.len();
            let mut each = |message: &[u8]| found.push(message.len());
            splitter.feed(std::mem::take(&mut bytes), &mut Work::of(300_000), &mut each).unwrap();
            assert!(found.len() <= before + 1, "a long message ends its share");
            shares += 1;
        }
        assert_eq!((found, splitter.end()), (vec![1 << 20; 2], Ok(())));
        assert!(shares >= 8, "{shares} shares for 2 MiB");
    }

    #[test]
    fn short_messages_of_one_read_are_taken_in_shares() {
        let mut body = Vec::new();
        (0..1000).for_each(|_| push_message(b"", false, &mut body));
        let (mut splitter, mut count) = (MessageSplitter::new(None, 10), 0);
        splitter.feed(&body, &mut Work::of(2560), &mut |_| count += 1).unwrap();
        assert_eq!(count, 10);
        splitter.feed(b"", &mut Work::of(2560), &mut |_| count += 1).unwrap();
        assert_eq!((count, splitter.unfinished()), (20, 980 * 5));
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
