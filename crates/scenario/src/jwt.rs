//! JSON Web Tokens that users sign themselves: `${jwt.NAME}`.

use std::fmt::Write;
use std::sync::Arc;

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

    /// Its claims, a text with variables.
    pub(crate) fn claims(&self) -> &str {
        &self.claims
    }

    /// The text of its key, which may have variables. Bytes of a file and private keys have none.
    pub(crate) fn key(&self) -> Option<&str> {
        if let Secret::Text(_, text) = &self.secret { Some(text) } else { None }
    }

    /// The token with these claims, signed at this time in seconds since 1970. `key`: the text with its values.
    pub(crate) fn sign(&self, key: &str, claims: &str, at: i64) -> String {
        let mut text = self.header.clone();
        text.push('.');
        BASE64_URL_SAFE_NO_PAD.encode_string(self.dated(claims, at), &mut text);
        let signature = match &self.secret {
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
        let times = [("iat", self.is_dated.then_some(at)), ("exp", self.lifetime.map(|lifetime| at + lifetime))];
        for (name, time) in times {
            let Some(time) = time else { continue };
            let comma = if dated.ends_with('{') { "" } else { "," };
            write!(dated, "{comma}\"{name}\":{time}").expect("writing to a String does not fail");
        }
        dated.push('}');
        dated
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
