//! The JSON pointers of a step (RFC 6901): all of them are found in one pass over a body.

use super::{Read, Walker};

/// Pointers, and the place of each among what is found.
#[derive(Debug, Default)]
pub(crate) struct Pointers {
    root: Node,
    count: usize,
}

#[derive(Debug, Default)]
struct Node {
    /// The pointer that ends here.
    place: Option<usize>,
    /// By the next part of the pointer.
    members: Vec<(String, Node)>,
}

impl Pointers {
    /// Returns the place of this pointer. The error says why it is none.
    pub(crate) fn add(&mut self, pointer: &str) -> Result<usize, String> {
        check(pointer)?;
        let mut node = &mut self.root;
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let known = node.members.iter().position(|(name, _)| *name == part);
            let index = known.unwrap_or_else(|| {
                node.members.push((part, Node::default()));
                node.members.len() - 1
            });
            node = &mut node.members[index].1;
        }
        Ok(*node.place.get_or_insert_with(|| {
            self.count += 1;
            self.count - 1
        }))
    }

    /// The value of each pointer, as it is written. The error says why the body is not JSON.
    pub(crate) fn find<'a>(&self, body: &'a [u8]) -> Read<Box<[Option<&'a str>]>> {
        let mut found = vec![None; self.count].into_boxed_slice();
        let mut walker = Walker::new(body)?;
        self.root.find(&mut walker, &mut found)?;
        walker.end()?;
        Ok(found)
    }
}

impl Node {
    fn find<'a>(&self, walker: &mut Walker<'a>, found: &mut [Option<&'a str>]) -> Read<()> {
        let first = walker.peek();
        let start = walker.at;
        match first {
            b'{' if !self.members.is_empty() => walker.object(|walker, name| match self.member(&name.get()) {
                Some(node) => {
                    // Of several members with one name, the last one counts.
                    node.forget(found);
                    node.find(walker, found)
                }
                None => walker.skip(),
            })?,
            b'[' if !self.members.is_empty() => walker.array(|walker, index| match self.item(index) {
                Some(node) => node.find(walker, found),
                None => walker.skip(),
            })?,
            _ => walker.skip()?,
        }
        if let Some(place) = self.place {
            found[place] = Some(&walker.text[start..walker.at]);
        }
        Ok(())
    }

    fn member(&self, name: &str) -> Option<&Node> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, node)| node)
    }

    fn item(&self, index: usize) -> Option<&Node> {
        let is_index = |part: &str| part == "0" || !part.starts_with(['0', '+']);
        let is_it = |part: &str| is_index(part) && part.parse() == Ok(index);
        self.members.iter().find(|(part, _)| is_it(part)).map(|(_, node)| node)
    }

    fn forget(&self, found: &mut [Option<&str>]) {
        if let Some(place) = self.place {
            found[place] = None;
        }
        self.members.iter().for_each(|(_, node)| node.forget(found));
    }
}

/// Rejects text that is not a JSON pointer.
fn check(pointer: &str) -> Result<(), String> {
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
    use proptest::prelude::*;
    use serde_json::Value;

    use super::Pointers;

    fn found<'a>(pointers: &[&str], body: &'a str) -> Option<Vec<Option<&'a str>>> {
        let mut all = Pointers::default();
        let places: Vec<_> = pointers.iter().map(|pointer| all.add(pointer).unwrap()).collect();
        let found = all.find(body.as_bytes()).ok()?;
        Some(places.into_iter().map(|place| found[place]).collect())
    }

    #[test]
    fn pointers_are_those_of_rfc_6901() {
        for good in ["", "/", "/a/0", "/a~1b~0", "/ä b"] {
            assert!(Pointers::default().add(good).is_ok(), "{good}");
        }
        for bad in ["a", "$.a", "/a~", "/a~2", "/~/b"] {
            let error = Pointers::default().add(bad).unwrap_err();
            assert!(error.starts_with("not a JSON pointer: ") && error.contains(bad), "{error}");
        }
    }

    #[test]
    fn all_pointers_are_found_in_one_pass_as_they_are_written() {
        let body = r#" {"a": [1, {"b": 2.50}, "x"], "a/b": {"~": null}, "": true, "\u00e4": [ ] } "#;
        let pointers = ["/a/1/b", "/a/2", "/a", "/a/1/b", "/a~1b/~0", "/", "/ä", "/a/01", "/a/+1", "/a/9", "/b", ""];
        let whole = body.trim();
        let list = r#"[1, {"b": 2.50}, "x"]"#;
        let expected = [
            Some("2.50"),
            Some(r#""x""#),
            Some(list),
            Some("2.50"),
            Some("null"),
            Some("true"),
            Some("[ ]"),
            None,
            None,
            None,
            None,
            Some(whole),
        ];
        assert_eq!(found(&pointers, body), Some(expected.into()));
    }

    #[test]
    fn the_last_of_several_members_with_one_name_counts() {
        let body = r#"{"a": {"b": 1, "c": 2}, "a": {"c": 3}}"#;
        assert_eq!(found(&["/a/b", "/a/c"], body), Some(vec![None, Some("3")]));
    }

    #[test]
    fn what_follows_the_value_is_checked_too() {
        for body in ["", "[1", "[1] x", "{\"a\": 1,}", "\u{feff}[1]", "[1, 01]"] {
            assert_eq!(found(&["/0"], body), None, "{body}");
        }
        assert!(Pointers::default().find(b"[\"\xff\"]").is_err());
    }

    proptest! {
        #[test]
        fn pointers_find_what_a_tree_has(body in "[\\[\\]{}\",:a0-2 ]{0,24}", pointer in "(/[a0-2]?){0,3}") {
            let tree: Option<Value> = serde_json::from_str(&body).ok();
            let walked = found(&[&pointer], &body);
            prop_assert_eq!(tree.is_some(), walked.is_some());
            if let (Some(tree), Some(walked)) = (tree, walked) {
                let read = walked[0].map(|raw| serde_json::from_str(raw).unwrap());
                prop_assert_eq!(tree.pointer(&pointer), read.as_ref());
            }
        }
    }
}
