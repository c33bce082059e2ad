//! Names of variables, and the sources of their values.

/// Names that every text may use.
pub(crate) const BUILT_IN: [(&str, Source); 4] =
    [("iteration", Source::Iteration), ("random", Source::Random), ("user", Source::User), ("uuid", Source::Uuid)];

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
    /// A new number in 0..2^31 for each occurrence.
    Random,
    /// A new UUID for each occurrence.
    Uuid,
}

/// Rejects names that are ambiguous, or that are not possible between `${` and `}`.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    if BUILT_IN.iter().any(|(known, _)| *known == name) {
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
        for bad in ["", "a.b", "a b", "a}", "${", "uuid", "user", "iteration", "random"] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
