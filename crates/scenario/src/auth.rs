//! Who sends a request, where a fixed header cannot say it: tokens that are fetched, signatures, answers to challenges.
//!
//! - `token`: the request for a token of OAuth 2.0, and the reply. `sigv4`: AWS Signature Version 4. `digest`: challenges
//!   by RFC 7616.
//!
//! The header lines are added to a request that is already encoded, so other requests pay nothing for them.

pub(crate) mod digest;
pub(crate) mod sigv4;
pub(crate) mod token;

use digest::Digest;
use sigv4::Signature;
use token::TokenForm;

use crate::DefinitionError;
use crate::definition;
use crate::names::Source;
use crate::scope::Scope;
use crate::template::Template;

/// How a step's request says who sends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// With a token of this service; indexes [`Scenario::token_services`](crate::Scenario::token_services).
    Token(usize),
    /// Each request is signed.
    Signature,
    /// With the answer to a challenge of the target.
    Digest,
}

/// The texts of a step for its scheme.
#[derive(Debug)]
pub(crate) enum Auth {
    Token(usize, TokenForm),
    Signature(Signature),
    Digest(Digest),
}

impl Auth {
    /// `number`: of the definition's `auths`.
    pub(crate) fn new(given: &[definition::Auth], number: usize, scope: Scope<'_>) -> Result<Self, DefinitionError> {
        let field = format!("auths[{number}]");
        match given.get(number) {
            None => Err(DefinitionError::new("auths", format!("there is no number {number}"))),
            Some(definition::Auth::Oauth2(form)) => {
                Ok(Auth::Token(number, TokenForm::new(form, scope, &format!("{field}.oauth2"))?))
            }
            Some(definition::Auth::AwsSigv4(keys)) => {
                Ok(Auth::Signature(Signature::new(keys, scope, &format!("{field}.aws_sigv4"))?))
            }
            Some(definition::Auth::Digest(login)) => {
                Ok(Auth::Digest(Digest::new(login, scope, &format!("{field}.digest"))?))
            }
        }
    }

    pub(crate) fn scheme(&self) -> Scheme {
        match self {
            Auth::Token(number, _) => Scheme::Token(*number),
            Auth::Signature(_) => Scheme::Signature,
            Auth::Digest(_) => Scheme::Digest,
        }
    }

    /// The texts with variables.
    pub(crate) fn templates(&self) -> Vec<&Template> {
        match self {
            Auth::Token(_, form) => form.templates(),
            Auth::Signature(signature) => signature.templates(),
            Auth::Digest(digest) => digest.templates(),
        }
    }
}

/// A text of credentials, which has the same value wherever it is used in an iteration.
fn fixed(text: &str, scope: Scope<'_>, field: &str) -> Result<Template, DefinitionError> {
    let wrong = |reason: String| DefinitionError::new(field, reason);
    let template = Template::raw(text, scope).map_err(wrong)?;
    match template.sources().into_iter().find_map(Source::new_each_time) {
        None => Ok(template),
        Some(name) => Err(wrong(format!("${{{name}}} has another value each time, which credentials cannot have"))),
    }
}

/// Adds a line at the end of an encoded head. Returns its new length.
pub fn add_line(request: &mut Vec<u8>, head: usize, name: &str, value: &str) -> usize {
    let line = format!("{name}: {value}\r\n");
    let end = head - 2;
    request.splice(end..end, line.bytes());
    head + line.len()
}

/// Method and target of an encoded request; of a whole URL, which a proxy gets, what follows the host.
fn request_line(head: &[u8]) -> (&str, &str) {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = std::str::from_utf8(line).unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split_once("://").map_or(target, |(_, rest)| rest.find('/').map_or("/", |at| &rest[at..]));
    (method, path)
}

/// Lower-case hexadecimal digits.
fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
    digits.map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::{add_line, hex, request_line};

    #[test]
    fn a_line_is_added_at_the_end_of_the_head() {
        let mut request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\nbody".to_vec();
        let head = add_line(&mut request, 27, "Authorization", "Bearer x");
        assert_eq!(request, b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\nbody");
        assert_eq!(&request[head..], b"body");
    }

    #[test]
    fn the_target_of_a_proxy_has_its_path() {
        for (head, expected) in [
            ("GET /a?b HTTP/1.1\r\n\r\n", ("GET", "/a?b")),
            ("PUT http://h:1/a HTTP/1.1\r\n\r\n", ("PUT", "/a")),
            ("OPTIONS * HTTP/1.1\r\n\r\n", ("OPTIONS", "*")),
            ("OPTIONS http://h HTTP/1.1\r\n\r\n", ("OPTIONS", "/")),
        ] {
            assert_eq!(request_line(head.as_bytes()), expected);
        }
        assert_eq!(hex(&[0, 0x9f, 255]), "009fff");
    }
}
