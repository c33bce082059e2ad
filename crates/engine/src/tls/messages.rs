//! Sentences for errors of TLS: what is wrong, and what to do about it.
//!
//! rustls writes most of its errors as names of enums, some with hundreds of numbers. No such name reaches a message.

use std::fmt::{Debug, Display, Write as _};

use rustls::pki_types::UnixTime;
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, OtherError, PeerIncompatible};

/// The server does not choose HTTP/2 in the handshake.
pub(crate) const NO_HTTP2: &str = "the server has no HTTP/2: it did not choose h2 in the handshake; leave out --http2";

const OLD: &str = "the server has neither TLS 1.2 nor TLS 1.3; older versions are not supported";
const NO_SUITE: &str = "the server has no cipher suite in common with Plimsoll, which needs ECDHE with AES-GCM or \
                        ChaCha20 (no DHE, no static RSA)";
const NOTHING_IN_COMMON: &str = "the server found nothing in common (alert handshake_failure): it may want a client \
                                 certificate (--cert), have a P-521 key (--insecure, with TLS 1.3 only), or offer only \
                                 DHE or static RSA";
const NO_CERTIFICATE: &str = "the server asks for a client certificate (alert certificate_required): --cert FILE --key \
                              FILE, or cert in a plan or of a session";
const INSECURE: &str = "--insecure, or verify=False, accepts it";

/// The most characters of a text that comes from a certificate or from rustls.
const LONGEST: usize = 200;
/// The most names of a certificate in a message.
const MOST_NAMES: usize = 3;

/// Algorithms that servers have and that cannot be checked here, by their identifiers in DER.
const ALGORITHMS: [(&[u8], &str); 7] = [
    (&[0x2b, 0x81, 0x04, 0x00, 0x23], "a key of the curve P-521"),
    (&[0x2b, 0x81, 0x04, 0x00, 0x0a], "a key of the curve secp256k1"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x05], "a signature with SHA-1"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x04], "a signature with MD5"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01], "a signature with SHA-1"),
    (&[0x2a, 0x86, 0x48, 0xce, 0x38, 0x04], "a key of DSA"),
    (&[0x2b, 0x65, 0x71], "a key of Ed448"),
];

/// The error message. `port`: of the connection.
pub(crate) fn words(error: &Error, port: u16) -> String {
    match error {
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            format!("no TLS on port {port}; did you mean http://, ws:// or grpc://?")
        }
        Error::InvalidMessage(what) => format!("the server sent invalid TLS: {}", spaced(what)),
        Error::InvalidCertificate(what) => certificate(what),
        Error::AlertReceived(alert) => alert_words(*alert),
        Error::PeerIncompatible(what) => incompatible(what),
        Error::PeerMisbehaved(what) => format!("the server breaks a rule of TLS: {}", spaced(what)),
        Error::InappropriateMessage { .. } | Error::InappropriateHandshakeMessage { .. } => {
            "the server sent a message of TLS out of turn".into()
        }
        Error::NoCertificatesPresented => "the server showed no certificate".into(),
        Error::DecryptError => "a record of the server cannot be decrypted".into(),
        Error::General(text) => bounded(text),
        other => bounded(&other.to_string()),
    }
}

fn alert_words(alert: AlertDescription) -> String {
    let refused = |why: &str| {
        format!("the server refused the client certificate (alert {}): {why}; check --cert", alert_name(alert))
    };
    match alert {
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => NOTHING_IN_COMMON.into(),
        AlertDescription::ProtocolVersion => OLD.into(),
        AlertDescription::CertificateRequired => NO_CERTIFICATE.into(),
        AlertDescription::BadCertificate => refused("there is none, or it is damaged"),
        AlertDescription::UnsupportedCertificate => refused("it is of a kind that the server does not take"),
        AlertDescription::CertificateRevoked => refused("it is revoked"),
        AlertDescription::CertificateExpired => refused("it has expired"),
        AlertDescription::CertificateUnknown => refused("the server does not say why"),
        AlertDescription::UnknownCA => refused("the server does not know its issuer"),
        AlertDescription::AccessDenied => refused("its owner has no access"),
        AlertDescription::DecryptError => {
            "the server cannot verify our part of the handshake (alert decrypt_error); check --cert and --key".into()
        }
        AlertDescription::UnrecognisedName => {
            "the server has no certificate for this host (alert unrecognized_name); check the URL".into()
        }
        AlertDescription::InternalError => "the server failed in the handshake (alert internal_error), or has no \
                                            certificate for this host; see its log"
            .into(),
        // We offer a protocol only if it is HTTP/2.
        AlertDescription::NoApplicationProtocol => NO_HTTP2.into(),
        other => format!("the server ended TLS with the alert {}; see its log", alert_name(other)),
    }
}

/// The name of RFC 8446, or the number.
fn alert_name(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::UnknownCA => "unknown_ca".into(),
        AlertDescription::Unknown(number) => number.to_string(),
        named => spaced(&named).replace(' ', "_"),
    }
}

fn incompatible(what: &PeerIncompatible) -> String {
    match what {
        PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled => OLD.into(),
        PeerIncompatible::NoCipherSuitesInCommon => NO_SUITE.into(),
        PeerIncompatible::NoKxGroupsInCommon => {
            "the server exchanges keys with none of X25519, P-256 and P-384, the groups that Plimsoll has".into()
        }
        PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon => {
            "the server asks for a client certificate with a signature that Plimsoll cannot make".into()
        }
        other => format!("the server's TLS does not fit: {}", spaced(other)),
    }
}

fn certificate(error: &CertificateError) -> String {
    match error {
        CertificateError::ExpiredContext { not_after, .. } => refused(&format!("expired on {}", date(*not_after))),
        CertificateError::Expired => refused("has expired"),
        CertificateError::NotValidYetContext { not_before, .. } => {
            refused(&format!("is not valid before {}", date(*not_before)))
        }
        CertificateError::NotValidYet => refused("is not valid yet"),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let expected = bounded(&expected.to_str());
            refused(&format!("is not valid for name {expected}, {}", names(presented)))
        }
        CertificateError::NotValidForName => refused("is not valid for the name of this host"),
        CertificateError::Revoked => refused("is revoked"),
        CertificateError::BadEncoding => refused("is damaged"),
        CertificateError::UnhandledCriticalExtension => refused("has a critical extension that is unknown here"),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            refused("is not for servers (extended key usage)")
        }
        CertificateError::BadSignature => {
            refused("has a wrong signature, or an RSA key of fewer than 2048 or more than 8192 bits")
        }
        CertificateError::UnsupportedSignatureAlgorithmContext { signature_algorithm_id, .. } => {
            unsupported(&[signature_algorithm_id])
        }
        CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
            signature_algorithm_id,
            public_key_algorithm_id,
        } => unsupported(&[public_key_algorithm_id, signature_algorithm_id]),
        CertificateError::Other(OtherError(reason)) => match reason.downcast_ref() {
            Some(webpki::Error::UnsupportedCertVersion) => {
                refused("is of X.509 version 1 (only version 3 can be checked)")
            }
            Some(other) => refused(&format!("cannot be checked: {}", spaced(other))),
            None => bounded(&reason.to_string()),
        },
        other => refused(&format!("cannot be checked: {}", spaced(other))),
    }
}

fn refused(what: &str) -> String {
    format!("the server's certificate {what}; {INSECURE}")
}

fn unsupported(identifiers: &[&Vec<u8>]) -> String {
    let contains = |part: &[u8]| identifiers.iter().any(|id| id.windows(part.len()).any(|window| window == part));
    let known = ALGORITHMS.iter().find(|(id, _)| contains(id)).map_or("a key or a signature", |(_, name)| name);
    refused(&format!("has {known} that cannot be checked here"))
}

/// The names of a certificate, which webpki gives as `DnsName("a.test")` and `IpAddress(127.0.0.1)`.
fn names(presented: &[String]) -> String {
    let bare = |name: &String| {
        let inner = name.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or(name);
        inner.trim_matches('"').to_owned()
    };
    if presented.is_empty() {
        return "nor for any other (it has no subjectAltName)".into();
    }
    let mut text = format!("but for {}", presented.iter().take(MOST_NAMES).map(bare).collect::<Vec<_>>().join(", "));
    if presented.len() > MOST_NAMES {
        let _ = write!(text, " and {} more", presented.len() - MOST_NAMES);
    }
    bounded(&text)
}

/// Year, month and day (UTC). The calendar is counted from 1 March, so that a leap day is the last one of its year.
fn date(time: UnixTime) -> String {
    let days = time.as_secs() / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

/// The name of an enum's variant as words: `SelectedUnofferedKxGroup` is "selected unoffered kx group". Its fields are
/// left out.
fn spaced(variant: &impl Debug) -> String {
    let name = format!("{variant:?}");
    let mut text = String::with_capacity(name.len() + 8);
    for letter in name.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_') {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

/// The beginning of a text, without what only Debug output has.
fn bounded(text: &(impl Display + ?Sized)) -> String {
    let text = text.to_string();
    let plain = text.split(['{', '[']).next().unwrap_or_default().trim_end();
    match plain.char_indices().nth(LONGEST - 1) {
        Some((end, _)) if plain[end..].chars().nth(1).is_some() => format!("{}…", &plain[..end]),
        _ => plain.to_owned(),
    }
}

#[cfg(test)]
mod tests;
