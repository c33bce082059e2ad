//! Conditions of steps and repetitions: `${job}`, `${job} == done`, `${job} != done`.

use crate::filling::Filling;
use crate::scope::Scope;
use crate::template::Template;

/// A compiled condition. A variable without a value is an empty text.
#[derive(Debug)]
pub(crate) struct Condition {
    left: Template,
    right: Template,
    /// Whether it holds if both sides are equal.
    equal: bool,
}

impl Condition {
    /// The error says what is wrong with the text.
    pub(crate) fn new(text: &str, scope: Scope<'_>) -> Result<Self, String> {
        let (left, right, equal) = match (text.split_once(" == "), text.split_once(" != ")) {
            (Some((left, right)), None) => (side(left), side(right), true),
            (None, Some((left, right))) => (side(left), side(right), false),
            // A single variable: it has a value.
            (None, None) if is_variable(text.trim()) => (text.trim(), "", false),
            _ => {
                let valid = r#"valid are "${job}" (it has a value), "${job} == done" and "${job} != done""#;
                return Err(format!("{text:?} is no condition; {valid}"));
            }
        };
        let (left, right) = (Template::fixed(left, scope)?, Template::fixed(right, scope)?);
        if left.constant().is_some() && right.constant().is_some() {
            return Err("it is always the same; a condition has a variable".into());
        }
        Ok(Self { left, right, equal })
    }

    /// Whether it holds for the user.
    pub(crate) fn holds(&self, filling: &mut Filling<'_>) -> bool {
        filling.equal(&self.left, &self.right) == self.equal
    }

    /// The feeders whose cells it uses.
    pub(crate) fn feeders(&self) -> impl Iterator<Item = u32> {
        self.left.feeders().chain(self.right.feeders())
    }
}

/// One side, without the quotes that it may be in.
fn side(text: &str) -> &str {
    let text = text.trim();
    let inside = |quote| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inside('\'').or_else(|| inside('"')).unwrap_or(text)
}

/// Whether a text is one variable, and nothing else.
fn is_variable(text: &str) -> bool {
    let inside = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
    inside.is_some_and(|inside| !inside.is_empty() && !inside.contains(['{', '}']))
}

#[cfg(test)]
mod tests {
    use super::Condition;
    use crate::filling::{Filling, Sources};
    use crate::random::Random;
    use crate::scope::Scope;
    use crate::session::Session;

    fn scope(names: &[String]) -> Scope<'_> {
        Scope { extracted: names, ..Scope::default() }
    }

    #[test]
    fn a_condition_compares_texts() {
        let names = ["job".to_owned(), "none".into()];
        let mut session = Session::new(3);
        session.set_value(0, 2, Some("done")).unwrap();
        for (text, expected) in [
            ("${job}", true),
            (" ${none} ", false),
            ("${job} == done", true),
            ("${job} == 'done'", true),
            ("${job} == \"done \"", false),
            ("${job} != done", false),
            ("${none} == ''", true),
            ("${none} != done", true),
            ("${user} == 3", true),
            ("done == ${job}", true),
            ("${job}-${user} == done-3", true),
            ("${job} != ${none}", true),
        ] {
            let condition = Condition::new(text, scope(&names)).unwrap();
            let (mut random, mut filled) = (Random::new(0, 0), String::new());
            let sources = Sources { feeders: &[], random: &mut random, text: &mut filled };
            assert_eq!(condition.holds(&mut Filling { session: &session, sources }), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        let names = ["job".to_owned()];
        for (text, begins) in [
            ("${job} = done", "\"${job} = done\" is no condition; valid are "),
            ("${job} < 3", "\"${job} < 3\" is no condition; valid are "),
            ("done", "\"done\" is no condition; valid are "),
            ("${job} == a != b", "\"${job} == a != b\" is no condition; valid are "),
            ("", "\"\" is no condition; valid are "),
            ("a == b", "it is always the same; a condition has a variable"),
            ("${uuid} == a", "${uuid} is a new value at each place"),
            ("${tasks}", "unknown variable ${tasks}; known are job, "),
            ("${jobs}", "unknown variable ${jobs}; did you mean ${job}?"),
        ] {
            let error = Condition::new(text, scope(&names)).map(|_| ()).unwrap_err();
            assert!(error.starts_with(begins), "{error}");
        }
    }
}
