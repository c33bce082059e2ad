//! The structure of a definition in JSON. Only the structure is checked here.

use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::DefinitionError;

/// Parses a definition. The error names the field with the wrong structure.
pub(crate) fn read(text: &str) -> Result<Definition, DefinitionError> {
    let mut json = serde_json::Deserializer::from_str(text);
    let definition = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        // An unknown part of a path is at its end, written "?"; the path of the whole is ".".
        let field = error.path().to_string();
        DefinitionError::new(field.trim_end_matches(['.', '?']), error.inner())
    })?;
    json.end().map_err(|error| DefinitionError::new("", error))?;
    Ok(definition)
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Definition {
    pub(crate) targets: Vec<Target>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) feeders: Vec<Feeder>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) choice: Choice,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) cookies: bool,
    /// Absent: true.
    pub(crate) accept_encoding: Option<bool>,
    /// Names of headers that carry credentials, for those who write a definition down.
    #[serde(default, rename = "credentials")]
    _credentials: Vec<String>,
    /// A descriptor set in base64: the services of steps with `grpc`.
    pub(crate) schema: Option<String>,
    /// How steps say who sends them, by their number.
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) auths: Vec<Auth>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) tokens: Vec<Token>,
    pub(crate) flows: Vec<Flow>,
}

/// JSON Web Tokens that users sign: `${jwt.NAME}`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Token {
    pub(crate) name: String,
    pub(crate) algorithm: JwtAlgorithm,
    pub(crate) key: Key,
    pub(crate) key_id: Option<String>,
    /// A JSON object.
    pub(crate) claims: String,
    /// Whether `iat` is added; absent: true.
    pub(crate) issued: Option<bool>,
    /// Seconds until `exp`; absent: there is none.
    pub(crate) expires: Option<f64>,
}

/// A key: a text, or bytes. Of a pair of keys the private one, in PEM.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Key {
    Text(String),
    Base64(String),
}

/// RFC 7518 §3.1, RFC 8037 §3.1
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum JwtAlgorithm {
    Hs256,
    Hs384,
    Hs512,
    Rs256,
    Rs384,
    Rs512,
    Es256,
    Es384,
    #[serde(rename = "EdDSA")]
    EdDsa,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Target {
    pub(crate) url: String,
    /// Absent: true.
    pub(crate) verify: Option<Verify>,
    pub(crate) cert: Option<Certificate>,
    /// In place of `cert`: a certificate for each user.
    pub(crate) certs: Option<RowCertificates>,
    pub(crate) proxy: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) http2: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) headers: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected true, false or the path of a PEM file")]
pub(crate) enum Verify {
    Switch(bool),
    Bundle(PathBuf),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected the path of a PEM file with key and certificate, or [certificate, key]")]
pub(crate) enum Certificate {
    Both(PathBuf),
    Pair(PathBuf, PathBuf),
}

/// Certificates by the rows of a feeder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RowCertificates {
    pub(crate) feeder: String,
    /// The files of each row: certificate and key (may be the same PEM file).
    pub(crate) rows: Vec<(PathBuf, PathBuf)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Feeder {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) order: Order,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) share: Share,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) at_end: AtEnd,
}

/// The order of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    #[default]
    Sequential,
    Random,
}

/// Which rows a worker uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Share {
    #[default]
    Split,
    All,
}

/// What happens after the last row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AtEnd {
    #[default]
    Recycle,
    Stop,
    Fail,
}

/// How an iteration selects its flow.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Choice {
    #[default]
    Weighted,
    InTurn,
    /// A feeder and its column that names the flow of each row.
    Column(String, String),
}

/// Who sends a request, if that is made anew for each.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Auth {
    Oauth2(Oauth2),
    AwsSigv4(AwsSigv4),
    Digest(Digest),
}

/// A request for a token.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Oauth2 {
    /// The URL, as people know it.
    pub(crate) name: String,
    pub(crate) target: usize,
    pub(crate) path: String,
    /// Whose metadata has the URL, which is not known yet: path and target are those of the metadata.
    #[serde(default, rename = "issuer")]
    _issuer: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) headers: Vec<(String, String)>,
    /// The value of Authorization: the client, if the form does not name it.
    pub(crate) authorization: Option<String>,
    /// A form.
    pub(crate) body: String,
    /// The form for another token by a refresh token, without that.
    pub(crate) refresh: String,
    /// Seconds.
    pub(crate) refresh_before: f64,
    /// Seconds.
    pub(crate) timeout: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AwsSigv4 {
    pub(crate) access_key: String,
    pub(crate) secret_key: String,
    pub(crate) session_token: Option<String>,
    pub(crate) region: String,
    pub(crate) service: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Digest {
    pub(crate) user: String,
    pub(crate) password: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Flow {
    pub(crate) name: String,
    /// Absent: 1.
    pub(crate) weight: Option<f64>,
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    pub(crate) name: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) target: usize,
    /// Absent only in steps of a WebSocket and of gRPC, as the path.
    pub(crate) method: Option<String>,
    pub(crate) path: Option<String>,
    /// Absent: the step is a request.
    pub(crate) websocket: Option<WebSocket>,
    /// The step is a call of gRPC; its body is the message.
    pub(crate) grpc: Option<Grpc>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) headers: Vec<(String, String)>,
    /// The number of an entry of `auths`.
    pub(crate) auth: Option<usize>,
    pub(crate) body: Option<Body>,
    /// Seconds; absent or 0: no limit.
    pub(crate) timeout: Option<f64>,
    /// Seconds; absent or 0: no limit.
    pub(crate) idle_timeout: Option<f64>,
    /// Absent: the response is no stream.
    pub(crate) stream: Option<Stream>,
    /// Absent: there are no objectives.
    pub(crate) slo: Option<Slo>,
    pub(crate) think: Option<Think>,
    /// The step is left out unless this condition holds.
    #[serde(rename = "if")]
    pub(crate) if_: Option<String>,
    pub(crate) repeat: Option<Repeat>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) extract: Vec<Extract>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Body {
    Text(String),
    Json(String),
    /// `name=value&…`, encoded except for the values of variables.
    Form(String),
    Base64(String),
    /// One after the other.
    Parts(Vec<Part>),
}

/// A part of a body: its own text with variables, or bytes.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    Text(String),
    Base64(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grpc {
    /// `package.Service/Method`
    pub(crate) method: String,
    /// Messages are sent with gzip.
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) gzip: bool,
    /// The expected codes; empty: 0, which is OK.
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) codes: Vec<u32>,
}

/// What a step does with the WebSocket of its user.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum WebSocket {
    Connect {
        #[serde(default, deserialize_with = "or_default")]
        protocols: Vec<String>,
        #[serde(default, deserialize_with = "or_default")]
        deflate: bool,
    },
    /// The message is the step's body.
    Send {},
    Receive {
        reply: bool,
    },
    /// Seconds.
    Wait(f64),
    /// The code.
    Close(u16),
}

/// How often a step, or the steps from an earlier one to this one, are done.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Repeat {
    /// The index of the first of these steps in the flow; absent: this one.
    pub(crate) from: Option<usize>,
    /// With a condition the limit, else the number.
    pub(crate) most: u32,
    /// Conditions. With neither, the steps are done `most` times.
    #[serde(rename = "while")]
    pub(crate) while_: Option<String>,
    pub(crate) until: Option<String>,
    /// Before they are done again; absent: that of the step.
    pub(crate) pause: Option<Think>,
}

/// What is in the body of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stream {
    Sse,
    Lines,
    Llm,
}

/// Seconds; absent: no limit.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Slo {
    pub(crate) first_token: Option<f64>,
    pub(crate) time_per_token: Option<f64>,
    pub(crate) time: Option<f64>,
}

/// Seconds.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Think {
    Constant(f64),
    Between(f64, f64),
    Exponential(f64),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Extract {
    pub(crate) into: String,
    pub(crate) from: From,
    pub(crate) what: String,
    /// Of a header: a regular expression; its first group is the value.
    pub(crate) part: Option<String>,
    /// Of a CSS selector: an attribute of the element; absent: its text.
    pub(crate) attribute: Option<String>,
    /// The encodings of the value, the outermost first.
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) decode: Vec<Decoding>,
    /// A regular expression for the decoded value; its first group is the value.
    pub(crate) within: Option<String>,
    pub(crate) default: Option<String>,
}

/// An encoding of a value in a response.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decoding {
    /// Entities of HTML.
    Html,
    /// %2F, as in URLs.
    Url,
    /// Escapes of a JSON string.
    Json,
    Base64,
    /// The claims of a JWT, as JSON.
    Jwt,
    /// Of which the small letters are the value.
    Lower,
    /// Of which the capital letters are the value.
    Upper,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum From {
    Json,
    Jsonpath,
    Regex,
    Css,
    Header,
    Cookie,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expect {
    /// Inclusive ranges; empty: below 400.
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) status: Vec<(u16, u16)>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) contains: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) lacks: Vec<String>,
    /// (JSON pointer, value)
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) json: Vec<(String, Value)>,
    /// JSON pointers.
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) absent: Vec<String>,
    /// Seconds.
    pub(crate) max_time: Option<f64>,
}

/// null means the same as leaving the field out.
fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

#[cfg(test)]
mod tests {
    use super::{AtEnd, Choice, Order, Share, read};

    fn refused(text: &str) -> String {
        read(text).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn what_may_be_left_out_may_also_be_null() {
        let short = r#"{"targets": [{"url": "u"}], "feeders": [{"name": "f", "columns": [], "rows": []}],
            "flows": [{"name": "n", "steps": [{"name": "s", "method": "GET", "path": "/"}]}]}"#;
        let long = r#"{"targets": [{"url": "u", "verify": null, "cert": null, "proxy": null, "headers": null}],
            "feeders": [{"name": "f", "columns": [], "rows": [], "order": null, "share": null, "at_end": null}],
            "choice": null, "cookies": null, "accept_encoding": null,
            "flows": [{"name": "n", "weight": null, "steps": [{"name": "s", "target": null, "method": "GET",
                "path": "/", "headers": null, "body": null, "timeout": null, "idle_timeout": null, "stream": null, "slo": null, "think": null, "extract": null,
                "expect": {"status": null, "contains": null, "lacks": null, "json": null, "absent": null, "max_time": null}}]}]}"#;
        for text in [short, long] {
            let definition = read(text).unwrap();
            assert_eq!((definition.choice, definition.cookies), (Choice::Weighted, false));
            let feeder = &definition.feeders[0];
            assert_eq!((feeder.order, feeder.share, feeder.at_end), (Order::Sequential, Share::Split, AtEnd::Recycle));
            let step = &definition.flows[0].steps[0];
            assert!(step.target == 0 && step.expect.status.is_empty());
            assert!(step.timeout.is_none() && step.idle_timeout.is_none());
        }
    }

    #[test]
    fn a_wrong_shape_is_reported_with_its_path() {
        let step = |inside: &str| {
            refused(&format!(r#"{{"targets": [], "flows": [{{"name": "a", "steps": [{{"name": "a", {inside}}}]}}]}}"#))
        };
        for (message, begins, sentence) in [
            (refused("{"), "EOF while parsing", "no JSON at all"),
            (refused("{} x"), "missing field `targets`", "a field is missing at the top"),
            (refused(r#"{"targets": [], "flows": []} x"#), "trailing characters", "something after it"),
            (refused(r#"{"targets": [], "flowz": []}"#), "flowz: unknown field `flowz`", "unknown at the top"),
            (refused(r#"{"targets": [{"url": 1}]}"#), "targets[0].url: invalid type", "wrong type"),
            (refused(r#"{"targets": [{"url": "", "verify": 1}]}"#), "targets[0].verify: expected true", "no choice"),
            (step(r#""metod": "GET""#), "flows[0].steps[0].metod: unknown field", "unknown in a step"),
            (step(r#""think": {"between": [1]}"#), "flows[0].steps[0].think.between: invalid length", "too short"),
            (step(r#""think": {"always": 1}"#), "flows[0].steps[0].think: unknown variant", "no such choice"),
            (step(r#""expect": {"status": [[200]]}"#), "flows[0].steps[0].expect.status[0]: invalid", "no pair"),
            (step(r#""body": {"xml": ""}"#), "flows[0].steps[0].body: unknown variant `xml`", "no such body"),
            (step(r#""extract": [{"into": "a", "from": "b"}]"#), "flows[0].steps[0].extract[0].from: unknown", "from"),
            (step(r#""stream": "ws""#), "flows[0].steps[0].stream: unknown variant `ws`", "no such stream"),
            (step(r#""timeout": NaN"#), "flows[0].steps[0].timeout: expected value", "NaN is no JSON"),
            (step(r#""timeout": 1e999"#), "flows[0].steps[0].timeout: number out of range", "infinite"),
        ] {
            assert!(message.starts_with(begins), "{sentence}: {message}");
        }
    }
}
