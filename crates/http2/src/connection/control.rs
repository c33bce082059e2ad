//! Frames about the connection: SETTINGS, PING, GOAWAY, `WINDOW_UPDATE`, `RST_STREAM`.

use super::{Connection, FIRST_WINDOW, GoneAway};
use crate::error::Code;
use crate::frame::{self, ACK, Header, MAX_31, MIN_MAX_FRAME, PREFACE};
use crate::{ConnectionError, Events, StreamError};

/// Answers that may wait to be written. A peer that wants more of them does not read.
const ANSWERS: usize = 1000;

/// The numbers of settings.
mod setting {
    pub(super) const HEADER_TABLE_SIZE: u16 = 1;
    pub(super) const ENABLE_PUSH: u16 = 2;
    pub(super) const MAX_CONCURRENT_STREAMS: u16 = 3;
    pub(super) const INITIAL_WINDOW_SIZE: u16 = 4;
    pub(super) const MAX_FRAME_SIZE: u16 = 5;
    pub(super) const MAX_HEADER_LIST_SIZE: u16 = 6;
}

/// The preface, SETTINGS and `WINDOW_UPDATE`: the first bytes of a connection.
pub(super) fn start(stream_window: u32, connection_window: u32, max_frame: u32, max_header_list: u32) -> Vec<u8> {
    let settings = [
        (setting::HEADER_TABLE_SIZE, 0),
        (setting::ENABLE_PUSH, 0),
        (setting::INITIAL_WINDOW_SIZE, stream_window),
        (setting::MAX_FRAME_SIZE, max_frame),
        (setting::MAX_HEADER_LIST_SIZE, max_header_list),
    ];
    let payload: Vec<u8> = settings
        .iter()
        .flat_map(|(number, value)| number.to_be_bytes().into_iter().chain(value.to_be_bytes()))
        .collect();
    let mut out = PREFACE.to_vec();
    frame::push(&mut out, frame::SETTINGS, 0, 0, &payload);
    if connection_window > FIRST_WINDOW {
        frame::push_window_update(&mut out, 0, connection_window - FIRST_WINDOW);
    }
    out
}

impl Connection {
    pub(super) fn settings(&mut self, header: Header, payload: &[u8]) -> Result<(), ConnectionError> {
        if header.stream != 0 {
            return Err(ConnectionError::Frame(header.kind));
        }
        let (settings, rest) = payload.as_chunks::<6>();
        if !rest.is_empty() || header.has(ACK) && !settings.is_empty() {
            return Err(ConnectionError::FrameSize(header.kind));
        }
        if header.has(ACK) {
            return Ok(());
        }
        if !std::mem::replace(&mut self.reader.has_settings, true) {
            // Without a limit in its first SETTINGS, the peer has none.
            self.peer.max_streams = u32::MAX;
        }
        let mut window = self.peer.window;
        for &[a, b, value @ ..] in settings {
            self.setting(u16::from_be_bytes([a, b]), u32::from_be_bytes(value), &mut window)?;
        }
        self.answer(frame::SETTINGS, &[])?;
        // All streams are looked at once for a frame, however often it changes its mind.
        if window != self.peer.window {
            self.change_windows(window)?;
        }
        self.send_waiting();
        Ok(())
    }

    /// `window`: the new first window of streams.
    fn setting(&mut self, number: u16, value: u32, window: &mut u32) -> Result<(), ConnectionError> {
        match number {
            setting::ENABLE_PUSH if value != 0 => return Err(ConnectionError::Setting(number)),
            setting::MAX_CONCURRENT_STREAMS => self.peer.max_streams = value,
            setting::INITIAL_WINDOW_SIZE => {
                if value > MAX_31 {
                    return Err(ConnectionError::Setting(number));
                }
                *window = value;
            }
            setting::MAX_FRAME_SIZE => {
                if !(MIN_MAX_FRAME..1 << 24).contains(&value) {
                    return Err(ConnectionError::Setting(number));
                }
                self.peer.max_frame = value;
            }
            _ => {}
        }
        Ok(())
    }

    /// Opens or closes the windows of all streams.
    fn change_windows(&mut self, window: u32) -> Result<(), ConnectionError> {
        let change = i64::from(window) - i64::from(self.peer.window);
        self.peer.window = window;
        for index in 0..self.streams.len() {
            if !self.streams[index].allowance.open(change) {
                return Err(ConnectionError::WindowUpdate);
            }
            self.note_sendable(index);
        }
        Ok(())
    }

    pub(super) fn ping(&mut self, header: Header, payload: &[u8]) -> Result<(), ConnectionError> {
        if header.stream != 0 {
            return Err(ConnectionError::Frame(header.kind));
        }
        if payload.len() != 8 {
            return Err(ConnectionError::FrameSize(header.kind));
        }
        if header.has(ACK) { Ok(()) } else { self.answer(header.kind, payload) }
    }

    /// Appends an answer to a frame of the peer.
    fn answer(&mut self, kind: u8, payload: &[u8]) -> Result<(), ConnectionError> {
        self.answers += 1;
        if self.answers > ANSWERS {
            return Err(ConnectionError::Flood);
        }
        frame::push(&mut self.output, kind, ACK, 0, payload);
        Ok(())
    }

    pub(super) fn go_away(
        &mut self,
        header: Header,
        payload: &[u8],
        events: &mut impl Events,
    ) -> Result<(), ConnectionError> {
        if header.stream != 0 {
            return Err(ConnectionError::Frame(header.kind));
        }
        let (Some((&last, rest)), size) = (payload.split_first_chunk(), ConnectionError::FrameSize(header.kind)) else {
            return Err(ConnectionError::FrameSize(header.kind));
        };
        let (&code, text) = rest.split_first_chunk().ok_or(size)?;
        let (last, code) = (u32::from_be_bytes(last) & MAX_31, Code(u32::from_be_bytes(code)));
        self.gone_away = Some(GoneAway { code, text: text.into() });
        self.is_closing = true;
        let kept = self.streams.partition_point(|stream| stream.id <= last);
        for stream in self.streams.split_off(kept) {
            self.forget_waiting(&stream);
            events.failed(stream.tag, StreamError::GoneAway(code));
        }
        Ok(())
    }

    pub(super) fn window_update(
        &mut self,
        header: Header,
        payload: &[u8],
        events: &mut impl Events,
    ) -> Result<(), ConnectionError> {
        let payload = payload.try_into().map_err(|_| ConnectionError::FrameSize(header.kind))?;
        let increment = u32::from_be_bytes(payload) & MAX_31;
        if header.stream == 0 {
            if increment == 0 || !self.allowance.open(increment.into()) {
                return Err(ConnectionError::WindowUpdate);
            }
        } else if let Some(index) = self.known(header.stream)? {
            if increment == 0 || !self.streams[index].allowance.open(increment.into()) {
                self.fail(index, StreamError::WindowUpdate, events);
            } else {
                self.note_sendable(index);
            }
        }
        if !self.sendable.is_empty() {
            self.send_waiting();
        }
        Ok(())
    }

    pub(super) fn reset(
        &mut self,
        header: Header,
        payload: &[u8],
        events: &mut impl Events,
    ) -> Result<(), ConnectionError> {
        let code = payload.try_into().map_err(|_| ConnectionError::FrameSize(header.kind))?;
        if let Some(index) = self.known(header.stream)? {
            self.fail(index, StreamError::Reset(Code(u32::from_be_bytes(code))), events);
        }
        Ok(())
    }

    /// The position of a stream, `None` if it is closed already; an error if it was never opened.
    pub(super) fn known(&self, id: u32) -> Result<Option<usize>, ConnectionError> {
        if id.is_multiple_of(2) || id >= self.next {
            return Err(ConnectionError::IdleStream(id));
        }
        Ok(self.find(id))
    }

    /// Closes a stream that has no complete response.
    pub(super) fn fail(&mut self, index: usize, error: StreamError, events: &mut impl Events) {
        if let Some(stream) = self.remove(index) {
            if let Some(code) = error.code() {
                frame::push_reset(&mut self.output, stream.id, code);
            }
            events.failed(stream.tag, error);
        }
    }
}
