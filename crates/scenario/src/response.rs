//! A response for expectations and extractions.

use std::cell::OnceCell;

use serde_json::Value;

/// The raw head and the decoded body. The JSON is parsed at most once, and only on request.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) body: &'a [u8],
    json: OnceCell<Option<Value>>,
}

impl<'a> Response<'a> {
    pub(crate) fn new(head: &'a [u8], body: &'a [u8]) -> Self {
        Self { head, body, json: OnceCell::new() }
    }

    /// The body as JSON, if it is JSON.
    pub(crate) fn json(&self) -> Option<&Value> {
        self.json.get_or_init(|| serde_json::from_slice(self.body).ok()).as_ref()
    }
}

/// Rejects text that is not a JSON pointer by RFC 6901.
pub(crate) fn check_pointer(pointer: &str) -> Result<(), String> {
    if !pointer.is_empty() && !pointer.starts_with('/') {
        return Err(format!("not a JSON pointer: it begins with /, or is empty for the whole body; it is {pointer:?}"));
    }
    let mut escapes = pointer.split('~').skip(1);
    if escapes.any(|escape| !escape.starts_with(['0', '1'])) {
        return Err(format!("not a JSON pointer: ~ is written ~0, and / in a name ~1; it is {pointer:?}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Response, check_pointer};

    #[test]
    fn a_body_is_json_or_not() {
        assert_eq!(Response::new(b"", b"[1]").json().map(ToString::to_string), Some("[1]".into()));
        for body in ["", "[1] x", "\u{feff}[1]"] {
            assert!(Response::new(b"", body.as_bytes()).json().is_none(), "{body}");
        }
    }

    #[test]
    fn pointers_are_those_of_rfc_6901() {
        for good in ["", "/", "/a/0", "/a~1b~0", "/ä b"] {
            assert_eq!(check_pointer(good), Ok(()), "{good}");
        }
        for bad in ["a", "$.a", "/a~", "/a~2", "/~/b"] {
            let error = check_pointer(bad).unwrap_err();
            assert!(error.starts_with("not a JSON pointer: ") && error.contains(bad), "{error}");
        }
    }
}
