use proptest::prelude::*;
use serde_json::{Value, json};

use super::values::{compact, text_of, tree, tree_bytes};
use super::{Mistake, Read, Walker};

fn check(text: &str) -> Read<()> {
    let mut walker = Walker::new(text.as_bytes())?;
    walker.skip()?;
    walker.end()
}

fn read(text: &str) -> Read<Value> {
    let mut walker = Walker::new(text.as_bytes())?;
    let value = tree(&mut walker)?;
    walker.end()?;
    Ok(value)
}

#[test]
fn a_mistake_is_said_with_its_place() {
    for (text, expected) in [
        ("", "expected value and not the end at line 1 column 1"),
        ("hello", "expected value at line 1 column 1"),
        ("[1", "expected `,` or `]` and not the end at line 1 column 3"),
        ("{\"a\" 1}", "expected `:` at line 1 column 6"),
        ("[\n  tru]", "expected true at line 2 column 3"),
        ("[1] x", "expected end of the text at line 1 column 5"),
        ("\"a\nb\"", "expected end of string at line 1 column 3"),
        ("\"\\x\"", "expected escape of JSON at line 1 column 2"),
        ("-", "expected digit and not the end at line 1 column 2"),
        ("[1,]", "expected value at line 1 column 4"),
        ("{1: 2}", "expected string at line 1 column 2"),
    ] {
        assert_eq!(check(text), Err(Mistake(expected.into())), "{text}");
    }
}

#[test]
fn lists_in_lists_have_a_limit() {
    let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(check(&nested(128)), Ok(()));
    assert!(check(&nested(129)).unwrap_err().0.contains("more than 128"));
    assert!(check(&"[".repeat(1 << 20)).is_err());
}

#[test]
fn half_a_pair_of_surrogates_is_a_replacement_and_a_pair_is_a_character() {
    for (written, expected) in [
        (r#""\ud83d""#, "\u{fffd}"),
        (r#""a\ude00b""#, "a\u{fffd}b"),
        (r#""\ud83d\ude00""#, "\u{1f600}"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
        (r#""\ud83d\n\u00e4\\ude00""#, "\u{fffd}\n\u{e4}\\ude00"),
        (r#""\"\\\/\b\f\r\t""#, "\"\\/\u{8}\u{c}\r\t"),
    ] {
        assert_eq!((check(written), text_of(written).as_deref()), (Ok(()), Some(expected)), "{written}");
    }
}

#[test]
fn a_number_beyond_all_others_is_a_number() {
    assert_eq!(text_of("1e400").as_deref(), Some("1e400"));
    assert_eq!(compact("[ 1e400, 2 ]", usize::MAX), "[1e400,2]");
    assert_eq!(read("[1e400]"), Ok(json!(["1e400"])));
}

#[test]
fn a_text_for_people_is_cut_before_it_is_copied() {
    let long = format!("[\"{}\"]", "\u{e4}\\n".repeat(1 << 20));
    let text = compact(&long, 60);
    assert!(
        text.starts_with("[\"\u{e4}\\n\u{e4}\\n") && text.chars().count() > 60 && text.len() < 4000,
        "{}",
        text.len()
    );
}

pub(crate) fn some_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c\"\\\\\u{e4}\u{1f600}\n\u{7f}]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map("[a-c\n]{0,2}", inner, 0..6).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn what_serde_reads_is_read_alike(text in "[\\[\\]{}\",:\\\\nu0-3.eE+\\-tr a]{0,24}") {
        let theirs = serde_json::from_str::<Value>(&text);
        prop_assert_eq!(theirs.is_ok(), read(&text).is_ok(), "{:?}", theirs);
        prop_assert_eq!(theirs.is_ok(), check(&text).is_ok());
        if let Ok(value) = theirs {
            prop_assert_eq!(read(&text), Ok(value));
        }
    }

    #[test]
    fn every_value_is_read_as_it_was_written(value in some_json(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        // What serde reads of it: its own numbers differ from those written in the last digit.
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read(&text), Ok(value.clone()));
        prop_assert_eq!(serde_json::from_str::<Value>(&compact(&text, usize::MAX)).unwrap(), value.clone());
        prop_assert!(tree_bytes(&text) >= text.len() as u64);
        let expected = match &value {
            Value::Null => None,
            Value::String(text) => Some(text.clone()),
            other => Some(other.to_string()),
        };
        if !value.is_object() && !value.is_array() {
            prop_assert_eq!(text_of(&text).map(std::borrow::Cow::into_owned), expected);
        }
    }
}
