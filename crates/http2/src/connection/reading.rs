//! From bytes to frames, and from frames to responses. How the bytes are cut makes no difference.

use plimsoll_http::{Head, Limits, ProtocolError};

use super::{Connection, KEPT};
use crate::error::Code;
use crate::frame::{self, ACK, DATA, END_HEADERS, END_STREAM, HEADER, Header, PADDED, WITH_PRIORITY};
use crate::response::{self, BlockError, Parsed};
use crate::{ConnectionError, Events, StreamError};

/// The minor version of a head in HTTP/2; see [`Head::minor`].
const MINOR: u8 = 10;
/// Empty DATA frames in a row that a peer may send.
const EMPTY_FRAMES: usize = 1000;
/// The first bytes of a TLS alert: a TLS server's reply to plain bytes.
const TLS_ALERT: &[u8] = &[0x15, 0x03];

/// The part of the input that is not complete.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The start of a frame.
    partial: Vec<u8>,
    /// The DATA frame whose payload is read.
    data: Option<Data>,
    /// The header block whose end has not arrived.
    block: Option<Block>,
    /// The text of the last head or of trailers; kept for its memory.
    text: Vec<u8>,
    /// Empty DATA frames in a row.
    empty: usize,
    /// The peer's first SETTINGS have arrived.
    pub(super) has_settings: bool,
}

/// A DATA frame. Its body is passed on as it arrives.
#[derive(Debug, Clone, Copy)]
struct Data {
    stream: u32,
    /// Bytes of the payload, with its padding.
    length: u32,
    /// Bytes of the payload that have not arrived.
    left: u32,
    /// Bytes of padding in `left`; `None`: the byte with this number has not arrived.
    padding: Option<u32>,
    /// Bytes of the body.
    body: u32,
    ends: bool,
}

/// A header block in pieces.
#[derive(Debug)]
struct Block {
    stream: u32,
    ends: bool,
    bytes: Vec<u8>,
    frames: usize,
}

impl Connection {
    pub(super) fn read(
        &mut self,
        mut bytes: &[u8],
        limits: &Limits,
        events: &mut impl Events,
    ) -> Result<(), ConnectionError> {
        while !bytes.is_empty() {
            if let Some(data) = self.reader.data {
                bytes = self.data(data, bytes, limits, events)?;
            } else if self.reader.partial.is_empty() {
                let Some((&first, rest)) = bytes.split_first_chunk::<HEADER>() else {
                    return self.gather(bytes, HEADER).map(drop);
                };
                let header = Header::parse(first);
                self.admit(header, &first)?;
                let length = header.length as usize;
                if header.kind == DATA {
                    self.begin_data(header, limits, events)?;
                    bytes = rest;
                } else if let Some((payload, rest)) = rest.split_at_checked(length) {
                    self.frame(header, payload, limits, events)?;
                    bytes = rest;
                } else {
                    return self.gather(bytes, HEADER + length).map(drop);
                }
            } else {
                bytes = self.read_rest(bytes, limits, events)?;
            }
        }
        Ok(())
    }

    /// Reads more of a frame whose start is known. Returns the bytes after it.
    #[cold]
    fn read_rest<'a>(
        &mut self,
        mut bytes: &'a [u8],
        limits: &Limits,
        events: &mut impl Events,
    ) -> Result<&'a [u8], ConnectionError> {
        if self.reader.partial.len() < HEADER {
            bytes = self.gather(bytes, HEADER)?;
            let Some(first) = self.reader.partial.first_chunk::<HEADER>().copied() else { return Ok(bytes) };
            let header = Header::parse(first);
            self.admit(header, &first)?;
            if header.kind == DATA {
                self.reader.partial.clear();
                self.begin_data(header, limits, events)?;
                return Ok(bytes);
            }
        }
        let Some(first) = self.reader.partial.first_chunk::<HEADER>().copied() else { return Ok(bytes) };
        let header = Header::parse(first);
        let length = HEADER + header.length as usize;
        bytes = self.gather(bytes, length)?;
        if self.reader.partial.len() == length {
            let mut whole = std::mem::take(&mut self.reader.partial);
            self.frame(header, &whole[HEADER..], limits, events)?;
            if whole.capacity() <= KEPT {
                whole.clear();
                self.reader.partial = whole;
            }
        }
        Ok(bytes)
    }

    /// Moves bytes to the frame that is not complete, until it has `length` bytes. Returns the others.
    fn gather<'a>(&mut self, bytes: &'a [u8], length: usize) -> Result<&'a [u8], ConnectionError> {
        let partial = &mut self.reader.partial;
        let (taken, rest) = bytes.split_at(bytes.len().min(length - partial.len()));
        partial.extend_from_slice(taken);
        // An alert is shorter than the header of a frame.
        if !self.reader.has_settings && partial.starts_with(TLS_ALERT) {
            return Err(ConnectionError::Tls);
        }
        Ok(rest)
    }

    /// Checks that a frame with this header may come now.
    fn admit(&self, header: Header, bytes: &[u8; HEADER]) -> Result<(), ConnectionError> {
        if !self.reader.has_settings {
            match bytes {
                _ if bytes.starts_with(TLS_ALERT) => return Err(ConnectionError::Tls),
                b"HTTP/1.0 " | b"HTTP/1.1 " => return Err(ConnectionError::Http1),
                _ if header.kind != frame::SETTINGS || header.has(ACK) => return Err(ConnectionError::NotHttp2),
                _ => {}
            }
        }
        if header.length > self.max_frame {
            return Err(ConnectionError::FrameSize(header.kind));
        }
        let expected = self.reader.block.as_ref().map(|block| block.stream);
        let continued = (header.kind == frame::CONTINUATION).then_some(header.stream);
        if expected == continued { Ok(()) } else { Err(ConnectionError::HeaderBlock) }
    }

    /// Handles a frame that is not DATA.
    fn frame(
        &mut self,
        header: Header,
        payload: &[u8],
        limits: &Limits,
        events: &mut impl Events,
    ) -> Result<(), ConnectionError> {
        match header.kind {
            frame::HEADERS => self.headers(header, payload, limits, events),
            frame::CONTINUATION => self.continuation(header, payload, limits, events),
            frame::SETTINGS => self.settings(header, payload),
            frame::WINDOW_UPDATE => self.window_update(header, payload, events),
            frame::RST_STREAM => self.reset(header, payload, events),
            frame::PING => self.ping(header, payload),
            frame::GOAWAY => self.go_away(header, payload, events),
            frame::PUSH_PROMISE => Err(ConnectionError::Push),
            frame::PRIORITY if payload.len() != 5 => Err(ConnectionError::FrameSize(header.kind)),
            // Other kinds are extensions, which may be ignored.
            _ => Ok(()),
        }
    }

    fn headers(
        &mut self,
        header: Header,
        payload: &[u8],
        limits: &Limits,
        events: &mut impl Events,
    ) -> Result<(), ConnectionError> {
        let malformed = ConnectionError::Frame(header.kind);
        let block = frame::without_padding(header, payload).ok_or(malformed.clone())?;
        let block = if header.has(WITH_PRIORITY) { block.get(5..).ok_or(malformed)? } else { block };
        let (stream, ends) = (header.stream, header.has(END_STREAM));
        self.known(stream)?;
        if header.has(END_HEADERS) {
            return self.block(stream, block, ends, limits, events);
        }
        self.reader.block = Some(Block { stream, ends, bytes: block.to_vec(), frames: 0 });
        Ok(())
    }

    #[cold]
    fn continuation(
        &mut self,
        header: Header,
        payload: &[u8],
        limits: &Limits,
        events: &mut impl Events,
    ) -> Result<(), ConnectionError> {
        let Some(block) = &mut self.reader.block else { return Err(ConnectionError::HeaderBlock) };
        block.bytes.extend_from_slice(payload);
        block.frames += 1;
        // Frames count too: they may be empty.
        if block.bytes.len() + block.frames * HEADER > limits.head {
            return Err(ConnectionError::HeaderBlockTooLong { limit: limits.head });
        }
        match self.reader.block.take_if(|_| header.has(END_HEADERS)) {
            Some(block) => self.block(block.stream, &block.bytes, block.ends, limits, events),
            None => Ok(()),
        }
    }

    /// Handles a complete header block. For a stream that is closed it is not decoded: there is no table to keep.
    fn block(
        &mut self,
        id: u32,
        block: &[u8],
        ends: bool,
        limits: &Limits,
        events: &mut impl Events,
    ) -> Result<(), ConnectionError> {
        let Some(index) = self.find(id) else { return Ok(()) };
        events.frames(self.streams[index].tag, HEADER + block.len());
        let mut text = std::mem::take(&mut self.reader.text);
        let result = if self.streams[index].has_head {
            self.trailers(index, block, ends, limits, &mut text, events)
        } else {
            self.head(index, block, ends, limits, &mut text, events)
        };
        if text.capacity() <= KEPT {
            self.reader.text = text;
        }
        match result {
            Ok(()) => Ok(()),
            Err(BlockError::Hpack(error)) => Err(error.into()),
            Err(BlockError::Stream(error)) => {
                self.fail(index, error, events);
                Ok(())
            }
        }
    }

    fn head(
        &mut self,
        index: usize,
        block: &[u8],
        ends: bool,
        limits: &Limits,
        text: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), BlockError> {
        let stream = &mut self.streams[index];
        let room = limits.head.saturating_sub(stream.interim);
        let Parsed { status, content_length, notes } = response::head(block, room, limits, text)?;
        if status < 200 {
            return match status {
                101 => Err(StreamError::Upgrade.into()),
                _ if ends => Err(StreamError::Order.into()),
                _ => {
                    stream.interim += text.len();
                    events.interim(stream.tag, status);
                    Ok(())
                }
            };
        }
        if content_length.is_some_and(|length| length > limits.body) && !stream.is_head {
            return Err(ProtocolError::BodyTooLarge { limit: limits.body }.into());
        }
        stream.has_head = true;
        stream.announced = if stream.is_head || matches!(status, 204 | 304) { Some(0) } else { content_length };
        events.head(stream.tag, &Head { status, minor: MINOR, raw: text, content_length, notes });
        if ends {
            self.end(index, events);
        }
        Ok(())
    }

    fn trailers(
        &mut self,
        index: usize,
        block: &[u8],
        ends: bool,
        limits: &Limits,
        text: &mut Vec<u8>,
        events: &mut impl Events,
    ) -> Result<(), BlockError> {
        if !ends {
            return Err(StreamError::Order.into());
        }
        response::trailers(block, limits, text)?;
        if text.len() > 2 {
            events.trailers(self.streams[index].tag, text);
        }
        self.end(index, events);
        Ok(())
    }

    /// The response is complete, if its body has the length that was announced.
    fn end(&mut self, index: usize, events: &mut impl Events) {
        let stream = &self.streams[index];
        if let Some(announced) = stream.announced.filter(|&announced| announced != stream.received) {
            return self.fail(index, StreamError::BodyLength { announced }, events);
        }
        if let Some(stream) = self.remove(index) {
            if !stream.has_ended {
                // The server does not want the rest of the request.
                frame::push_reset(&mut self.output, stream.id, Code::NO_ERROR);
            }
            events.end(stream.tag);
        }
    }

    /// Handles the header of a DATA frame. The whole payload counts for flow control (RFC 9113 §6.9.1).
    fn begin_data(&mut self, header: Header, limits: &Limits, events: &mut impl Events) -> Result<(), ConnectionError> {
        let Header { length, stream, .. } = header;
        let known = self.known(stream)?;
        if !self.window.take(length) {
            return Err(ConnectionError::Window);
        }
        self.reader.empty = if length == 0 { self.reader.empty + 1 } else { 0 };
        if self.reader.empty > EMPTY_FRAMES {
            return Err(ConnectionError::Flood);
        }
        if let Some(index) = known {
            let stream = &mut self.streams[index];
            if !stream.has_head {
                self.fail(index, StreamError::Order, events);
            } else if !stream.window.take(length) {
                self.fail(index, StreamError::Window, events);
            }
        }
        let padding = (!header.has(PADDED)).then_some(0);
        let data = Data { stream, length, left: length, padding, body: 0, ends: header.has(END_STREAM) };
        if length > 0 {
            self.reader.data = Some(data);
            return Ok(());
        }
        self.data(data, &[], limits, events).map(drop)
    }

    /// Reads more of a DATA frame. Returns the bytes after it.
    fn data<'a>(
        &mut self,
        mut data: Data,
        mut bytes: &'a [u8],
        limits: &Limits,
        events: &mut impl Events,
    ) -> Result<&'a [u8], ConnectionError> {
        let padding = if let Some(padding) = data.padding {
            padding
        } else {
            let malformed = ConnectionError::Frame(DATA);
            let (&padding, rest) = bytes.split_first().filter(|_| data.left > 0).ok_or(malformed.clone())?;
            (data.left, bytes) = (data.left - 1, rest);
            if u32::from(padding) > data.left {
                return Err(malformed);
            }
            padding.into()
        };
        let (body, rest) = bytes.split_at(bytes.len().min((data.left - padding) as usize));
        if !body.is_empty() {
            self.body(data.stream, body, limits, events);
        }
        data.body += body.len() as u32;
        data.left -= body.len() as u32;
        let skipped = if data.left == padding { rest.len().min(padding as usize) } else { 0 };
        data.left -= skipped as u32;
        data.padding = Some(padding.min(data.left));
        self.reader.data = (data.left > 0).then_some(data);
        if data.left == 0 {
            self.end_data(&data, events);
        }
        Ok(&rest[skipped..])
    }

    fn body(&mut self, id: u32, chunk: &[u8], limits: &Limits, events: &mut impl Events) {
        let Some(index) = self.find(id) else { return };
        let stream = &mut self.streams[index];
        let most = stream.announced.unwrap_or(limits.body);
        let room = usize::try_from(most.saturating_sub(stream.received)).unwrap_or(usize::MAX);
        let allowed = &chunk[..chunk.len().min(room)];
        stream.received += allowed.len() as u64;
        if !allowed.is_empty() {
            events.body(stream.tag, allowed);
        }
        if allowed.len() < chunk.len() {
            let error = match stream.announced {
                Some(announced) => StreamError::BodyLength { announced },
                None => StreamError::Response(ProtocolError::BodyTooLarge { limit: limits.body }),
            };
            self.fail(index, error, events);
        }
    }

    /// A DATA frame is complete: gives its bytes back to the peer, and ends the stream if it was the last one.
    fn end_data(&mut self, data: &Data, events: &mut impl Events) {
        if let Some(increment) = self.window.give(data.length) {
            frame::push_window_update(&mut self.output, 0, increment);
        }
        let Some(index) = self.find(data.stream) else { return };
        events.frames(self.streams[index].tag, HEADER + data.length as usize);
        if data.ends {
            return self.end(index, events);
        }
        let stream = &mut self.streams[index];
        let read = if stream.is_held { data.length - data.body } else { data.length };
        if let Some(increment) = stream.window.give(read) {
            frame::push_window_update(&mut self.output, data.stream, increment);
        }
    }
}
