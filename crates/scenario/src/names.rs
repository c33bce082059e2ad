//! Names of variables, and the sources of their values.

/// Names that every text may use.
pub(crate) const BUILT_IN: [(&str, Source); 8] = [
    ("iteration", Source::Iteration),
    ("now", Source::Now),
    ("random", Source::Random),
    ("text", Source::Text(12)),
    ("unix", Source::Unix),
    ("unix_ms", Source::UnixMillis),
    ("user", Source::User),
    ("uuid", Source::Uuid),
];
/// A name that only steps of a repetition may use.
pub(crate) const REPETITION: &str = "repetition";
/// Maximum letters of `${text:N}`.
const LONGEST_TEXT: u32 = 65_536;

/// The source of a variable's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A cell of the iteration's row.
    Cell { feeder: u32, column: u32 },
    /// A value that a step of the flow has extracted; its number within the flow.
    Extracted(u32),
    /// Number of the iteration, unique over all workers.
    Iteration,
    /// Number of the user, unique over all workers.
    User,
    /// How often the steps of a repetition were done before, from this number on.
    Repetition { number: u32, from: u32 },
    /// A new number in 0..2^31 for each occurrence.
    Random,
    /// A new UUID for each occurrence.
    Uuid,
    /// So many letters and digits, new ones for each occurrence.
    Text(u32),
    /// The time, as RFC 3339 writes it.
    Now,
    /// The time, in seconds since 1970.
    Unix,
    /// The time, in ms since 1970.
    UnixMillis,
}

impl Source {
    /// The name of a variable that has another value at another place or time.
    pub(crate) fn new_each_time(self) -> Option<&'static str> {
        match self {
            Source::Cell { .. }
            | Source::Extracted(_)
            | Source::Iteration
            | Source::User
            | Source::Repetition { .. } => None,
            Source::Random => Some("random"),
            Source::Uuid => Some("uuid"),
            Source::Text(_) => Some("text"),
            Source::Now => Some("now"),
            Source::Unix => Some("unix"),
            Source::UnixMillis => Some("unix_ms"),
        }
    }
}

/// The source of a variable that is always there.
pub(crate) fn built_in(name: &str) -> Result<Option<Source>, String> {
    if let Some(length) = name.strip_prefix("text:") {
        let length = length.parse().ok().filter(|length| (1..=LONGEST_TEXT).contains(length));
        let why = || format!("${{{name}}} needs a number of letters from 1 to {LONGEST_TEXT}, as in ${{text:12}}");
        return length.map(|length| Some(Source::Text(length))).ok_or_else(why);
    }
    Ok(BUILT_IN.iter().find(|(known, _)| *known == name).map(|&(_, source)| source))
}

/// The first number of `${repetition}` or `${repetition:1}`.
pub(crate) fn counted(name: &str) -> Result<Option<u32>, String> {
    let Some(rest) = name.strip_prefix(REPETITION) else { return Ok(None) };
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Ok(Some(0)),
        None => Ok(None),
        Some(from) => {
            from.parse().map(Some).map_err(|_| format!("${{{name}}} needs a number, as in ${{repetition:1}}"))
        }
    }
}

/// Rejects names that are ambiguous, or that are not possible between `${` and `}`.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if name == REPETITION || BUILT_IN.iter().any(|(known, _)| *known == name) {
        return Err(format!("{name} is a variable that is always there; choose another name"));
    }
    if name.is_empty() || !name.chars().all(|letter| letter.is_alphanumeric() || letter == '_' || letter == '-') {
        return Err(format!("a name has letters, digits, _ and - only; it is {name:?}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_name;

    #[test]
    fn names_that_would_be_ambiguous_are_refused() {
        for good in ["a", "A_9", "x-y", "näme"] {
            assert_eq!(check_name(good), Ok(()));
        }
        for bad in [
            "",
            "a.b",
            "a b",
            "a}",
            "${",
            "a:b",
            "uuid",
            "user",
            "iteration",
            "random",
            "text",
            "now",
            "unix",
            "unix_ms",
            "repetition",
        ] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
