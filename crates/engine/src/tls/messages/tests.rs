use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::{ServerName, UnixTime};
use rustls::{
    AlertDescription, CertificateError, ContentType, Error, InvalidMessage, OtherError, PeerIncompatible,
    PeerMisbehaved,
};

use super::{bounded, date, names, words};

fn refusal(error: CertificateError) -> String {
    words(&Error::InvalidCertificate(error), 443)
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::since_unix_epoch(Duration::from_secs(seconds))
}

#[test]
fn a_certificate_that_is_refused_has_its_reason_and_the_option_that_accepts_it() {
    let webpki = |error: webpki::Error| CertificateError::Other(OtherError(Arc::new(error)));
    let p521 = vec![6, 5, 0x2b, 0x81, 0x04, 0x00, 0x23];
    let unknown = CertificateError::UnsupportedSignatureAlgorithmContext {
        signature_algorithm_id: vec![1, 2, 3],
        supported_algorithms: Vec::new(),
    };
    let of_key = CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext {
        signature_algorithm_id: vec![1],
        public_key_algorithm_id: p521,
    };
    for (error, expected) in [
        (CertificateError::ExpiredContext { time: at(0), not_after: at(1_609_372_800) }, "expired on 2020-12-31"),
        (
            CertificateError::NotValidYetContext { time: at(0), not_before: at(951_782_400) },
            "is not valid before 2000-02-29",
        ),
        (CertificateError::Revoked, "is revoked"),
        (
            CertificateError::NotValidForNameContext {
                expected: ServerName::try_from("a.test").unwrap(),
                presented: vec!["DnsName(\"b.test\")".into(), "IpAddress(127.0.0.1)".into()],
            },
            "is not valid for name a.test, but for b.test, 127.0.0.1",
        ),
        (webpki(webpki::Error::UnsupportedCertVersion), "is of X.509 version 1 (only version 3 can be checked)"),
        (webpki(webpki::Error::PathLenConstraintViolated), "cannot be checked: path len constraint violated"),
        (of_key, "has a key of the curve P-521 that cannot be checked here"),
        (unknown, "has a key or a signature that cannot be checked here"),
    ] {
        let expected = format!("the server's certificate {expected}; --insecure, or verify=False, accepts it");
        assert_eq!(refusal(error), expected);
    }
}

#[test]
fn no_message_has_the_name_of_an_enum() {
    let mut errors: Vec<Error> = (0..=255).map(|code| Error::AlertReceived(AlertDescription::from(code))).collect();
    errors.extend([
        Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedCipherSuite),
        Error::InvalidMessage(InvalidMessage::MissingData("ServerName")),
        Error::InappropriateMessage { expect_types: vec![ContentType::Alert], got_type: ContentType::Handshake },
        Error::PeerIncompatible(PeerIncompatible::EcPointsExtensionRequired),
        Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon),
        Error::General("x".repeat(1000)),
        Error::General("odd { numbers: [1, 2, 3] }".into()),
        Error::InvalidCertificate(CertificateError::UnknownRevocationStatus),
    ]);
    for error in errors {
        let text = words(&error, 443);
        assert!(text.chars().count() <= 230, "{text}");
        assert!(!text.contains(['{', '}', '[']), "{text}");
        // A capital letter behind a small one is a name of Rust, but for these.
        let known = text.replace("ChaCha20", "").replace("subjectAltName", "");
        let is_name = |pair: &[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
        assert!(!known.as_bytes().windows(2).any(is_name), "{text}");
    }
}

#[test]
fn an_alert_has_the_name_of_the_standard() {
    let words = |alert| words(&Error::AlertReceived(alert), 443);
    assert!(words(AlertDescription::BadRecordMac).contains("the alert bad_record_mac;"));
    assert!(words(AlertDescription::UnknownCA).contains("(alert unknown_ca)"));
    assert!(words(AlertDescription::from(200)).contains("the alert 200;"));
    assert!(words(AlertDescription::ProtocolVersion).contains("neither TLS 1.2 nor TLS 1.3"));
    assert!(words(AlertDescription::CertificateRequired).contains("--cert FILE"));
}

#[test]
fn a_certificate_with_many_names_has_a_short_message() {
    let many: Vec<String> = (0..40).map(|number| format!("DnsName(\"{number}.test\")")).collect();
    assert_eq!(names(&many), "but for 0.test, 1.test, 2.test and 37 more");
    assert_eq!(names(&[]), "nor for any other (it has no subjectAltName)");
    let long = vec!["x".repeat(250); 3];
    assert!(names(&long).chars().count() <= 200);
}

#[test]
fn texts_are_cut_between_letters() {
    assert_eq!(bounded("é"), "é");
    assert_eq!(bounded(&"é".repeat(200)), "é".repeat(200));
    assert_eq!(bounded(&"é".repeat(201)), "é".repeat(199) + "…");
}

#[test]
fn dates_are_those_of_the_calendar() {
    for (seconds, expected) in [
        (0, "1970-01-01"),
        (68_169_599, "1972-02-28"),
        (68_169_600, "1972-02-29"),
        (68_256_000, "1972-03-01"),
        (4_107_542_399, "2100-02-28"),
        (4_107_542_400, "2100-03-01"),
        (253_402_300_799, "9999-12-31"),
    ] {
        assert_eq!(date(at(seconds)), expected, "{seconds}");
    }
}
