//! What this end announces in its SETTINGS.

/// What a connection announces to its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The scheme of its requests is https.
    pub is_secure: bool,
    /// Bytes of the body of one response that the peer may send before this end takes them; 1 to 2³¹ − 1.
    pub stream_window: u32,
    /// The same for all bodies of the connection together; 65,535 to 2³¹ − 1.
    pub connection_window: u32,
    /// Maximum bytes of a frame's payload; 16,384 to 2²⁴ − 1.
    pub max_frame_size: u32,
    /// Advice to the peer: maximum bytes of a response's headers, with 32 for each line.
    pub max_header_list: u32,
}

impl Default for Options {
    /// http; 1 MiB, 16 MiB, 16 KiB, 64 KiB.
    fn default() -> Options {
        Options {
            is_secure: false,
            stream_window: 1 << 20,
            connection_window: 16 << 20,
            max_frame_size: 16 << 10,
            max_header_list: 64 << 10,
        }
    }
}
