//! Functions of texts in texts: `${sha256:TEXT}`, `${hmac_sha256:KEY:TEXT}`.

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use md5::{Digest as _, Md5};
use ring::{digest, hmac};

/// A function, and how its result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Function {
    of: Of,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The text itself.
    Text,
    Digest(Hash),
    Hmac(Hash),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hash {
    Md5,
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Hex,
    Base64,
    /// Without `=`.
    Base64Url,
}

const HASHES: [(&str, Hash); 5] = [
    ("md5", Hash::Md5),
    ("sha1", Hash::Sha1),
    ("sha256", Hash::Sha256),
    ("sha384", Hash::Sha384),
    ("sha512", Hash::Sha512),
];

impl Function {
    /// The function whose name and colon `inside` begins with, and what follows them.
    pub(crate) fn at(inside: &str) -> Option<(Function, &str)> {
        let (name, rest) = inside.split_once(':')?;
        Self::named(name).map(|function| (function, rest))
    }

    fn named(name: &str) -> Option<Function> {
        match name {
            "base64" => return Some(Function { of: Of::Text, form: Form::Base64 }),
            "base64url" => return Some(Function { of: Of::Text, form: Form::Base64Url }),
            _ => {}
        }
        let (name, form) = if let Some(name) = name.strip_suffix("_base64") {
            (name, Form::Base64)
        } else if let Some(name) = name.strip_suffix("_base64url") {
            (name, Form::Base64Url)
        } else {
            (name, Form::Hex)
        };
        let (name, is_keyed) = name.strip_prefix("hmac_").map_or((name, false), |name| (name, true));
        let &(_, hash) = HASHES.iter().find(|(known, _)| *known == name)?;
        match (is_keyed, hash) {
            // No service asks for it any more, and ring has none.
            (true, Hash::Md5) => None,
            (true, hash) => Some(Function { of: Of::Hmac(hash), form }),
            (false, hash) => Some(Function { of: Of::Digest(hash), form }),
        }
    }

    /// The names of all functions.
    pub(crate) fn names() -> impl Iterator<Item = String> {
        let hashes = HASHES.into_iter().flat_map(|(hash, _)| [hash.to_owned(), format!("hmac_{hash}")]);
        let forms = hashes.flat_map(|name| [format!("{name}_base64"), format!("{name}_base64url"), name]);
        let names = ["base64", "base64url"].map(str::to_owned).into_iter().chain(forms);
        names.filter(|name| Self::named(name).is_some())
    }

    /// How the function with this name is written, if there is one: `${hmac_sha256:KEY:TEXT}`.
    pub(crate) fn form(name: &str) -> Option<String> {
        let arguments = if Self::named(name)?.is_keyed() { "KEY:TEXT" } else { "TEXT" };
        Some(format!("${{{name}:{arguments}}}"))
    }

    /// Whether a key precedes the text.
    pub(crate) fn is_keyed(self) -> bool {
        matches!(self.of, Of::Hmac(_))
    }

    /// The result. `key`: empty for functions without one.
    pub(crate) fn apply(self, key: &str, text: &str) -> String {
        match self.of {
            Of::Text => self.form.write(text.as_bytes()),
            Of::Digest(Hash::Md5) => self.form.write(&Md5::digest(text.as_bytes())),
            Of::Digest(hash) => self.form.write(digest::digest(hash.digest(), text.as_bytes()).as_ref()),
            Of::Hmac(hash) => {
                let key = hmac::Key::new(hash.hmac(), key.as_bytes());
                self.form.write(hmac::sign(&key, text.as_bytes()).as_ref())
            }
        }
    }
}

impl Hash {
    fn digest(self) -> &'static digest::Algorithm {
        match self {
            Hash::Md5 | Hash::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Hash::Sha256 => &digest::SHA256,
            Hash::Sha384 => &digest::SHA384,
            Hash::Sha512 => &digest::SHA512,
        }
    }

    fn hmac(self) -> hmac::Algorithm {
        match self {
            Hash::Md5 | Hash::Sha1 => hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY,
            Hash::Sha256 => hmac::HMAC_SHA256,
            Hash::Sha384 => hmac::HMAC_SHA384,
            Hash::Sha512 => hmac::HMAC_SHA512,
        }
    }
}

impl Form {
    fn write(self, bytes: &[u8]) -> String {
        match self {
            Form::Hex => hex(bytes),
            Form::Base64 => BASE64_STANDARD.encode(bytes),
            Form::Base64Url => BASE64_URL_SAFE_NO_PAD.encode(bytes),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = |byte: &u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]].map(char::from);
    bytes.iter().flat_map(digits).collect()
}

#[cfg(test)]
mod tests {
    use super::Function;

    #[test]
    fn results_are_those_of_the_standards() {
        // RFC 1321, FIPS 180, RFC 4231 (case 2), RFC 7636 (appendix B).
        for (inside, key, expected) in [
            ("base64:abc", "", "YWJj"),
            ("base64url:\u{3ff}>>", "", "z78-Pg"),
            ("md5:abc", "", "900150983cd24fb0d6963f7d28e17f72"),
            ("sha1:abc", "", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            ("sha256:abc", "", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("sha256_base64:abc", "", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
            (
                "sha256_base64url:dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
                "",
                "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            ),
            (
                "hmac_sha256:what do ya want for nothing?",
                "Jefe",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            ("hmac_sha1:what do ya want for nothing?", "Jefe", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        ] {
            let (function, text) = Function::at(inside).unwrap();
            assert_eq!(function.apply(key, text), expected, "{inside}");
        }
        for (name, length) in [("sha384:", 96), ("sha512:", 128), ("hmac_sha384:", 96), ("hmac_sha512_base64:", 88)] {
            let (function, text) = Function::at(name).unwrap();
            assert_eq!((function.apply("k", text).len(), function.is_keyed()), (length, name.starts_with("hmac")));
        }
    }

    #[test]
    fn all_functions_have_names() {
        let names: Vec<String> = Function::names().collect();
        assert_eq!(names.len(), 2 + 5 * 3 + 4 * 3);
        for name in ["base64url", "md5", "sha512_base64", "hmac_sha1_base64url"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        assert_eq!(Function::form("hmac_sha1"), Some("${hmac_sha1:KEY:TEXT}".into()));
        assert_eq!(Function::form("uuid"), None);
    }

    #[test]
    fn other_names_are_variables() {
        for inside in ["text:30", "sha256", "sha2:a", "hmac_md5:k:a", "hmac_:a", "base64_base64:a", "hmac_base64:k:a"] {
            assert_eq!(Function::at(inside), None, "{inside}");
        }
    }
}
