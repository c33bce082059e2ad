//! JSON Web Tokens that users sign themselves: `${jwt.NAME}`.

use std::fmt::Write;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, EcdsaSigningAlgorithm,
    Ed25519KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RsaEncoding, RsaKeyPair,
};
use ring::{hmac, signature};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject;
use serde_json::json;

use crate::DefinitionError;
use crate::definition::{self, JwtAlgorithm};
use crate::scope::Scope;
use crate::template::{Context, Missing, Template};
use crate::time::nanos;

/// A kind of token of a definition, with its key.
#[derive(Debug, Clone)]
pub(crate) struct TokenKind {
    pub(crate) name: String,
    /// The header, as it is in tokens.
    header: String,
    claims: String,
    /// Whether `iat` is added.
    is_dated: bool,
    /// Seconds until `exp`.
    lifetime: Option<i64>,
    secret: Secret,
}

/// What tokens of a kind are signed with.
#[derive(Debug, Clone)]
enum Secret {
    /// Bytes of a file.
    Shared(hmac::Key),
    /// A text, which may have variables.
    Text(hmac::Algorithm, String),
    Private(Arc<Private>),
}

#[derive(Debug)]
enum Private {
    Rsa(RsaKeyPair, &'static dyn RsaEncoding),
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// A token in a text, for the variables there.
#[derive(Debug)]
pub(crate) struct Token {
    kind: TokenKind,
    claims: Template,
    /// Of `Secret::Text`.
    key: Option<Template>,
    latest: Mutex<Signed>,
}

/// The token that was signed last.
#[derive(Debug, Default)]
struct Signed {
    /// Key and claims.
    of: String,
    /// Seconds since 1970.
    at: i64,
    token: String,
}

impl TokenKind {
    /// `field`: of the token in the definition.
    pub(crate) fn new(token: definition::Token, field: &str) -> Result<Self, DefinitionError> {
        let definition::Token { name, algorithm, key, key_id, claims, issued, expires } = token;
        let wrong = |name: &str, reason: String| DefinitionError::new(format!("{field}.{name}"), reason);
        let mut header = json!({"alg": algorithm, "typ": "JWT"});
        if let Some(id) = key_id {
            header["kid"] = id.into();
        }
        let header = BASE64_URL_SAFE_NO_PAD.encode(header.to_string());
        let secret = Secret::new(algorithm, key).map_err(|reason| wrong("key", reason))?;
        let seconds =
            |seconds| nanos(seconds, &format!("{field}.expires")).map(|ns| (ns / 1_000_000_000).cast_signed());
        let lifetime = expires.map(seconds).transpose()?;
        if lifetime == Some(0) {
            return Err(wrong("expires", "times of tokens are in whole seconds; write at least \"1s\"".into()));
        }
        Ok(Self { name, header, claims, is_dated: issued.unwrap_or(true), lifetime, secret })
    }

    /// The token for the variables at one position.
    pub(crate) fn compile(&self, scope: Scope<'_>) -> Result<Token, String> {
        // A token in a claim of a token would have no end.
        let scope = Scope { tokens: &[], ..scope };
        let wrong = |reason| format!("claims of ${{jwt.{}}}: {reason}", self.name);
        let claims = Template::json(&self.claims, scope).map_err(wrong)?;
        let key = match &self.secret {
            Secret::Text(_, text) => Some(Template::raw(text, scope).map_err(wrong)?),
            _ => None,
        };
        Ok(Token { kind: self.clone(), claims, key, latest: Mutex::default() })
    }
}

impl Secret {
    fn new(algorithm: JwtAlgorithm, key: definition::Key) -> Result<Self, String> {
        let shared = match algorithm {
            JwtAlgorithm::Hs256 => Some(hmac::HMAC_SHA256),
            JwtAlgorithm::Hs384 => Some(hmac::HMAC_SHA384),
            JwtAlgorithm::Hs512 => Some(hmac::HMAC_SHA512),
            _ => None,
        };
        match (shared, key) {
            (Some(kind), definition::Key::Text(text)) => Ok(Secret::Text(kind, text)),
            (Some(kind), definition::Key::Base64(text)) => {
                let bytes = BASE64_STANDARD.decode(text).map_err(|error| format!("it is not base64: {error}"))?;
                Ok(Secret::Shared(hmac::Key::new(kind, &bytes)))
            }
            (None, definition::Key::Text(pem)) => {
                Private::new(algorithm, pem.as_bytes()).map(Arc::new).map(Self::Private)
            }
            (None, definition::Key::Base64(text)) => {
                let bytes = BASE64_STANDARD.decode(text).map_err(|error| format!("it is not base64: {error}"))?;
                Private::new(algorithm, &bytes).map(Arc::new).map(Secret::Private)
            }
        }
    }
}

impl Private {
    fn new(algorithm: JwtAlgorithm, pem: &[u8]) -> Result<Self, String> {
        let der = PrivateKeyDer::from_pem_slice(pem).map_err(|_| "it is no private key in PEM".to_owned())?;
        let unfit = |error: ring::error::KeyRejected| {
            format!("it is no key for {}: {error}", json!(algorithm).as_str().unwrap_or_default())
        };
        let rsa = |encoding| {
            let pair = match &der {
                PrivateKeyDer::Pkcs1(der) => RsaKeyPair::from_der(der.secret_pkcs1_der()),
                other => RsaKeyPair::from_pkcs8(other.secret_der()),
            };
            pair.map(|pair| Private::Rsa(pair, encoding)).map_err(unfit)
        };
        let ecdsa = |curve: &'static EcdsaSigningAlgorithm| {
            if matches!(der, PrivateKeyDer::Sec1(_)) {
                return Err("it is an EC PRIVATE KEY; convert it: openssl pkcs8 -topk8 -nocrypt -in KEY".to_owned());
            }
            let pair = EcdsaKeyPair::from_pkcs8(curve, der.secret_der(), &SystemRandom::new());
            pair.map(Private::Ecdsa).map_err(unfit)
        };
        match algorithm {
            JwtAlgorithm::Rs256 => rsa(&RSA_PKCS1_SHA256),
            JwtAlgorithm::Rs384 => rsa(&RSA_PKCS1_SHA384),
            JwtAlgorithm::Rs512 => rsa(&RSA_PKCS1_SHA512),
            JwtAlgorithm::Es256 => ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING),
            JwtAlgorithm::Es384 => ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING),
            _ => {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_der());
                pair.map(Private::Ed25519).map_err(unfit)
            }
        }
    }

    fn sign(&self, text: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Private::Rsa(pair, encoding) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                let signed = pair.sign(*encoding, &random, text, &mut signature);
                signed.expect("the key was checked, and the signature is as long as its modulus");
                signature
            }
            Private::Ecdsa(pair) => {
                let signed: Result<signature::Signature, _> = pair.sign(&random, text);
                signed.expect("the system has random numbers").as_ref().to_vec()
            }
            Private::Ed25519(pair) => pair.sign(text).as_ref().to_vec(),
        }
    }
}

impl Token {
    /// The texts with variables.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        std::iter::once(&self.claims).chain(&self.key)
    }

    /// Appends the token for these values. One with the same values is signed once a second: its times are in seconds.
    pub(crate) fn render(&self, context: &mut Context<'_>, out: &mut String) -> Result<(), Missing> {
        let mut of = String::new();
        if let Some(key) = &self.key {
            key.render(context, &mut of)?;
        }
        let start = of.len();
        self.claims.render(context, &mut of)?;
        let at = (context.clock)().div_euclid(1000);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.at != at || latest.of != of || latest.token.is_empty() {
            let (key, claims) = of.split_at(start);
            latest.token = self.sign(key, claims, at);
            (latest.of, latest.at) = (of, at);
        }
        out.push_str(&latest.token);
        Ok(())
    }

    fn sign(&self, key: &str, claims: &str, at: i64) -> String {
        let mut text = self.kind.header.clone();
        text.push('.');
        BASE64_URL_SAFE_NO_PAD.encode_string(self.dated(claims, at), &mut text);
        let signature = match &self.kind.secret {
            Secret::Shared(key) => hmac::sign(key, text.as_bytes()).as_ref().to_vec(),
            Secret::Text(kind, _) => {
                hmac::sign(&hmac::Key::new(*kind, key.as_bytes()), text.as_bytes()).as_ref().to_vec()
            }
            Secret::Private(private) => private.sign(text.as_bytes()),
        };
        text.push('.');
        BASE64_URL_SAFE_NO_PAD.encode_string(signature, &mut text);
        text
    }

    /// The claims with the times. They are a JSON object.
    fn dated(&self, claims: &str, at: i64) -> String {
        let inside = claims.trim_end().strip_suffix('}').unwrap_or(claims).trim_end();
        let mut dated = inside.to_owned();
        let times =
            [("iat", self.kind.is_dated.then_some(at)), ("exp", self.kind.lifetime.map(|lifetime| at + lifetime))];
        for (name, time) in times {
            let Some(time) = time else { continue };
            let comma = if dated.ends_with('{') { "" } else { "," };
            write!(dated, "{comma}\"{name}\":{time}").expect("writing to a String does not fail");
        }
        dated.push('}');
        dated
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use serde_json::{Value, from_value, json};

    use super::TokenKind;
    use crate::random::Random;
    use crate::scope::Scope;
    use crate::session::Session;
    use crate::template::{Context, Template};

    fn kind(token: &Value) -> Result<TokenKind, String> {
        TokenKind::new(from_value(token.clone()).unwrap(), "tokens[0]").map_err(|error| error.to_string())
    }

    /// A text with tokens, at this time in ms; user 3.
    fn text(token: &Value, text: &str, clock: fn() -> i64) -> String {
        let tokens = [kind(token).unwrap()];
        let template = Template::raw(text, Scope { tokens: &tokens, ..Scope::default() }).unwrap();
        let (session, mut random, mut out) = (Session::new(3), Random::new(0, 0), String::new());
        let mut context = Context { feeders: &[], session: &session, random: &mut random, clock };
        template.render(&mut context, &mut out).unwrap();
        out
    }

    fn parts(token: &str) -> Vec<String> {
        let decoded = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).unwrap();
        token.split('.').take(2).map(|part| String::from_utf8(decoded(part)).unwrap()).collect()
    }

    #[test]
    fn a_token_has_a_signature_of_its_key() {
        // The key of RFC 7515, appendix A.1.
        let key = "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow";
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(key).unwrap();
        let key = base64::prelude::BASE64_STANDARD.encode(&bytes);
        let token = json!({"name": "a", "algorithm": "HS256", "key": {"base64": key}, "issued": false,
            "claims": r#"{"iss":"joe"}"#});
        let made = text(&token, "Bearer ${jwt.a}", || 0);
        let (signed, signature) = made.strip_prefix("Bearer ").unwrap().rsplit_once('.').unwrap();
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, &bytes);
        ring::hmac::verify(&key, signed.as_bytes(), &BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    }

    #[test]
    fn a_private_key_signs_what_its_public_key_verifies() {
        use ring::signature::{
            ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, UnparsedPublicKey, VerificationAlgorithm,
        };

        let es256 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
        let es384 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P384_SHA384).unwrap();
        let ed25519 = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        for (algorithm, pair, verifier) in [
            ("ES256", &es256, &ECDSA_P256_SHA256_FIXED as &dyn VerificationAlgorithm),
            ("ES384", &es384, &ECDSA_P384_SHA384_FIXED),
            ("EdDSA", &ed25519, &ED25519),
        ] {
            let pem = pair.serialize_pem();
            let token = json!({"name": "a", "algorithm": algorithm, "key": {"text": pem}, "claims": "{}"});
            let made = text(&token, "${jwt.a}", || 0);
            let (signed, signature) = made.rsplit_once('.').unwrap();
            let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).unwrap();
            let key = UnparsedPublicKey::new(verifier, pair.public_key_raw());
            key.verify(signed.as_bytes(), &signature).unwrap();
            let other = if algorithm == "ES256" { "ES384" } else { "ES256" };
            let token = json!({"name": "a", "algorithm": other, "key": {"text": pem}, "claims": "{}"});
            let error = kind(&token).unwrap_err();
            assert!(error.starts_with(&format!("tokens[0].key: it is no key for {other}: ")), "{error}");
        }
        let sec1 = "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----\n";
        let token = json!({"name": "a", "algorithm": "ES256", "key": {"text": sec1}, "claims": "{}"});
        assert!(kind(&token).unwrap_err().starts_with("tokens[0].key: it is an EC PRIVATE KEY; convert it: openssl"));
    }

    #[test]
    fn times_are_added_in_seconds_and_claims_have_variables() {
        let token = json!({"name": "a", "algorithm": "HS512", "key": {"text": "k${user}"}, "key_id": "1",
            "claims": r#"{"sub": "u${user}"}"#, "expires": 300});
        let made = text(&token, "${jwt.a}", || 1_772_323_200_345);
        let header = r#"{"alg":"HS512","kid":"1","typ":"JWT"}"#;
        let claims = r#"{"sub": "u3","iat":1772323200,"exp":1772323500}"#;
        assert_eq!(parts(&made), [header, claims]);
        let same = json!({"name": "a", "algorithm": "HS512", "key": {"base64": "azM="}, "key_id": "1",
            "claims": r#"{"sub": "u3"}"#, "expires": 300});
        assert_eq!(text(&same, "${jwt.a}", || 1_772_323_200_999), made);
        let empty = json!({"name": "a", "algorithm": "HS256", "key": {"text": "k"}, "claims": "{ }"});
        assert_eq!(parts(&text(&empty, "${jwt.a}", || 1000))[1], r#"{"iat":1}"#);
    }

    #[test]
    fn what_cannot_be_signed_is_refused() {
        let token = |algorithm: &str, key: &str, expires: f64| json!({"name": "a", "algorithm": algorithm, "key": {"text": key}, "claims": "{}", "expires": expires});
        for (token, begins) in [
            (token("RS256", "x", 1.0), "tokens[0].key: it is no private key in PEM"),
            (token("HS256", "x", 0.5), "tokens[0].expires: times of tokens are in whole seconds"),
        ] {
            let error = kind(&token).unwrap_err();
            assert!(error.starts_with(begins), "{error}");
        }
        let tokens = [kind(&token("HS256", "${jwt.a}", 1.0)).unwrap()];
        let scope = Scope { tokens: &tokens, ..Scope::default() };
        for (text, begins) in [
            ("${jwt.a}", "claims of ${jwt.a}: unknown variable ${jwt.a}"),
            ("${jwt.b}", "unknown variable ${jwt.b}; known are iteration"),
        ] {
            let error = Template::raw(text, scope).unwrap_err();
            assert!(error.starts_with(begins), "{error}");
        }
        let fixed = [kind(&token("HS256", "k", 1.0)).unwrap()];
        assert!(Template::fixed("${jwt.a}", Scope { tokens: &fixed, ..Scope::default() }).is_err());
    }
}
