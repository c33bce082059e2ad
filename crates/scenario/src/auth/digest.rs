//! Digest access authentication (RFC 7616): challenges and the answers to them.

use std::fmt::Write;

use md5::{Digest as _, Md5};
use plimsoll_http as http;
use ring::digest as sha;

use super::{add_line, fixed, hex, request_line};
use crate::DefinitionError;
use crate::definition;
use crate::scope::Scope;
use crate::template::{Context, Missing, Template};

/// Bytes of a challenge that are read.
const MOST: usize = 16 << 10;

/// The texts of a step that answers challenges.
#[derive(Debug)]
pub(crate) struct Digest {
    user: Template,
    password: Template,
}

/// A user and its password.
#[derive(Debug, Default)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Md5,
    Sha256,
}

/// A challenge, and how often it was answered.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "four independent facts, not a state")]
pub struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    hash: Hash,
    /// As the server writes it.
    algorithm: Option<String>,
    /// The answer has a hash of the session: `MD5-sess`.
    is_session: bool,
    /// The server counts the answers: `qop=auth`. Servers older than RFC 2617 do not.
    has_count: bool,
    hides_user: bool,
    /// The answer before was right, but for an older nonce.
    pub is_stale: bool,
    count: u32,
}

impl Digest {
    pub(crate) fn new(login: &definition::Digest, scope: Scope<'_>, field: &str) -> Result<Self, DefinitionError> {
        let text = |text: &str, name: &str| fixed(text, scope, &format!("{field}.{name}"));
        Ok(Self { user: text(&login.user, "user")?, password: text(&login.password, "password")? })
    }

    pub(crate) fn templates(&self) -> Vec<&Template> {
        vec![&self.user, &self.password]
    }

    pub(crate) fn login(&self, context: &mut Context<'_>) -> Result<Login, Missing> {
        let mut login = Login::default();
        self.user.render(context, &mut login.user)?;
        self.password.render(context, &mut login.password)?;
        Ok(login)
    }
}

impl Hash {
    fn of(self, text: &str) -> String {
        match self {
            Hash::Md5 => hex(&Md5::digest(text.as_bytes())),
            Hash::Sha256 => hex(sha::digest(&sha::SHA256, text.as_bytes()).as_ref()),
        }
    }
}

impl Challenge {
    /// The challenge in the head of a response: the one with the best algorithm that can be answered.
    pub fn read(head: &[u8]) -> Option<Challenge> {
        let challenges = http::values(head, "www-authenticate").filter(|line| line.len() <= MOST);
        let challenges = challenges.flat_map(|line| schemes(&String::from_utf8_lossy(line)));
        let digests = challenges.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Digest"));
        let mut answerable: Vec<Challenge> = digests.filter_map(|(_, fields)| Self::of(&fields)).collect();
        let best = answerable.iter().position(|challenge| challenge.hash == Hash::Sha256).unwrap_or(0);
        (best < answerable.len()).then(|| answerable.swap_remove(best))
    }

    fn of(fields: &[(String, String)]) -> Option<Challenge> {
        let field = |name: &str| {
            fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
        };
        let algorithm = field("algorithm");
        let (hash, is_session) = match algorithm.unwrap_or("MD5").to_ascii_lowercase().as_str() {
            "md5" => (Hash::Md5, false),
            "md5-sess" => (Hash::Md5, true),
            "sha-256" => (Hash::Sha256, false),
            "sha-256-sess" => (Hash::Sha256, true),
            _ => return None,
        };
        let qop = field("qop").map(|qop| qop.split(',').any(|kind| kind.trim().eq_ignore_ascii_case("auth")));
        if qop == Some(false) {
            return None;
        }
        let is = |name: &str| field(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        Some(Challenge {
            realm: field("realm")?.to_owned(),
            nonce: field("nonce")?.to_owned(),
            opaque: field("opaque").map(str::to_owned),
            hash,
            algorithm: algorithm.map(str::to_owned),
            is_session,
            has_count: qop.is_some(),
            hides_user: is("userhash"),
            is_stale: is("stale"),
            count: 0,
        })
    }

    /// Adds the answer to an encoded request. Returns the new length of its head. `client_nonce`: a new text.
    pub(crate) fn answer(&mut self, login: &Login, client_nonce: &str, request: &mut Vec<u8>, head: usize) -> usize {
        self.count += 1;
        let (method, target) = request_line(&request[..head]);
        let value = self.value(login, client_nonce, method, target);
        add_line(request, head, "Authorization", &value)
    }

    fn value(&self, login: &Login, client_nonce: &str, method: &str, target: &str) -> String {
        let Challenge { realm, nonce, hash, count, .. } = self;
        let Login { user, password } = login;
        let mut secret = hash.of(&format!("{user}:{realm}:{password}"));
        if self.is_session {
            secret = hash.of(&format!("{secret}:{nonce}:{client_nonce}"));
        }
        let what = hash.of(&format!("{method}:{target}"));
        let response = if self.has_count {
            hash.of(&format!("{secret}:{nonce}:{count:08x}:{client_nonce}:auth:{what}"))
        } else {
            hash.of(&format!("{secret}:{nonce}:{what}"))
        };
        let name = if self.hides_user { hash.of(&format!("{user}:{realm}")) } else { quoted(user) };
        let mut value = format!(
            "Digest username=\"{name}\", realm=\"{}\", nonce=\"{}\", uri=\"{}\", response=\"{response}\"",
            quoted(realm),
            quoted(nonce),
            quoted(target)
        );
        let mut add = |text: std::fmt::Arguments<'_>| value.write_fmt(text).expect("writing to a String does not fail");
        if let Some(algorithm) = &self.algorithm {
            add(format_args!(", algorithm={algorithm}"));
        }
        if self.has_count {
            add(format_args!(", qop=auth, nc={count:08x}, cnonce=\"{client_nonce}\""));
        } else if self.is_session {
            add(format_args!(", cnonce=\"{client_nonce}\""));
        }
        if let Some(opaque) = &self.opaque {
            add(format_args!(", opaque=\"{}\"", quoted(opaque)));
        }
        if self.hides_user {
            add(format_args!(", userhash=true"));
        }
        value
    }
}

/// A text within quotes.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

type Fields = Vec<(String, String)>;

/// The challenges in a header, with their fields: `Basic realm="a", Digest realm="b", nonce="c"`.
fn schemes(line: &str) -> Vec<(String, Fields)> {
    let mut schemes: Vec<(String, Fields)> = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t', ',']);
        let end = rest.find([' ', '\t', ',', '=']).unwrap_or(rest.len());
        if end == 0 {
            return schemes;
        }
        let (word, after) = (&rest[..end], rest[end..].trim_start_matches([' ', '\t']));
        let Some(value) = after.strip_prefix('=') else {
            schemes.push((word.to_owned(), Vec::new()));
            rest = after;
            continue;
        };
        let (value, after) = value_of(value.trim_start_matches([' ', '\t']));
        if let Some((_, fields)) = schemes.last_mut() {
            fields.push((word.to_owned(), value));
        }
        rest = after;
    }
}

/// The value at the start of a text, without its quotes, and what follows it.
fn value_of(text: &str) -> (String, &str) {
    let Some(inside) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        return (text[..end].to_owned(), &text[end..]);
    };
    let (mut value, mut is_escaped) = (String::new(), false);
    for (at, letter) in inside.char_indices() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' => {
                is_escaped = true;
                continue;
            }
            '"' => return (value, &inside[at + 1..]),
            _ => {}
        }
        value.push(letter);
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Challenge, Hash, Login, schemes};

    fn read(lines: &[&str]) -> Option<Challenge> {
        let lines = lines.iter().map(|line| format!("WWW-Authenticate: {line}\r\n")).collect::<Vec<_>>().concat();
        Challenge::read(format!("HTTP/1.1 401 No\r\n{lines}\r\n").as_bytes())
    }

    fn login(user: &str, password: &str) -> Login {
        Login { user: user.into(), password: password.into() }
    }

    /// RFC 7616 §3.9.1.
    #[test]
    fn the_examples_of_the_standard() {
        let fields = r#"realm="http-auth@example.org", qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#;
        let sha256 = format!("Digest {fields}, algorithm=SHA-256");
        let md5 = format!("Digest {fields}, algorithm=MD5");
        for (lines, response, algorithm) in [
            (vec![md5.as_str()], "8ca523f5e9506fed4657c9700eebdbec", "MD5"),
            (vec![&sha256, &md5], "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1", "SHA-256"),
            (vec![&md5, &sha256], "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1", "SHA-256"),
        ] {
            let mut challenge = read(&lines).unwrap();
            let mut request = b"GET /dir/index.html HTTP/1.1\r\nHost: a\r\n\r\n".to_vec();
            let (head, nonce) = (request.len(), "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ");
            let length = challenge.answer(&login("Mufasa", "Circle of Life"), nonce, &mut request, head);
            let text = String::from_utf8(request).unwrap();
            assert_eq!(length, text.len());
            assert!(
                text.contains(&format!("response=\"{response}\", algorithm={algorithm}, qop=auth, nc=00000001")),
                "{text}"
            );
            assert!(text.contains("opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""), "{text}");
            challenge.answer(&login("Mufasa", "Circle of Life"), nonce, &mut b"GET / HTTP/1.1\r\n\r\n".to_vec(), 18);
            assert_eq!(challenge.count, 2);
        }
    }

    /// RFC 2069 with the erratum of its example, and RFC 7616 §3.4.4 for the hidden user.
    #[test]
    fn older_servers_and_other_forms() {
        let old = r#"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#;
        let value = read(&[old]).unwrap().value(&login("Mufasa", "CircleOfLife"), "x", "GET", "/dir/index.html");
        assert!(value.ends_with("response=\"1949323746fe6a43ef61f9606e7febea\""), "{value}");
        let hidden =
            read(&[r#"Digest realm="r", nonce="n", qop=auth, algorithm=md5-SESS, userhash=true, stale=TRUE"#]).unwrap();
        assert!(hidden.is_stale && hidden.is_session && hidden.hash == Hash::Md5);
        let value = hidden.value(&login("a\"b", "c"), "x", "GET", "/");
        assert!(value.contains(&format!("username=\"{}\"", Hash::Md5.of("a\"b:r"))), "{value}");
        assert!(value.ends_with("userhash=true") && value.contains("algorithm=md5-SESS"), "{value}");
    }

    #[test]
    fn what_cannot_be_answered_is_no_challenge() {
        for line in [
            "Basic realm=\"a\"",
            "Digest",
            "Digest realm=\"a\"",
            "Digest realm=\"a\", nonce=\"b\", algorithm=SHA-512-256",
            "Digest realm=\"a\", nonce=\"b\", qop=\"auth-int\"",
            "Digest realm=\"a, nonce=\"b",
            "",
            ",=,",
        ] {
            assert!(read(&[line]).is_none(), "{line}");
        }
        assert!(
            read(&["Basic realm=\"x, Digest\", Digest nonce=n, realm=\"a\\\"b\", Negotiate"]).unwrap().realm == "a\"b"
        );
        let long = format!("Digest realm=\"a\", nonce=\"{}\"", "n".repeat(20_000));
        assert!(read(&[&long]).is_none(), "a challenge is bounded");
    }

    proptest! {
        #[test]
        fn any_header_of_a_target_is_read_and_its_texts_stay_within_quotes(
            text in r#"(Digest|Basic)?([ ,="\\a-zé]|realm=|nonce=|qop=auth|stale=true){0,40}"#,
            value in ".{0,20}",
        ) {
            let escaped = value.replace(char::is_control, " ").replace('\\', "\\\\").replace('"', "\\\"");
            prop_assert!(schemes(&text).len() <= text.len());
            let _ = read(&[&text]);
            let line = format!("Digest realm=\"{escaped}\", nonce=n");
            let mut challenge = read(&[&line]).unwrap();
            let mut request = b"GET / HTTP/1.1\r\n\r\n".to_vec();
            let length = challenge.answer(&login("a", "b"), "c", &mut request, 18);
            let answer = String::from_utf8(request).unwrap();
            prop_assert_eq!(length, answer.len());
            prop_assert!(answer.contains(&format!("realm=\"{escaped}\", nonce=\"n\"")), "{}", answer);
        }
    }

    #[test]
    fn challenges_of_one_header_are_told_apart() {
        assert_eq!(
            schemes("Negotiate abc==, Digest a=b ,c = \"d,e\", Basic"),
            [
                ("Negotiate".into(), vec![("abc".into(), "=".into())]),
                ("Digest".into(), vec![("a".into(), "b".into()), ("c".into(), "d,e".into())]),
                ("Basic".into(), vec![]),
            ]
            .map(|(scheme, fields): (String, Vec<(String, String)>)| (scheme, fields))
            .to_vec()
        );
    }
}
