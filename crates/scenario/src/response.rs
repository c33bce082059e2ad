//! A response for expectations and extractions.

use std::cell::OnceCell;

use serde_json::Value;

use crate::bodies::{Held, no_room};
use crate::json::Walker;
use crate::json::pointers::Pointers;
use crate::json::values::{tree, tree_bytes};

/// The raw head and the decoded body. The JSON is read at most once, and only on request.
#[derive(Debug)]
pub(crate) struct Response<'a> {
    pub(crate) head: &'a [u8],
    pub(crate) body: &'a [u8],
    pointers: &'a Pointers,
    json: OnceCell<Option<Box<[Option<&'a str>]>>>,
    tree: OnceCell<Result<(Value, Held), String>>,
}

/// Why a response has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lack {
    /// The body is JSON without it.
    Missing,
    /// The text says what is wrong with the body.
    Wrong(String),
}

impl<'a> Response<'a> {
    /// `pointers`: those whose values may be asked for.
    pub(crate) fn new(head: &'a [u8], body: &'a [u8], pointers: &'a Pointers) -> Self {
        Self { head, body, pointers, json: OnceCell::new(), tree: OnceCell::new() }
    }

    /// The value of the pointer with this place, as it is written.
    pub(crate) fn value(&self, place: usize) -> Result<&'a str, Lack> {
        let found = self.json.get_or_init(|| self.pointers.find(self.body).ok());
        let found = found.as_ref().ok_or_else(|| Lack::Wrong("the body is not JSON".into()))?;
        found[place].ok_or(Lack::Missing)
    }

    /// The body as a tree. There must be memory for it.
    pub(crate) fn tree(&self) -> Result<&Value, Lack> {
        let tree = self.tree.get_or_init(|| {
            let not_json = |_| "the body is not JSON".to_owned();
            let text = std::str::from_utf8(self.body).map_err(|_| "the body is not JSON".to_owned())?;
            let held = Held::new(tree_bytes(text)).map_err(|_| format!("its tree is too large: {}", no_room()))?;
            let mut walker = Walker::of(text);
            let tree = tree(&mut walker).map_err(not_json)?;
            walker.end().map_err(not_json)?;
            Ok((tree, held))
        });
        tree.as_ref().map(|(tree, _)| tree).map_err(|why| Lack::Wrong(why.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::{Lack, Response};
    use crate::json::pointers::Pointers;

    #[test]
    fn a_body_is_json_or_not() {
        let mut pointers = Pointers::default();
        let place = pointers.add("/0").unwrap();
        let response = Response::new(b"", b"[1]", &pointers);
        assert_eq!((response.value(place), response.tree().map(ToString::to_string)), (Ok("1"), Ok("[1]".into())));
        let wrong = Lack::Wrong("the body is not JSON".into());
        for body in ["", "[1] x", "\u{feff}[1]"] {
            let response = Response::new(b"", body.as_bytes(), &pointers);
            assert_eq!((response.value(place), response.tree()), (Err(wrong.clone()), Err(wrong.clone())), "{body}");
        }
        assert_eq!(Response::new(b"", b"[]", &pointers).value(place), Err(Lack::Missing));
    }
}
