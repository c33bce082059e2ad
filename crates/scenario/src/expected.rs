//! The JSON value that an expectation asks for. Its texts may have variables.

use serde_json::{Number, Value};

use crate::filling::Filling;
use crate::json::values::{is_number, text_of};
use crate::json::{Read, Walker};
use crate::scope::Scope;
use crate::template::Template;

/// A compiled value.
#[derive(Debug)]
pub(crate) enum Expected {
    Null,
    Bool(bool),
    Number(Number),
    Text(Template),
    List(Box<[Expected]>),
    Object(Box<[(String, Expected)]>),
}

impl Expected {
    /// The error says what is wrong with a text.
    pub(crate) fn new(value: Value, scope: Scope<'_>) -> Result<Self, String> {
        Ok(match value {
            Value::Null => Expected::Null,
            Value::Bool(value) => Expected::Bool(value),
            Value::Number(value) => Expected::Number(value),
            Value::String(text) => Expected::Text(Template::fixed(&text, scope)?),
            Value::Array(items) => {
                Expected::List(items.into_iter().map(|item| Self::new(item, scope)).collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let member = |(name, value): (String, Value)| Ok((fixed_name(&name)?, Self::new(value, scope)?));
                Expected::Object(members.into_iter().map(member).collect::<Result<_, String>>()?)
            }
        })
    }

    /// Its texts.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        match self {
            Expected::Text(template) => vec![template],
            Expected::List(items) => items.iter().flat_map(Self::templates).collect(),
            Expected::Object(members) => members.iter().flat_map(|(_, value)| value.templates()).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether a value is equal to this one as JSON: 1 and 1.0 are the same number, and the order of an object's members
    /// does not matter. A text with variables is equal to each value that an extraction would read as that text: values
    /// of variables have no type. `raw`: the value as it is written.
    pub(crate) fn is(&self, raw: &str, filling: &mut Filling<'_>) -> bool {
        self.equals(&mut Walker::of(raw), filling).unwrap_or(false)
    }

    fn equals(&self, walker: &mut Walker<'_>, filling: &mut Filling<'_>) -> Read<bool> {
        match (walker.peek(), self) {
            (b'{', Expected::Object(members)) => {
                let (mut equal, mut has_others) = (vec![false; members.len()], false);
                walker.object(|walker, name| {
                    let name = name.get();
                    let Some(place) = members.iter().position(|(known, _)| *known == name) else {
                        has_others = true;
                        return walker.skip();
                    };
                    equal[place] = members[place].1.equals(walker, filling)?;
                    Ok(())
                })?;
                Ok(!has_others && equal.into_iter().all(|is_equal| is_equal))
            }
            (b'[', Expected::List(items)) => {
                let (mut is_equal, mut count) = (true, 0);
                walker.array(|walker, index| {
                    count += 1;
                    match items.get(index) {
                        Some(item) if is_equal => is_equal = item.equals(walker, filling)?,
                        _ => walker.skip()?,
                    }
                    Ok(())
                })?;
                Ok(is_equal && count == items.len())
            }
            (first, Expected::Text(template)) => match template.constant() {
                Some(text) if first == b'"' => Ok(walker.string()?.get() == text),
                Some(_) => walker.skip().map(|()| false),
                None => {
                    let raw = walker.raw()?;
                    Ok(text_of(raw).is_some_and(|text| text == filling.fill(template)))
                }
            },
            (b'-' | b'0'..=b'9', Expected::Number(number)) => Ok(is_number(walker.number()?, number)),
            (b't' | b'f', Expected::Bool(yes)) => Ok((walker.word()? == "true") == *yes),
            (b'n', Expected::Null) => walker.word().map(|_| true),
            _ => walker.skip().map(|()| false),
        }
    }

    /// The value with its texts filled, for people.
    #[cold]
    pub(crate) fn shown(&self, filling: &mut Filling<'_>) -> Value {
        match self {
            Expected::Null => Value::Null,
            Expected::Bool(value) => Value::Bool(*value),
            Expected::Number(number) => Value::Number(number.clone()),
            Expected::Text(template) => Value::String(filling.fill(template).to_owned()),
            Expected::List(items) => items.iter().map(|item| item.shown(filling)).collect(),
            Expected::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), value.shown(filling))).collect()
            }
        }
    }
}

/// The name of a member, with `$${` as in other texts.
fn fixed_name(name: &str) -> Result<String, String> {
    let none = Scope::default();
    let template = Template::raw(name, none);
    let text = template.ok().and_then(|template| template.constant().map(str::to_owned));
    text.ok_or_else(|| format!("variables are not replaced in the name {name:?}; for the text ${{ write $${{"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::Expected;
    use crate::filling::{Filling, Sources};
    use crate::json::tests::some_json;
    use crate::random::Random;
    use crate::scope::Scope;
    use crate::session::Session;

    const SCOPE: Scope<'_> =
        Scope { feeders: &[], extracted: &[], later: &[], repeated: &[], repetition: None, depth: 0, tokens: &[] };

    /// Whether the text is the expected value, for user 3.
    fn is(expected: Value, raw: &str) -> bool {
        let (mut random, mut text) = (Random::new(0, 0), String::new());
        let sources = Sources { feeders: &[], random: &mut random, text: &mut text };
        Expected::new(expected, SCOPE).unwrap().is(raw, &mut Filling { session: &Session::new(3), sources })
    }

    #[test]
    fn a_text_with_variables_is_equal_to_what_an_extraction_would_read_as_that_text() {
        for (expected, equal, other) in [
            (json!("${user}"), &[r#""3""#, "3", r#""\u0033""#][..], &[r#""30""#, "30", "null", "[3]", "3.5"][..]),
            (json!("<${user}>"), &[r#""<3>""#], &[r#""<${user}>""#, "3"]),
            (json!("$${user}"), &[r#""${user}""#], &["3", r#""3""#]),
            (json!("3"), &[r#""3""#], &["3"]),
            (json!({"a": ["${user}", {"b": "u${user}"}], "c": 1}), &[r#"{"c":1.0,"a":[3,{"b":"u3"}]}"#], &["{}"]),
            (json!({"$${a": true}), &[r#"{"${a": true}"#], &[r#"{"$${a": true}"#]),
        ] {
            for raw in equal {
                assert!(is(expected.clone(), raw), "{expected} {raw}");
            }
            for raw in other {
                assert!(!is(expected.clone(), raw), "{expected} {raw}");
            }
        }
    }

    #[test]
    fn a_number_beyond_those_of_the_machine_is_no_other_number() {
        assert!(!is(json!(1), "1e400"));
    }

    #[test]
    fn variables_in_names_and_unknown_ones_are_refused() {
        for (value, begins) in [
            (json!([{"a${user}": 1}]), "variables are not replaced in the name \"a${user}\""),
            (json!({"a": ["${nobody}"]}), "unknown variable ${nobody}; known are"),
            (json!("${uuid}"), "${uuid} is a new value at each place, so nothing can be equal to it"),
        ] {
            let error = Expected::new(value, SCOPE).unwrap_err();
            assert!(error.starts_with(begins), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_value_is_equal_to_itself_and_not_to_a_list_of_it(value in some_json(), pretty in any::<bool>()) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            // What serde reads of it: its own numbers differ from those written in the last digit.
            let value: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(is(value.clone(), &text));
            let within = format!("[{text}]");
            prop_assert!(!is(value, &within));
        }
    }
}
