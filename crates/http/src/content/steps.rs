//! A whole body that is decoded in steps, because it may grow to more than fits into one turn.

use super::{Decoding, decode};
use crate::{DecodeError, Work};

/// Bytes of a body and of its text, and of each layer between them, that are decoded in one step.
const AT_ONCE: u64 = 256 << 10;
/// Bytes of the body that are passed to the decoders at a time.
const PORTION: usize = 64 << 10;

/// Decodes a body that is there as a whole, as far as the work allows it each time.
pub struct StepDecoder {
    /// None: not begun yet.
    decoding: Option<Decoding>,
    encoding: Vec<u8>,
    limit: u64,
    /// Bytes of the body that were passed on.
    passed: usize,
    /// The end was passed on.
    has_ended: bool,
    /// The text is kept, not only counted.
    keeps: bool,
    text: Vec<u8>,
    length: u64,
}

impl StepDecoder {
    /// Decodes the codings of a Content-Encoding value, with the limit of [`decode`]. `keeps`: the text; otherwise only its
    /// length is known in the end.
    pub fn new(encoding: &[u8], limit: u64, keeps: bool) -> StepDecoder {
        StepDecoder {
            decoding: None,
            encoding: encoding.into(),
            limit,
            passed: 0,
            has_ended: false,
            keeps,
            text: Vec::new(),
            length: 0,
        }
    }

    /// Goes on as long as there is work left; `body` is the same each time. Returns whether it is complete.
    pub fn go_on(&mut self, body: &[u8], work: &mut Work) -> Result<bool, DecodeError> {
        if !work.is_left() {
            return Ok(false);
        }
        if self.decoding.is_none() {
            if self.at_once(body, work)? {
                return Ok(true);
            }
            self.decoding = Some(Decoding::new(&self.encoding, self.limit));
        }
        self.step(body, work)
    }

    /// Decodes a body that stays small, as most do: without the cost of steps. Returns false if it does not.
    fn at_once(&mut self, body: &[u8], work: &mut Work) -> Result<bool, DecodeError> {
        let most = self.limit.min(AT_ONCE);
        if body.len() as u64 > AT_ONCE {
            return Ok(false);
        }
        let text = match decode(&self.encoding, body, most) {
            Err(DecodeError::TooLarge { limit }) if limit == most && most < self.limit => {
                work.spend(most);
                return Ok(false);
            }
            decoded => decoded?,
        };
        work.spend(body.len().max(text.len()) as u64);
        self.length = text.len() as u64;
        self.text = text;
        Ok(true)
    }

    fn step(&mut self, body: &[u8], work: &mut Work) -> Result<bool, DecodeError> {
        let Some(decoding) = &mut self.decoding else { return Ok(false) };
        loop {
            while let Some(piece) = decoding.pull(work)? {
                self.length += piece.len() as u64;
                if self.keeps {
                    self.text.extend(piece);
                }
            }
            if !work.is_left() {
                return Ok(false);
            }
            let rest = &body[self.passed..];
            let portion = &rest[..rest.len().min(PORTION)];
            if !portion.is_empty() {
                decoding.push(portion);
                // Bytes that become nothing take time, too.
                work.spend(portion.len() as u64);
                self.passed += portion.len();
            } else if self.has_ended {
                return Ok(true);
            } else {
                decoding.end();
                self.has_ended = true;
            }
        }
    }

    /// Bytes in memory.
    pub fn unfinished(&self) -> usize {
        self.text.capacity()
    }

    /// The length of the text so far.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The text.
    pub fn into_text(self) -> Vec<u8> {
        self.text
    }
}
