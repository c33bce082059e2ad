//! Tokens in texts: `Bearer ${jwt.NAME}`.

use std::sync::{Mutex, PoisonError};

use super::{Context, Missing, Template};
use crate::jwt::TokenKind;
use crate::scope::Scope;

/// A token for the variables at one position.
#[derive(Debug)]
pub(super) struct Token {
    kind: TokenKind,
    claims: Template,
    /// If its text may have variables.
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

impl Token {
    /// The error says what is wrong with its texts.
    pub(super) fn new(kind: &TokenKind, scope: Scope<'_>) -> Result<Token, String> {
        // A token in a claim of a token would have no end.
        let scope = Scope { tokens: &[], ..scope };
        let wrong = |reason| format!("claims of ${{jwt.{}}}: {reason}", kind.name);
        let claims = Template::json(kind.claims(), scope).map_err(wrong)?;
        let key = kind.key().map(|text| Template::raw(text, scope)).transpose();
        let key = key.map_err(|reason| format!("key of ${{jwt.{}}}: {reason}", kind.name))?;
        Ok(Token { kind: kind.clone(), claims, key, latest: Mutex::default() })
    }

    /// The texts with variables.
    pub(super) fn templates(&self) -> impl Iterator<Item = &Template> {
        std::iter::once(&self.claims).chain(&self.key)
    }

    /// Appends the token for these values. One with the same values is signed once a second: its times are in seconds.
    pub(super) fn render(&self, context: &mut Context<'_>, out: &mut String) -> Result<(), Missing> {
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
            latest.token = self.kind.sign(key, claims, at);
            (latest.of, latest.at) = (of, at);
        }
        out.push_str(&latest.token);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use serde_json::{Value, from_value, json};

    use crate::jwt::TokenKind;
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
            ("${jwt.a}", "key of ${jwt.a}: unknown variable ${jwt.a}"),
            ("${jwt.b}", "unknown variable ${jwt.b}; did you mean ${jwt.a}?"),
            ("${claims}", "unknown variable ${claims}; known are iteration"),
        ] {
            let error = Template::raw(text, scope).unwrap_err();
            assert!(error.starts_with(begins), "{error}");
        }
        let fixed = [kind(&token("HS256", "k", 1.0)).unwrap()];
        assert!(Template::fixed("${jwt.a}", Scope { tokens: &fixed, ..Scope::default() }).is_err());
    }
}
