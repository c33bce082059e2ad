//! `is_plain_path`: whether a path is sent as it is.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// Whether quoting does not change a path with its query. False for any doubt: dot segments, an empty query, a
/// fragment, a percent sign, any character outside of ASCII, any type but str.
#[pyfunction]
pub(crate) fn is_plain_path(path: &Bound<'_, PyAny>) -> bool {
    path.cast_exact::<PyString>().is_ok_and(|path| path.to_str().is_ok_and(|path| is_plain(path.as_bytes())))
}

/// Whether quoting does not change this path.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    let mut before = 0;
    for &byte in text {
        if !(byte == b'?' || is_unchanged(byte)) || (before == b'/' && byte == b'.') {
            return false;
        }
        before = byte;
    }
    let has_empty_query = before == b'?' && text.iter().position(|&byte| byte == b'?') == Some(text.len() - 1);
    text.starts_with(b"/") && !has_empty_query
}

fn is_unchanged(byte: u8) -> bool {
    UNCHANGED[usize::from(byte)]
}

static UNCHANGED: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = stays(byte);
        byte += 1;
    }
    table
};

const fn stays(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'.' | b'~' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';')
        || matches!(byte, b'=' | b':' | b'@' | b'/' | b'-')
}
