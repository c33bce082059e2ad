//! Variables: from the names in a definition to indexes.

use std::fmt::Write;

use plimsoll_grpc::nearest;

use crate::feeder::Feeder;
use crate::functions::Function;
use crate::jwt::TokenKind;
use crate::names::{BUILT_IN, REPETITION, Source, built_in, counted};

/// Maximum names in an error message. A feeder can have very many columns.
const MOST_LISTED: usize = 20;

/// The variables that a text at one position of a flow may use.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Scope<'a> {
    pub(crate) feeders: &'a [Feeder],
    /// Variables that earlier steps extract. The index is the variable's number.
    pub(crate) extracted: &'a [String],
    /// Variables that this step and later ones extract: not available here.
    pub(crate) later: &'a [String],
    /// Those of `later` that are there nevertheless: the steps of a repetition extract them, and they have a default.
    pub(crate) repeated: &'a [String],
    /// The repetition that the step belongs to.
    pub(crate) repetition: Option<u32>,
    /// The text is that of a function, in that of another one, and so on.
    pub(crate) depth: u8,
    /// Those that users sign.
    pub(crate) tokens: &'a [TokenKind],
}

impl Scope<'_> {
    /// The source of a variable, or the error in its name.
    pub(crate) fn resolve(&self, name: &str) -> Result<Source, String> {
        if let Some(source) = built_in(name)? {
            return Ok(source);
        }
        if let Some(number) = self.extracted.iter().position(|known| known == name) {
            return Ok(Source::Extracted(number as u32));
        }
        if self.repeated.iter().any(|known| known == name)
            && let Some(place) = self.later.iter().position(|known| known == name)
        {
            return Ok(Source::Extracted((self.extracted.len() + place) as u32));
        }
        if let Some(from) = counted(name)? {
            let outside = format!("${{{name}}} counts repetitions, so it belongs into a step with repeat");
            return self.repetition.map(|number| Source::Repetition { number, from }).ok_or(outside);
        }
        if let Some((feeder, column)) = self.cell(name) {
            return Ok(Source::Cell { feeder, column });
        }
        if self.later.iter().any(|known| known == name) {
            return Err(format!("${{{name}}} has no value yet: no earlier step of the flow extracts it"));
        }
        let hint = self.meant(name).map(|meant| format!("did you mean {meant}?"));
        Err(format!("unknown variable ${{{name}}}; {}", hint.unwrap_or_else(|| format!("known are {}", self.list()))))
    }

    /// The kind of token that a name stands for.
    pub(crate) fn token(&self, name: &str) -> Option<&TokenKind> {
        let name = name.strip_prefix("jwt.")?;
        self.tokens.iter().find(|kind| kind.name == name)
    }

    fn cell(&self, name: &str) -> Option<(u32, u32)> {
        let (feeder, column) = name.split_once('.')?;
        let feeder = self.feeders.iter().position(|known| known.name == feeder)?;
        let column = self.feeders[feeder].columns.iter().position(|known| known == column)?;
        Some((feeder as u32, column as u32))
    }

    /// The variable or function that was probably meant, as a text has it.
    fn meant(&self, name: &str) -> Option<String> {
        let (word, has_argument) = name.split_once(':').map_or((name, false), |(word, _)| (word, true));
        let counts = self.repetition.map(|_| REPETITION);
        let variables = if has_argument { vec!["text".to_owned()] } else { self.names().collect() };
        let known = variables.into_iter().chain(counts.map(str::to_owned)).chain(Function::names());
        let known: Vec<String> = known.collect();
        let meant = nearest(word, known.iter().map(String::as_str))?;
        Some(match meant {
            "text" if has_argument => "${text:12}".into(),
            REPETITION if has_argument => "${repetition:1}".into(),
            _ => Function::form(meant).unwrap_or_else(|| format!("${{{meant}}}")),
        })
    }

    /// All variables that have a value here.
    fn names(&self) -> impl Iterator<Item = String> {
        let cells = self
            .feeders
            .iter()
            .flat_map(|feeder| feeder.columns.iter().map(move |column| format!("{}.{column}", feeder.name)));
        let built_in = BUILT_IN.iter().map(|(name, _)| (*name).to_owned());
        let tokens = self.tokens.iter().map(|kind| format!("jwt.{}", kind.name));
        self.extracted.iter().cloned().chain(built_in).chain(tokens).chain(cells)
    }

    fn list(&self) -> String {
        let mut names = self.names();
        let mut list = names.by_ref().take(MOST_LISTED).collect::<Vec<_>>().join(", ");
        let more = names.count();
        if more > 0 {
            write!(list, " and {more} more").expect("writing to a String does not fail");
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::{Scope, Source};
    use crate::definition;
    use crate::feeder::Feeder;

    fn feeder(name: &str, columns: &[&str]) -> Feeder {
        let columns: Vec<String> = columns.iter().map(|&column| column.into()).collect();
        let (rows, name) = (vec![vec![String::new(); columns.len()]], name.into());
        let (order, share, at_end) = Default::default();
        Feeder::new(definition::Feeder { name, columns, rows, order, share, at_end }, "f").unwrap()
    }

    #[test]
    fn names_are_found_wherever_they_are() {
        let feeders = [feeder("a", &["id"]), feeder("b", &["id", "full.name", "x y"])];
        let scope = Scope { feeders: &feeders, extracted: &["t".into(), "u".into()], ..Scope::default() };
        for (name, source) in [
            ("uuid", Source::Uuid),
            ("iteration", Source::Iteration),
            ("user", Source::User),
            ("random", Source::Random),
            ("now", Source::Now),
            ("text", Source::Text(12)),
            ("text:1", Source::Text(1)),
            ("text:65536", Source::Text(65_536)),
            ("u", Source::Extracted(1)),
            ("a.id", Source::Cell { feeder: 0, column: 0 }),
            ("b.full.name", Source::Cell { feeder: 1, column: 1 }),
            ("b.x y", Source::Cell { feeder: 1, column: 2 }),
        ] {
            assert_eq!(scope.resolve(name), Ok(source), "{name}");
        }
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_known_ones() {
        let feeders = [feeder("a", &["id", "name"])];
        let (extracted, later) = (["t".to_owned()], ["later".to_owned()]);
        let scope = Scope { feeders: &feeders, extracted: &extracted, later: &later, ..Scope::default() };
        let known = "known are t, iteration, now, random, text, unix, unix_ms, user, uuid, a.id, a.name";
        for name in ["tt", "a", "a.", "c.number", "", " t", "sum:a"] {
            assert_eq!(scope.resolve(name), Err(format!("unknown variable ${{{name}}}; {known}")));
        }
        for (name, meant) in [
            ("a.ID", "${a.id}"),
            ("b.id", "${a.id}"),
            ("uuidd", "${uuid}"),
            ("unixms", "${unix_ms}"),
            ("txt:30", "${text:12}"),
            ("shaa256:x", "${sha256:TEXT}"),
            ("sha256", "${sha256:TEXT}"),
            ("hmacsha256:k:${t", "${hmac_sha256:KEY:TEXT}"),
        ] {
            let error = format!("unknown variable ${{{name}}}; did you mean {meant}?");
            assert_eq!(scope.resolve(name), Err(error));
        }
        let repeated = Scope { repetition: Some(0), ..scope };
        for (name, meant) in [("repetitoin:1", "${repetition:1}"), ("repetitoin", "${repetition}")] {
            assert!(repeated.resolve(name).unwrap_err().ends_with(&format!("; did you mean {meant}?")), "{name}");
        }
        for name in ["text:", "text:0", "text:65537", "text:-1", "text:a"] {
            let error = scope.resolve(name).unwrap_err();
            assert!(error.starts_with(&format!("${{{name}}} needs a number of letters from 1 to 65536")), "{error}");
        }
        let too_early = "${later} has no value yet: no earlier step of the flow extracts it";
        assert_eq!(scope.resolve("later"), Err(too_early.into()));
        let many: Vec<String> = (0..30).map(|n| format!("c{n}")).collect();
        let feeders = [feeder("f", &many.iter().map(String::as_str).collect::<Vec<_>>())];
        let error = Scope { feeders: &feeders, ..Scope::default() }.resolve("x").unwrap_err();
        assert!(error.ends_with("f.c10, f.c11 and 18 more"), "{error}");
    }
}
