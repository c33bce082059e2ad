//! The header lines of a step's request.

use plimsoll_http as http;

use crate::DefinitionError;
use crate::scope::Scope;
use crate::template::Template;

/// A header with variables: its name and value.
pub(crate) type Varying = (String, Template);

/// A header line and its place in the definition.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) field: String,
    pub(crate) name: String,
    pub(crate) value: String,
}

/// The checked and encoded lines, and the values with variables.
pub(crate) fn compile_headers(
    lines: &[Line],
    scope: Scope<'_>,
) -> Result<(http::Headers, Box<[Varying]>), DefinitionError> {
    let mut fixed: Vec<(String, String)> = Vec::with_capacity(lines.len());
    let mut changes = Vec::new();
    for line in lines {
        let Line { field, name, value } = line;
        let wrong = |reason: &str| DefinitionError::new(field, reason);
        let template = Template::raw(value, scope).map_err(|reason| wrong(&reason))?;
        http::Headers::new([(name.as_bytes(), template.example().as_bytes())])
            .map_err(|error| wrong(&error.to_string()))?;
        if ["Content-Length", "Transfer-Encoding"].iter().any(|computed| name.eq_ignore_ascii_case(computed)) {
            return Err(wrong(&format!("{name} follows from the body and cannot be given")));
        }
        if let Some(text) = template.constant() {
            fixed.push((name.clone(), text.to_owned()));
            continue;
        }
        if lines.iter().filter(|other| other.name.eq_ignore_ascii_case(name)).count() > 1 {
            return Err(wrong(&format!("{name} is there more than once, which a header with a variable cannot be")));
        }
        fixed.push((name.clone(), String::new()));
        changes.push((name.clone(), template));
    }
    let headers = http::Headers::new(fixed.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())));
    Ok((headers.expect("each line has been checked"), changes.into()))
}
