//! AWS Signature Version 4, in the Authorization header.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use plimsoll_http as http;
use ring::{digest, hmac};

use super::{add_line, fixed, hex, request_line};
use crate::DefinitionError;
use crate::date::iso;
use crate::definition;
use crate::scope::Scope;
use crate::template::{Context, Missing, Template};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";
/// All but the unreserved characters of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
const RESERVED_IN_PATHS: &AsciiSet = &RESERVED.remove(b'/');

/// The texts of a step that signs its requests.
#[derive(Debug)]
pub(crate) struct Signature {
    access_key: Template,
    secret_key: Template,
    session_token: Option<Template>,
    region: Template,
    service: Template,
}

/// The values for one request.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    pub(crate) access_key: String,
    pub(crate) secret_key: String,
    pub(crate) session_token: String,
    pub(crate) region: String,
    pub(crate) service: String,
}

/// The signing key of a day, region and service. A step needs the same one for all its requests.
#[derive(Debug, Default)]
pub(crate) struct DayKey {
    of: String,
    key: Option<hmac::Key>,
}

impl Signature {
    pub(crate) fn new(keys: &definition::AwsSigv4, scope: Scope<'_>, field: &str) -> Result<Self, DefinitionError> {
        let text = |text: &str, name: &str| fixed(text, scope, &format!("{field}.{name}"));
        Ok(Self {
            access_key: text(&keys.access_key, "access_key")?,
            secret_key: text(&keys.secret_key, "secret_key")?,
            session_token: keys.session_token.as_ref().map(|token| text(token, "session_token")).transpose()?,
            region: text(&keys.region, "region")?,
            service: text(&keys.service, "service")?,
        })
    }

    pub(crate) fn templates(&self) -> Vec<&Template> {
        let Self { access_key, secret_key, session_token, region, service } = self;
        [access_key, secret_key, region, service].into_iter().chain(session_token).collect()
    }

    pub(crate) fn keys(&self, context: &mut Context<'_>) -> Result<Keys, Missing> {
        let mut keys = Keys::default();
        self.access_key.render(context, &mut keys.access_key)?;
        self.secret_key.render(context, &mut keys.secret_key)?;
        self.region.render(context, &mut keys.region)?;
        self.service.render(context, &mut keys.service)?;
        if let Some(token) = &self.session_token {
            token.render(context, &mut keys.session_token)?;
        }
        Ok(keys)
    }
}

impl DayKey {
    fn of(&mut self, day: &str, keys: &Keys) -> &hmac::Key {
        let of = format!("{day}/{}/{}/{}", keys.region, keys.service, keys.secret_key);
        if self.of != of {
            self.key = None;
            self.of = of;
        }
        self.key.get_or_insert_with(|| {
            let first = format!("AWS4{}", keys.secret_key).into_bytes();
            let parts = [day, &keys.region, &keys.service, "aws4_request"];
            let last = parts.iter().fold(first, |key, part| keyed(&key, part));
            hmac::Key::new(hmac::HMAC_SHA256, &last)
        })
    }
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

/// Adds the lines of a signature to an encoded request. Returns the new length of its head. `millis`: since 1970.
pub(crate) fn sign(keys: &Keys, day_key: &mut DayKey, millis: i64, request: &mut Vec<u8>, mut head: usize) -> usize {
    let written = iso(millis);
    let time: String =
        written[..19].iter().map(|byte| char::from(*byte)).filter(|byte| !"-:".contains(*byte)).collect();
    let time = format!("{time}Z");
    let day = &time[..8];
    let payload = sha256(&request[head..]);
    head = add_line(request, head, "X-Amz-Date", &time);
    if keys.service.starts_with("s3") {
        head = add_line(request, head, "X-Amz-Content-Sha256", &payload);
    }
    if !keys.session_token.is_empty() {
        head = add_line(request, head, "X-Amz-Security-Token", &keys.session_token);
    }
    let (canonical, names) = canonical(&request[..head], keys, &payload);
    let scope = format!("{day}/{}/{}/aws4_request", keys.region, keys.service);
    let text = format!("{ALGORITHM}\n{time}\n{scope}\n{}", sha256(canonical.as_bytes()));
    let signature = hex(hmac::sign(day_key.of(day, keys), text.as_bytes()).as_ref());
    let credential = format!("{}/{scope}", keys.access_key);
    let value = format!("{ALGORITHM} Credential={credential}, SignedHeaders={names}, Signature={signature}");
    add_line(request, head, "Authorization", &value)
}

/// The canonical request, and the names of the headers in it.
fn canonical(head: &[u8], keys: &Keys, payload: &str) -> (String, String) {
    let (method, target) = request_line(head);
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let path = if keys.service.starts_with("s3") { path.to_owned() } else { canonical_path(path) };
    let mut headers: Vec<(String, String)> = http::headers(head)
        .into_iter()
        .map(|(name, value)| (String::from_utf8_lossy(name).to_ascii_lowercase(), plain(value)))
        .filter(|(name, _)| name == "host" || name == "content-type" || name.starts_with("x-amz-"))
        .collect();
    headers.sort_by(|one, other| one.0.cmp(&other.0));
    headers.dedup_by(|later, earlier| {
        let is_same = later.0 == earlier.0;
        if is_same {
            earlier.1 = format!("{},{}", earlier.1, later.1);
        }
        is_same
    });
    let lines = headers.iter().map(|(name, value)| [name, ":", value, "\n"].concat()).collect::<Vec<_>>().concat();
    let names = headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
    let query = canonical_query(query);
    (format!("{method}\n{path}\n{query}\n{lines}\n{names}\n{payload}"), names)
}

/// The value of a header without blanks at its ends, and with one in place of several.
fn plain(value: &[u8]) -> String {
    String::from_utf8_lossy(value).split([' ', '\t']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The path without empty and dot segments, and encoded once more than it is sent.
fn canonical_path(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            _ => segments.push(segment),
        }
    }
    let slash = if path.ends_with('/') && !segments.is_empty() { "/" } else { "" };
    utf8_percent_encode(&format!("/{}{slash}", segments.join("/")), RESERVED_IN_PATHS).to_string()
}

/// The parameters encoded strictly, in order.
fn canonical_query(query: &str) -> String {
    let encoded = |text: &str| {
        let bytes: Vec<u8> = percent_decode_str(text).collect();
        percent_encoding::percent_encode(&bytes, RESERVED).to_string()
    };
    let mut pairs: Vec<(String, String)> = (query.split('&').filter(|pair| !pair.is_empty()))
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| (encoded(name), encoded(value)))
        .collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::{DayKey, Keys, canonical, sign};

    fn keys(service: &str, token: &str) -> Keys {
        Keys {
            access_key: "AKIDEXAMPLE".into(),
            secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".into(),
            session_token: token.into(),
            region: "us-east-1".into(),
            service: service.into(),
        }
    }

    fn signed(line: &str, headers: &str, body: &str) -> String {
        let mut request = format!("{line} HTTP/1.1\r\nHost: example.amazonaws.com\r\n{headers}\r\n").into_bytes();
        let head = request.len();
        request.extend_from_slice(body.as_bytes());
        // 20150830T123600Z, as all requests of the suite.
        let millis = 1_440_938_160_000;
        let length = sign(&keys("service", ""), &mut DayKey::default(), millis, &mut request, head);
        assert_eq!(&request[length..], body.as_bytes());
        String::from_utf8(request).unwrap()
    }

    /// The signatures that AWS publishes with its test suite.
    #[test]
    fn the_signatures_of_the_suite() {
        for (line, headers, body, signature) in [
            ("GET /", "", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST /", "", "", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                "GET /?Param1=value2&Param1=Value1",
                "",
                "",
                "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1",
            ),
            (
                "GET /?Param2=value2&Param1=value1",
                "",
                "",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "POST /",
                "Content-Type: application/x-www-form-urlencoded\r\n",
                "Param1=value1",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
            ("GET /./", "", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("GET //example//../", "", "", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ] {
            let request = signed(line, headers, body);
            assert!(request.contains(&format!("Signature={signature}\r\n\r\n")), "{line}: {request}");
        }
        let request = signed("GET /", "", "");
        let expected = "X-Amz-Date: 20150830T123600Z\r\nAuthorization: AWS4-HMAC-SHA256 \
            Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=";
        assert!(request.contains(expected), "{request}");
    }

    #[test]
    fn headers_of_amazon_and_the_query_are_in_the_canonical_form() {
        let head = "GET /a%20b/c?b=%7e&a=%2f+%C3%BC&c HTTP/1.1\r\nX-Amz-Target:  T.Get   Item \r\nAccept: */*\r\n\
            Host: h:8000\r\nx-amz-meta-a: 1\r\nX-Amz-Meta-A: 2\r\n\r\n";
        let (text, names) = canonical(head.as_bytes(), &keys("dynamodb", ""), "hash");
        assert_eq!(names, "host;x-amz-meta-a;x-amz-target");
        assert_eq!(
            text,
            "GET\n/a%2520b/c\na=%2F%2B%C3%BC&b=~&c=\nhost:h:8000\nx-amz-meta-a:1,2\nx-amz-target:T.Get Item\n\n\
                host;x-amz-meta-a;x-amz-target\nhash"
        );
        let (text, _) = canonical(head.as_bytes(), &keys("s3", ""), "hash");
        assert!(text.starts_with("GET\n/a%20b/c\n"), "the path of an object is signed as it is sent: {text}");
    }

    #[test]
    fn a_session_and_the_body_of_an_object_are_signed() {
        let mut request = b"PUT /a//b HTTP/1.1\r\nHost: h\r\n\r\nx".to_vec();
        let length = sign(&keys("s3", "session"), &mut DayKey::default(), 0, &mut request, 31);
        let head = std::str::from_utf8(&request[..length]).unwrap();
        let hash = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
        for expected in [
            &format!("X-Amz-Content-Sha256: {hash}\r\n"),
            "X-Amz-Security-Token: session\r\n",
            "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,",
        ] {
            assert!(head.contains(expected), "{head}");
        }
    }

    #[test]
    fn the_key_of_a_day_is_made_once() {
        let (mut day_key, keys) = (DayKey::default(), keys("service", ""));
        assert!(day_key.key.is_none());
        day_key.of("20150830", &keys);
        assert!(day_key.key.is_some());
        assert_eq!(day_key.of, "20150830/us-east-1/service/wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY");
    }
}
