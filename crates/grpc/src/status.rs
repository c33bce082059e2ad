//! How a call ended: the code and the message in its trailers.

use std::fmt::{self, Display, Formatter};

use percent_encoding::percent_decode;
use plimsoll_http as http;

use crate::error::NoStatus;

/// A status code. The number of each is its place in [`Code::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are those of the gRPC documentation")]
pub enum Code {
    Ok,
    Cancelled,
    Unknown,
    InvalidArgument,
    DeadlineExceeded,
    NotFound,
    AlreadyExists,
    PermissionDenied,
    ResourceExhausted,
    FailedPrecondition,
    Aborted,
    OutOfRange,
    Unimplemented,
    Internal,
    Unavailable,
    DataLoss,
    Unauthenticated,
}

impl Code {
    /// Every code with its name, in the order of their numbers.
    pub const ALL: [(Code, &'static str); 17] = [
        (Code::Ok, "OK"),
        (Code::Cancelled, "CANCELLED"),
        (Code::Unknown, "UNKNOWN"),
        (Code::InvalidArgument, "INVALID_ARGUMENT"),
        (Code::DeadlineExceeded, "DEADLINE_EXCEEDED"),
        (Code::NotFound, "NOT_FOUND"),
        (Code::AlreadyExists, "ALREADY_EXISTS"),
        (Code::PermissionDenied, "PERMISSION_DENIED"),
        (Code::ResourceExhausted, "RESOURCE_EXHAUSTED"),
        (Code::FailedPrecondition, "FAILED_PRECONDITION"),
        (Code::Aborted, "ABORTED"),
        (Code::OutOfRange, "OUT_OF_RANGE"),
        (Code::Unimplemented, "UNIMPLEMENTED"),
        (Code::Internal, "INTERNAL"),
        (Code::Unavailable, "UNAVAILABLE"),
        (Code::DataLoss, "DATA_LOSS"),
        (Code::Unauthenticated, "UNAUTHENTICATED"),
    ];

    /// The name in the documentation of gRPC: `NOT_FOUND`.
    pub const fn name(self) -> &'static str {
        Code::ALL[self as usize].1
    }

    /// The code with this number. The specification takes others for `UNKNOWN`.
    pub fn from_number(number: u32) -> Code {
        Code::ALL.get(number as usize).map_or(Code::Unknown, |(code, _)| *code)
    }

    /// The code with this name.
    pub fn from_name(name: &str) -> Option<Code> {
        Code::ALL.iter().find(|(_, known)| *known == name).map(|(code, _)| *code)
    }
}

/// The status of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// The code.
    pub code: Code,
    /// What the server says about it; empty if it says nothing.
    pub message: String,
}

impl Status {
    /// From the head and the raw trailer lines of a complete response with the HTTP status 200. A call that fails
    /// without a message has its status in the head.
    pub fn read(head: &[u8], trailers: &[u8]) -> Result<Status, NoStatus> {
        let kind = http::header(head, "content-type");
        if !kind.is_some_and(|kind| kind.starts_with(b"application/grpc")) {
            return Err(NoStatus::ContentType(kind.map(text)));
        }
        let lines = http::trailers(trailers);
        let find = |name: &str| {
            let of_trailers = lines.iter().find(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes()));
            of_trailers.map(|(_, value)| *value).or_else(|| http::header(head, name))
        };
        let number = find("grpc-status").ok_or(NoStatus::Missing)?;
        let number = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok());
        let code = number.map(Code::from_number);
        let code = code.ok_or_else(|| NoStatus::Invalid(find("grpc-status").map(text).unwrap_or_default()))?;
        let message = find("grpc-message").unwrap_or_default();
        Ok(Status { code, message: percent_decode(message).decode_utf8_lossy().into_owned() })
    }
}

impl Display for Status {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = self.code.name();
        if self.message.is_empty() { write!(f, "grpc {name}") } else { write!(f, "grpc {name}: {}", self.message) }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Code, Status};

    const HEAD: &[u8] = b"HTTP/2 200\r\ncontent-type: application/grpc+proto\r\n\r\n";

    #[test]
    fn every_code_is_listed_at_its_number_and_found_by_its_name() {
        for (number, (code, name)) in Code::ALL.into_iter().enumerate() {
            assert_eq!(code as usize, number);
            assert_eq!((code.name(), Code::from_name(name)), (name, Some(code)));
            assert_eq!(Code::from_number(number as u32), code);
        }
        assert_eq!((Code::from_number(17), Code::from_name("not_found")), (Code::Unknown, None));
    }

    #[test]
    fn the_status_is_in_the_trailers_or_in_the_head_of_a_response_without_messages() {
        let only = b"HTTP/2 200\r\nContent-Type: application/grpc\r\ngrpc-status: 14\r\ngrpc-message: down\r\n\r\n";
        for (head, trailers, expected) in [
            (HEAD, &b"grpc-status: 0\r\n"[..], "grpc OK"),
            (
                HEAD,
                b"Grpc-Message: 50%25 \xe2\x82\xac%E2%82%AC %zz\r\nGRPC-Status: 3\r\n",
                "grpc INVALID_ARGUMENT: 50% €€ %zz",
            ),
            (HEAD, b"grpc-status: 99\r\n", "grpc UNKNOWN"),
            (only, b"", "grpc UNAVAILABLE: down"),
        ] {
            assert_eq!(Status::read(head, trailers).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn a_response_without_a_status_says_what_it_is() {
        let page = b"HTTP/2 200\r\ncontent-type: text/html\r\n\r\n";
        for (head, trailers, expected) in [
            (HEAD, &b"x: y\r\n"[..], "the response has no grpc-status"),
            (HEAD, b"grpc-status: OK\r\n", "grpc-status is \"OK\", not a number"),
            (page, b"grpc-status: 0\r\n", "the response is not gRPC: its content-type is \"text/html\""),
            (b"HTTP/2 200\r\n\r\n", b"", "the response is not gRPC: it has no content-type"),
        ] {
            let error = Status::read(head, trailers).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
