//! How much may be done before others have their turn.

/// What is left of a share of work. A body may grow a thousandfold when it is decoded, so bytes that were read say little
/// about the time that they take: decoded bytes and messages are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work(u64);

impl Work {
    /// What a message costs besides its bytes.
    const MESSAGE: u64 = 256;

    /// As much as there is.
    pub fn all() -> Work {
        Work(u64::MAX)
    }

    /// As much as this many bytes.
    pub fn of(bytes: u64) -> Work {
        Work(bytes)
    }

    /// Whether more may be done.
    pub fn is_left(self) -> bool {
        self.0 > 0
    }

    /// The bytes that are left.
    pub fn left(self) -> u64 {
        self.0
    }

    /// Counts bytes, as far as there is work left.
    pub fn spend(&mut self, bytes: u64) {
        self.0 = self.0.saturating_sub(bytes);
    }

    /// Counts a message of so many bytes.
    pub fn spend_message(&mut self, bytes: usize) {
        self.spend(bytes as u64 + Work::MESSAGE);
    }

    /// Nothing more is done now.
    pub fn end(&mut self) {
        self.0 = 0;
    }
}
