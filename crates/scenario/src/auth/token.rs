//! Tokens of OAuth 2.0: the request for one, and the reply.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use plimsoll_http as http;
use serde_json::Value;

use super::fixed;
use crate::DefinitionError;
use crate::definition;
use crate::headers::{Line, compile_headers};
use crate::scope::Scope;
use crate::target::Forwarding;
use crate::template::Template;
use crate::time::nanos;

/// Characters of a reply that a message quotes.
const MOST_SHOWN: usize = 200;

/// Where tokens come from.
#[derive(Debug)]
pub struct TokenService {
    /// Its URL, for messages and for the name of its row.
    pub name: String,
    /// Indexes [`Scenario::targets`](crate::Scenario::targets).
    pub target: usize,
    /// How long before it expires a token is replaced, ns.
    pub refresh_before: u64,
    /// Timeout of a request for a token, ns.
    pub timeout: u64,
    path: String,
    headers: http::Headers,
}

/// The texts of a request for a token.
#[derive(Debug)]
pub(crate) struct TokenForm {
    authorization: Option<Template>,
    body: Template,
    refresh: Template,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The value of Authorization.
    pub authorization: Box<str>,
    /// How long it is valid, ns; `u64::MAX` if the service does not say it.
    pub lifetime: u64,
    /// What another one can be asked with.
    pub refresh_token: Option<Box<str>>,
}

impl TokenService {
    /// `forwarding`: what a proxy needs that forwards the requests.
    pub(crate) fn new(
        form: &definition::Oauth2,
        forwarding: Option<&Forwarding>,
        field: &str,
    ) -> Result<Self, DefinitionError> {
        let lines = form.headers.iter().enumerate().map(|(index, (name, value))| Line {
            field: format!("{field}.headers[{index}]"),
            name: name.clone(),
            value: value.clone(),
        });
        let to_proxy = forwarding.and_then(|forwarding| forwarding.authorization.clone());
        let to_proxy = to_proxy.map(|value| Line { field: field.into(), name: "Proxy-Authorization".into(), value });
        let nothing = Scope::default();
        let (headers, _) = compile_headers(&lines.chain(to_proxy).collect::<Vec<_>>(), nothing)?;
        let service = Self {
            name: form.name.clone(),
            target: form.target,
            refresh_before: nanos(form.refresh_before, &format!("{field}.refresh_before"))?,
            timeout: nanos(form.timeout, &format!("{field}.timeout"))?,
            path: forwarding.map_or(String::new(), |forwarding| forwarding.root.clone()) + &form.path,
            headers,
        };
        let example = service.head("localhost", &[], 0).encode(&mut Vec::new());
        example.map_err(|error| DefinitionError::new(format!("{field}.path"), error))?;
        Ok(service)
    }

    fn head<'a>(
        &'a self,
        authority: &'a str,
        extra: &'a [(&'a [u8], Option<&'a [u8]>)],
        length: u64,
    ) -> http::Request<'a> {
        http::Request {
            method: "POST",
            target: &self.path,
            authority,
            headers: &self.headers,
            extra,
            body_length: Some(length),
            content_type: Some("application/x-www-form-urlencoded"),
        }
    }

    /// The bytes of a request with this form, and the length of their head. `identity`: as [`TokenForm::identity`]
    /// makes it.
    pub(crate) fn request(&self, authority: &str, identity: &str, form: &str) -> Result<(Vec<u8>, usize), String> {
        let authorization = identity.split_once('\n').map_or("", |(authorization, _)| authorization);
        let line: (&[u8], Option<&[u8]>) = (b"Authorization", Some(authorization.as_bytes()));
        let extra = [line];
        let extra = if authorization.is_empty() { &[][..] } else { &extra[..] };
        let mut bytes = Vec::new();
        let encoded = self.head(authority, extra, form.len() as u64).encode(&mut bytes);
        let encoded = encoded.map_err(|error| error.to_string())?;
        bytes.extend_from_slice(form.as_bytes());
        Ok((bytes, encoded.head))
    }
}

impl TokenForm {
    pub(crate) fn new(form: &definition::Oauth2, scope: Scope<'_>, field: &str) -> Result<Self, DefinitionError> {
        let checked = |text: &str, name: &str| {
            let field = format!("{field}.{name}");
            fixed(text, scope, &field)?;
            Template::form(text, scope).map_err(|reason| DefinitionError::new(&field, reason))
        };
        let authorization = form.authorization.as_ref();
        let authorization = authorization.map(|text| fixed(text, scope, &format!("{field}.authorization")));
        Ok(Self {
            authorization: authorization.transpose()?,
            body: checked(&form.body, "body")?,
            refresh: checked(&form.refresh, "refresh")?,
        })
    }

    pub(crate) fn templates(&self) -> Vec<&Template> {
        self.authorization.iter().chain([&self.body, &self.refresh]).collect()
    }

    /// What tells one token from another, in order: the value of Authorization, a line break, the form.
    pub(crate) fn identity(&self) -> impl Iterator<Item = &Template> {
        self.authorization.iter().chain([&self.body])
    }

    /// Whether the value of Authorization is part of the identity.
    pub(crate) fn has_authorization(&self) -> bool {
        self.authorization.is_some()
    }

    /// The form for a new token by a refresh token, without that.
    pub(crate) fn refresh(&self) -> &Template {
        &self.refresh
    }
}

/// The form of an identity.
pub fn form_of(identity: &str) -> &str {
    identity.split_once('\n').map_or(identity, |(_, form)| form)
}

/// A form that asks with a refresh token.
pub fn with_refresh_token(form: &str, refresh_token: &str) -> String {
    format!("{form}&refresh_token={}", utf8_percent_encode(refresh_token, NON_ALPHANUMERIC))
}

/// Reads the reply to a request for a token. The error says why it has none.
pub fn read_token(status: u16, body: &[u8]) -> Result<Token, String> {
    let Ok(reply) = serde_json::from_slice::<Value>(body) else {
        let text = String::from_utf8_lossy(body);
        // A form, or JSON that was cut off, may have the token.
        let shown = if text.contains("_token") { String::new() } else { quoted(&text) };
        return Err(format!("status {status}, and the reply is not JSON{shown}"));
    };
    let text = |name: &str| reply.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(error) = text("error") {
        let why = text("error_description").map(quoted).unwrap_or_default();
        return Err(format!("status {status}, {}{why}", short(error)));
    }
    if status >= 300 {
        return Err(format!("status {status}"));
    }
    let Some(token) = text("access_token") else {
        return Err(format!("status {status}, and the reply has no access_token"));
    };
    let kind = text("token_type").unwrap_or("Bearer");
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err(format!("its tokens are of the type {}, not Bearer", short(kind)));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err("the access_token has characters that a header cannot have".into());
    }
    let seconds = reply.get("expires_in");
    let seconds = seconds.and_then(|value| value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()));
    let lifetime = seconds.filter(|seconds| *seconds >= 0.0).map_or(u64::MAX, |seconds| (seconds * 1e9) as u64);
    Ok(Token {
        authorization: format!("Bearer {token}").into(),
        lifetime,
        refresh_token: text("refresh_token").map(Into::into),
    })
}

/// A text of the service in one line, with ": " before it; "" for an empty one.
fn quoted(text: &str) -> String {
    let line = short(text);
    if line.is_empty() { line } else { format!(": {line}") }
}

fn short(text: &str) -> String {
    let start: String = text.chars().take(4 * MOST_SHOWN).collect();
    let line = start.split_whitespace().collect::<Vec<_>>().join(" ").replace(char::is_control, "\u{fffd}");
    match line.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::{Token, form_of, read_token, with_refresh_token};

    #[test]
    fn a_token_has_its_lifetime_if_the_service_says_it() {
        for (body, lifetime, refresh) in [
            (r#"{"access_token": "a.b-c", "token_type": "bearer", "expires_in": 60}"#, 60_000_000_000, None),
            (r#"{"access_token": "a.b-c", "expires_in": "1.5", "refresh_token": "r"}"#, 1_500_000_000, Some("r")),
            (r#"{"access_token": "a.b-c", "expires_in": -1}"#, u64::MAX, None),
            (r#"{"access_token": "a.b-c", "expires_in": 1e300, "refresh_token": ""}"#, u64::MAX, None),
            (r#"{"access_token": "a.b-c", "expires_in": null}"#, u64::MAX, None),
        ] {
            let refresh_token = refresh.map(Into::into);
            let expected = Token { authorization: "Bearer a.b-c".into(), lifetime, refresh_token };
            assert_eq!(read_token(200, body.as_bytes()), Ok(expected), "{body}");
        }
    }

    #[test]
    fn a_reply_without_a_token_says_why() {
        let long = format!("<html>{}", "x".repeat(5000));
        for (status, body, expected) in [
            (400, r#"{"error": "invalid_client"}"#, "status 400, invalid_client".to_owned()),
            (
                401,
                r#"{"error": "invalid_grant", "error_description": "No\nsuch user."}"#,
                "status 401, invalid_grant: No such user.".into(),
            ),
            (200, r#"{"error": "temporarily_unavailable"}"#, "status 200, temporarily_unavailable".into()),
            (503, "{}", "status 503".into()),
            (200, "{}", "status 200, and the reply has no access_token".into()),
            (200, r#"{"access_token": 7}"#, "status 200, and the reply has no access_token".into()),
            (200, "[]", "status 200, and the reply has no access_token".into()),
            (502, "", "status 502, and the reply is not JSON".into()),
            (502, "<h1>Bad\r\nGateway", "status 502, and the reply is not JSON: <h1>Bad Gateway".into()),
            (200, "access_token=a&token_type=bearer", "status 200, and the reply is not JSON".into()),
            (200, r#"{"access_token": "a""#, "status 200, and the reply is not JSON".into()),
            (200, &long, format!("status 200, and the reply is not JSON: {}…", &long[..200])),
            (
                200,
                r#"{"access_token": "a", "token_type": "DPoP"}"#,
                "its tokens are of the type DPoP, not Bearer".into(),
            ),
            (
                200,
                r#"{"access_token": "a\r\nX: y"}"#,
                "the access_token has characters that a header cannot have".into(),
            ),
        ] {
            assert_eq!(read_token(status, body.as_bytes()), Err(expected), "{body}");
        }
    }

    #[test]
    fn a_refresh_token_is_the_end_of_the_form() {
        assert_eq!(
            with_refresh_token("grant_type=refresh_token", "a+/="),
            "grant_type=refresh_token&refresh_token=a%2B%2F%3D"
        );
        assert_eq!((form_of("Basic x\na=b"), form_of("\na=b")), ("a=b", "a=b"));
    }
}
