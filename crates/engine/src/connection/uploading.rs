//! Requests whose bodies are sent in parts over HTTP/1.1: the head at once, each part when the caller has it.

use std::io;

use plimsoll_http::Parts;
use plimsoll_record::Outcome;

use super::{Connection, Flight, Io, Readiness, Stage, Step, late};
use crate::call::{Call, Failure};
use crate::clock::now;
use crate::protocol::{Protocol, asks_to_upgrade};
use crate::transport::Transport;

/// The body of a request, as far as the caller has written it.
#[derive(Debug)]
pub(super) struct Upload {
    parts: Parts,
    /// Framed bytes that the transport has not accepted, after `accepted` bytes that it has.
    unsent: Vec<u8>,
    accepted: usize,
    /// Bytes before `unsent`.
    before: usize,
    /// The caller has written the last part.
    has_ended: bool,
    /// Wake of the caller that waits until all is written.
    writer: Option<u64>,
}

impl Upload {
    fn has_unsent(&self) -> bool {
        self.accepted < self.unsent.len()
    }

    fn write(&mut self, transport: &mut Transport) -> io::Result<()> {
        while self.has_unsent() {
            match transport.write(&self.unsent[self.accepted..]) {
                Ok(0) => return Ok(()),
                Ok(length) => self.accepted += length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.before += self.accepted;
        self.accepted = 0;
        self.unsent.clear();
        Ok(())
    }
}

impl Flight {
    /// Prepares for the parts of its body, if it has any.
    pub(super) fn expect_parts(&mut self) {
        let wire = &self.call.wire;
        if wire.continues && !asks_to_upgrade(wire) {
            let parts = Parts::of(wire.bytes.as_slice());
            let upload = Upload { parts, unsent: Vec::new(), accepted: 0, before: 0, has_ended: false, writer: None };
            self.stream.get_or_insert_default().upload = Some(upload);
        }
    }

    /// The stage of its connection after the request may be sent.
    pub(super) fn stage(&self) -> Stage {
        match Stage::of(&self.call) {
            Stage::Exchanging if self.upload().is_some() => Stage::Uploading,
            stage => stage,
        }
    }

    fn upload(&self) -> Option<&Upload> {
        self.stream.as_ref()?.upload.as_ref()
    }

    /// Drops what is left of the body: the peer does not get it.
    fn stop_upload(&mut self) {
        self.call.wire.continues = false;
        if let Some(upload) = self.stream.as_mut().and_then(|stream| stream.upload.as_mut()) {
            (upload.has_ended, upload.accepted) = (false, 0);
            upload.unsent = Vec::new();
        }
    }

    /// Counts the parts of the body that were sent, at the end of the exchange.
    pub(crate) fn count_parts(&mut self) {
        if let Some(upload) = self.stream.as_mut().and_then(|stream| stream.upload.take()) {
            self.written += upload.before + upload.accepted;
        }
    }

    /// Bytes of the request that were sent so far.
    pub(super) fn bytes_out(&self) -> u64 {
        (self.written + self.upload().map_or(0, |upload| upload.before + upload.accepted)) as u64
    }
}

impl<P: Protocol> Connection<P> {
    /// Starts an exchange on a kept connection whose request continues.
    #[cold]
    pub(super) fn prepare_to_continue(&mut self, call: Call, sent: u64) {
        self.protocol.begin(&call.wire);
        let flight = self.flight.insert(Flight::new(call, sent));
        flight.expect_parts();
        flight.wait(sent);
        self.stage = flight.stage();
    }

    fn upload(&self) -> Option<&Upload> {
        self.flight.as_ref()?.upload()
    }

    /// Whether its request has a body in parts.
    pub(crate) fn has_upload(&self) -> bool {
        self.upload().is_some()
    }

    /// Whether more parts of the body may be written.
    pub(crate) fn takes_parts(&self) -> bool {
        self.has_upload() && self.flight.as_ref().is_some_and(|flight| flight.call.wire.continues)
    }

    /// Writes the next part of the body. `ends`: it is the last one.
    pub(crate) fn write_part(&mut self, io: &mut Io, part: &[u8], ends: bool) -> Step {
        let Some(flight) = &mut self.flight else { return Step::Wait };
        let Some(upload) = flight.stream.as_mut().and_then(|stream| stream.upload.as_mut()) else { return Step::Wait };
        upload.parts.push(part, &mut upload.unsent);
        if ends {
            upload.parts.end(&mut upload.unsent);
            upload.has_ended = true;
        }
        flight.call.wire.continues &= !ends;
        // The caller does not have this part any more.
        flight.call.wire.idempotent = false;
        if self.is_made() { self.go_on(io, Step::Wait) } else { Step::Wait }
    }

    /// Handles a readiness event of a connection that sends a body in parts.
    #[inline(never)]
    pub(super) fn upload_on(&mut self, io: &mut Io, ready: Readiness) -> Step {
        let step = if ready.readable { self.receive(io, ready.ended) } else { Step::Wait };
        self.go_on(io, step)
    }

    /// What follows `step`: parts are sent that may be sent now, and the connection is kept only if all of them were.
    pub(super) fn go_on(&mut self, io: &mut Io, step: Step) -> Step {
        if !self.has_upload() {
            return step;
        }
        match step {
            Step::Wait | Step::Streamed => {}
            Step::Done { keep } => return self.answered(keep),
            step => return step,
        }
        if let Err(error) = self.write_parts() {
            if let Some(flight) = &mut self.flight {
                flight.stop_upload();
            }
            if !self.is_streaming() && matches!(step, Step::Wait) {
                // The peer may have responded before it closed.
                return match self.receive(io, true) {
                    Step::Wait => self.lost(Failure::io(Outcome::Reset, &error)),
                    Step::Done { .. } => self.answered(false),
                    step => step,
                };
            }
        }
        self.wait_for_peer();
        match step {
            Step::Wait if self.upload().is_some_and(|upload| upload.writer.is_some()) && self.is_written() => {
                Step::Written
            }
            step => step,
        }
    }

    /// The response is complete. A peer that has not read the whole request gets no other one.
    pub(super) fn answered(&mut self, keep: bool) -> Step {
        let keep = keep && self.upload().is_none_or(|upload| upload.has_ended && !upload.has_unsent());
        if let Some(flight) = self.flight.as_mut().filter(|_| keep) {
            flight.count_parts();
        }
        Step::Done { keep }
    }

    /// Writes the head, and then as much of the body as the socket accepts.
    fn write_parts(&mut self) -> io::Result<()> {
        self.write()?;
        let (Some(flight), Some(transport)) = (&mut self.flight, &mut self.transport) else { return Ok(()) };
        if flight.held || !flight.is_written() {
            return Ok(());
        }
        let upload = flight.stream.as_mut().and_then(|stream| stream.upload.as_mut());
        upload.map_or(Ok(()), |upload| upload.write(transport))
    }

    /// Whether all bytes were passed to the socket. Of a body that ended early, nothing is left.
    pub(crate) fn is_written(&mut self) -> bool {
        let is_stopped = self.has_upload() && !self.takes_parts();
        is_stopped || !self.has_output() && self.upload().is_none_or(|upload| !upload.has_unsent())
    }

    /// The peer has accepted bytes, or has sent some: starts the read timeout. There is none while the next part is not
    /// written: the peer waits for us.
    fn wait_for_peer(&mut self) {
        let is_ours = self.takes_parts() && self.is_written();
        let (is_streaming, has_reader) = (self.is_streaming(), self.reader().is_some());
        let Some(flight) = &mut self.flight else { return };
        let is_readers = is_streaming && (is_ours || !flight.call.wire.continues);
        match is_readers {
            true if has_reader => {}
            true => flight.deadline = 0,
            false if is_ours && !flight.waits_for_continue() => flight.deadline = flight.end,
            false => flight.wait(now()),
        }
    }

    /// The peer of a streamed exchange has not accepted any bytes for too long.
    pub(super) fn expire_upload(&mut self) {
        let is_stuck = self.takes_parts() && !self.is_written();
        if let Some(flight) = self.flight.as_mut().filter(|_| is_stuck) {
            let (what, limit) = flight.passed(true);
            flight.stop_upload();
            let _ = flight.break_off(late(what, limit));
        }
    }

    /// Ends an exchange whose head was returned: its next read fails.
    pub(crate) fn break_upload(&mut self, failure: Failure) {
        if let Some(flight) = &mut self.flight {
            flight.stop_upload();
            let _ = flight.break_off(failure);
        }
    }

    /// Sets the wake of the caller that waits until all is written.
    pub(crate) fn set_writer(&mut self, wake: u64) {
        let stream = self.flight.as_mut().and_then(|flight| flight.stream.as_mut());
        if let Some(upload) = stream.and_then(|stream| stream.upload.as_mut()) {
            upload.writer = Some(wake);
        }
    }

    /// Takes the wake of the caller that waits until all is written.
    pub(crate) fn take_writer(&mut self) -> Option<u64> {
        self.flight.as_mut()?.stream.as_mut()?.upload.as_mut()?.writer.take()
    }
}
