use percent_encoding::percent_decode_str;
use proptest::prelude::*;

use super::{Context, Missing, Template};
use crate::definition;
use crate::feeder::Feeder;
use crate::random::Random;
use crate::scope::Scope;
use crate::session::Session;

const EXTRACTED: &str = "token";

fn feeder(cell: &str) -> Feeder {
    let (order, share, at_end) = Default::default();
    let (columns, rows) = (vec!["id".into(), "name".into()], vec![vec!["7".into(), cell.into()]]);
    Feeder::new(definition::Feeder { name: "a".into(), columns, rows, order, share, at_end }, "f").unwrap()
}

type Compile = fn(&str, Scope<'_>) -> Result<Template, String>;

fn compile(compile: Compile, text: &str, feeders: &[Feeder]) -> Result<Template, String> {
    compile(text, Scope { feeders, extracted: &[EXTRACTED.into()], ..Scope::default() })
}

/// The text with `cell` for `${a.name}` and `value` for `${token}`; user 3 in its iteration 5.
fn rendered(kind: Compile, text: &str, cell: &str, value: Option<&str>) -> Result<String, Missing> {
    let feeders = [feeder(cell)];
    let mut session = Session::new(3);
    session.begin_test(5);
    session.set_row(0, 0, 1);
    if let Some(value) = value {
        session.set_value(0, 1, Some(value)).unwrap();
    }
    let mut random = Random::new(1, 0);
    let mut out = String::new();
    let clock = || 1_772_323_200_345;
    let mut context = Context { feeders: &feeders, session: &session, random: &mut random, clock };
    compile(kind, text, &feeders).unwrap().render(&mut context, &mut out)?;
    Ok(out)
}

#[test]
fn values_stand_where_their_names_stood() {
    for (text, expected) in [
        ("", ""),
        ("${a.name}", "Ann"),
        ("/${a.id}/${a.name}${token}/", "/7/Ann0x/"),
        ("${iteration} ${user}", "5 3"),
        ("${now} ${unix} ${unix_ms}", "2026-03-01T00:00:00.345Z 1772323200 1772323200345"),
        ("Basic ${base64:${a.name}:${token}}.", "Basic QW5uOjB4."),
        ("${base64:}${base64:a$${b}${base64:${base64:a}}", "YSR7Yg==WVE9PQ=="),
        ("$${a.name}", "${a.name}"),
        ("${sha256_base64url:${base64:${token}}}", "1MF1S5F9i58DGXHHhRBTvs_3aU8An-Be5RJ-IFaoTzQ"),
        ("${hmac_sha1:${a.name}:${a.id}:x}", "05a324747f59171adb5963ccd74f27b84eb8075b"),
        ("$$${a.name}", "$${a.name}"),
        ("$ {a} $a $", "$ {a} $a $"),
        ("$${${token}}", "${0x}"),
        ("${token}$${${token}", "0x${0x"),
    ] {
        assert_eq!(rendered(Template::raw, text, "Ann", Some("0x")).unwrap(), expected, "{text}");
    }
}

#[test]
fn random_values_are_new_at_every_place() {
    let text =
        rendered(Template::raw, "${random} ${random} ${uuid} ${uuid} ${text} ${text} ${text:40}", "", None).unwrap();
    let parts: Vec<_> = text.split(' ').collect();
    assert!(parts[0] != parts[1] && parts[2] != parts[3] && parts[4] != parts[5], "{text}");
    assert!(parts[..2].iter().all(|part| part.parse::<u32>().unwrap() < 1 << 31), "{text}");
    assert!(parts[2..4].iter().all(|part| part.len() == 36), "{text}");
    assert_eq!(parts[4..].iter().map(|part| part.len()).collect::<Vec<_>>(), [12, 12, 40]);
}

#[test]
fn a_value_that_was_not_extracted_is_missing() {
    assert_eq!(rendered(Template::raw, "a${token}", "", None), Err(Missing(0)));
}

#[test]
fn mistakes_are_reported() {
    for (kind, text, begins) in [
        (Template::raw as Compile, "a${b", "${ without }"),
        (Template::raw, "${base64:${token}", "${ without }"),
        (Template::raw, "${base64:${tokne}}", "unknown variable ${tokne}"),
        (Template::raw, "${tokne}", "unknown variable ${tokne}; did you mean ${token}?"),
        (Template::raw, "${hmac_sha256:${token}}", "it needs a key and a text, as in ${hmac_sha256:KEY:TEXT}"),
        (Template::raw, "${md5:${md5:${md5:${md5:${md5:a}}}}}", "more than 4 functions are in each other"),
        (Template::raw, "${sha2:a}", "unknown variable ${sha2:a}"),
        (Template::path, "/a\nb", "it has a control character"),
        (Template::json, "{", "it is not JSON: EOF"),
        (Template::json, "{\"a\": \"${token}}", "it is not JSON"),
        (Template::json, r#"["\${token}"]"#, "it is not JSON"),
    ] {
        let error = compile(kind, text, &[]).unwrap_err();
        assert!(error.starts_with(begins), "{text}: {error}");
    }
}

#[test]
fn the_author_s_part_of_a_path_keeps_its_meaning() {
    let path = |text| rendered(Template::path, text, "a/b?c=d&e %\u{e4}", Some("")).unwrap();
    assert_eq!(path("/x?q=1&r=%20/;:@"), "/x?q=1&r=%20/;:@");
    assert_eq!(path("/x y/\u{e4}"), "/x%20y/%C3%A4");
    assert_eq!(path("/${base64:${a.id}}"), "/Nw%3D%3D");
    assert_eq!(path("/${now}"), "/2026-03-01T00%3A00%3A00.345Z");
    assert_eq!(path("/${a.name}?${a.id}"), "/a%2Fb%3Fc%3Dd%26e%20%25%C3%A4?7");
}

#[test]
fn json_values_are_escaped_in_strings_and_raw_elsewhere() {
    let json = |text| rendered(Template::json, text, "\"\\\n", Some("[1]")).unwrap();
    assert_eq!(json(r#"{"a": "${a.name}", "b": ${token}}"#), r#"{"a": "\"\\\n", "b": [1]}"#);
    assert_eq!(json(r#"["\"${a.name}", ${a.id}, "\\", ${token}]"#), r#"["\"\"\\\n", 7, "\\", [1]]"#);
    assert_eq!(json(r#"{"${a.name}": "\\${token}"}"#), r#"{"\"\\\n": "\\[1]"}"#);
}

#[test]
fn every_ascii_character_is_fine_in_a_json_string() {
    let ascii: String = (0..0x80_u8).map(char::from).collect();
    let json = rendered(Template::json, r#"["${token}"]"#, "", Some(&ascii)).unwrap();
    assert_eq!(serde_json::from_str::<[String; 1]>(&json).unwrap(), [ascii]);
}

#[test]
fn a_template_knows_whether_it_is_constant_and_what_it_uses() {
    let feeders = [feeder("")];
    let new = |text| compile(Template::raw, text, &feeders).unwrap();
    assert_eq!(new("").constant(), Some(""));
    assert_eq!(new("a$${b").constant(), Some("a${b"));
    assert_eq!(new("${uuid}").constant(), None);
    assert_eq!((new("/a${uuid}").start(), new("${uuid}a").start()), ("/a", ""));
    assert_eq!(new("${a.id}${uuid}${a.name}").feeders().collect::<Vec<_>>(), [0, 0]);
    assert_eq!(new("${base64:${a.id}}").feeders().collect::<Vec<_>>(), [0]);
}

proptest! {
    #[test]
    fn any_text_can_be_written_as_a_literal(text in "(\\$|\\{|\\}|a|\u{e4}|\\PC)*") {
        let escaped = text.replace("${", "$${");
        let template = compile(Template::raw, &escaped, &[]).unwrap();
        prop_assert_eq!(template.constant(), Some(text.as_str()));
    }

    #[test]
    fn a_value_in_a_path_decodes_to_itself_and_adds_nothing(value in any::<String>()) {
        let path = rendered(Template::path, "/${token}/", "", Some(&value)).unwrap();
        let inner = path.strip_prefix('/').unwrap().strip_suffix('/').unwrap();
        prop_assert_eq!(percent_decode_str(inner).decode_utf8().unwrap(), value.as_str());
        prop_assert!(inner.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~%".contains(&byte)));
    }

    #[test]
    fn a_value_in_a_json_string_parses_to_itself(value in "([\\x00-\\x20\"\\\\]|\\PC)*") {
        let json = rendered(Template::json, r#"{"a": "<${token}>"}"#, "", Some(&value)).unwrap();
        let parsed: serde_json::Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&parsed["a"], &format!("<{value}>"));
    }
}
