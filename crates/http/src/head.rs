//! The bytes of a head or trailer section: finds their end and their fields.
//!
//! The functions expect bytes that the decoder has accepted. Other bytes give wrong results, but never a panic.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

/// The first value of the header `name`, ignoring case.
pub fn header<'a>(raw_head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    values(raw_head, name).next()
}

/// The value of the header `name` that is a list: its lines are one list (RFC 9110 §5.3).
pub fn list<'a>(raw_head: &'a [u8], name: &str) -> Option<Cow<'a, [u8]>> {
    let mut lines = values(raw_head, name);
    let first = lines.next()?;
    match lines.next() {
        None => Some(first.into()),
        Some(second) => Some([first, second].into_iter().chain(lines).collect::<Vec<_>>().join(&b',').into()),
    }
}

/// All values of the header `name`, in order.
pub fn values<'a>(raw_head: &'a [u8], name: &str) -> impl Iterator<Item = &'a [u8]> {
    // This runs for every response, so it reads only as much of a line as the name is long.
    let starts = memchr_iter(b'\n', raw_head).map(|end| &raw_head[end + 1..]);
    starts.filter_map(move |line| {
        let (field, rest) = line.split_at_checked(name.len())?;
        let value = rest.strip_prefix(b":")?;
        field.eq_ignore_ascii_case(name.as_bytes()).then(|| first_line(value).trim_ascii())
    })
}

/// All header lines as (name, value), in order.
pub fn headers(raw_head: &[u8]) -> Vec<(&[u8], &[u8])> {
    fields(after_first_line(raw_head)).collect()
}

/// The text after the status code; may be empty.
pub fn reason(raw_head: &[u8]) -> &[u8] {
    first_line(raw_head).splitn(3, |&byte| byte == b' ').nth(2).unwrap_or_default().trim_ascii_end()
}

/// All lines of a trailer section as (name, value), in order.
pub fn trailers(raw: &[u8]) -> Vec<(&[u8], &[u8])> {
    fields(raw).collect()
}

fn first_line(bytes: &[u8]) -> &[u8] {
    memchr(b'\n', bytes).map_or(bytes, |end| &bytes[..end])
}

fn after_first_line(bytes: &[u8]) -> &[u8] {
    memchr(b'\n', bytes).map_or(&[], |end| &bytes[end + 1..])
}

fn fields(lines: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    lines.split(|&byte| byte == b'\n').filter_map(|line| {
        let colon = memchr(b':', line)?;
        Some((&line[..colon], line[colon + 1..].trim_ascii()))
    })
}

/// The result of `gather`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Gathered {
    /// The section is complete in the buffer. It used this many bytes of the input.
    Complete(usize),
    /// All of the input was used, and the section continues.
    Partial,
    /// The section is longer than the limit.
    TooLarge,
}

/// Moves input into `buffer` until the section ends with its blank line.
pub(crate) fn gather(buffer: &mut Vec<u8>, input: &[u8], limit: usize) -> Gathered {
    let known = buffer.len();
    let window = &input[..input.len().min(limit.saturating_sub(known))];
    buffer.extend_from_slice(window);
    // An earlier line break may turn out to be the start of the blank line.
    match section_end(buffer, known.saturating_sub(2)) {
        Some(end) => {
            buffer.truncate(end);
            Gathered::Complete(end - known)
        }
        None if window.len() < input.len() => Gathered::TooLarge,
        None => Gathered::Partial,
    }
}

/// The end of the section that begins at 0, including its blank line. Line breaks before `from` are known not to end
/// it.
fn section_end(bytes: &[u8], from: usize) -> Option<usize> {
    let blank = |at: usize| match bytes.get(at..)? {
        [b'\n', ..] => Some(at + 1),
        [b'\r', b'\n', ..] => Some(at + 2),
        _ => None,
    };
    if from == 0
        && let Some(end) = blank(0)
    {
        return Some(end);
    }
    memchr_iter(b'\n', bytes.get(from..)?).find_map(|at| blank(from + at + 1))
}

/// Joins folded lines (RFC 9112 §5.2) by replacing the line breaks with spaces. Returns whether there were any.
pub(crate) fn unfold(lines: &mut [u8]) -> bool {
    let mut folded = false;
    for at in 1..lines.len() {
        if matches!(lines[at], b' ' | b'\t') && lines[at - 1] == b'\n' {
            folded = true;
            lines[at - 1] = b' ';
            if at >= 2 && lines[at - 2] == b'\r' {
                lines[at - 2] = b' ';
            }
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &[u8] =
        b"HTTP/1.1 404 Not Found at all\r\nServer: x\r\nSet-Cookie: a=1\r\nset-cookie:\tb=2 \r\nEmpty:\r\n\r\n";

    #[test]
    fn a_header_is_found_whatever_its_case_and_the_first_one_wins() {
        assert_eq!(header(HEAD, "SET-COOKIE"), Some(&b"a=1"[..]));
        assert_eq!(header(HEAD, "server"), Some(&b"x"[..]));
        assert_eq!(header(HEAD, "empty"), Some(&b""[..]));
        assert_eq!(header(HEAD, "absent"), None);
        assert_eq!(values(HEAD, "set-cookie").collect::<Vec<_>>(), [b"a=1", b"b=2"]);
    }

    #[test]
    fn the_lines_of_a_list_are_one_list() {
        let head = b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nA: b\r\ncontent-encoding: gzip, br\r\n\r\n";
        assert_eq!(list(head, "content-encoding").as_deref(), Some(&b"deflate,gzip, br"[..]));
        assert_eq!(list(head, "a").as_deref(), Some(&b"b"[..]));
        assert_eq!(list(head, "absent"), None);
    }

    #[test]
    fn the_status_line_is_not_taken_for_a_header() {
        assert_eq!(header(b"HTTP/1.1 200 a: b\r\n\r\n", "HTTP/1.1 200 a"), None);
        assert_eq!(headers(b"HTTP/1.1 200 a: b\r\n\r\n"), []);
    }

    #[test]
    fn headers_come_in_order_without_the_space_around_their_values() {
        let expected: [(&[u8], &[u8]); 4] =
            [(b"Server", b"x"), (b"Set-Cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"Empty", b"")];
        assert_eq!(headers(HEAD), expected);
    }

    #[test]
    fn a_reason_may_have_spaces_or_be_missing() {
        assert_eq!(reason(HEAD), b"Not Found at all");
        assert_eq!(reason(b"HTTP/1.1 200\r\n\r\n"), b"");
        assert_eq!(reason(b"HTTP/1.1 200 \r\n\r\n"), b"");
        assert_eq!(reason(b""), b"");
    }

    #[test]
    fn trailers_have_no_first_line_to_skip() {
        let expected: [(&[u8], &[u8]); 2] = [(b"Digest", b"abc"), (b"Expires", b"0")];
        assert_eq!(trailers(b"Digest: abc\nExpires: 0\r\n\r\n"), expected);
    }

    #[test]
    fn a_section_ends_with_a_blank_line_of_either_kind() {
        for (bytes, end) in [
            (&b"\r\nrest"[..], Some(2)),
            (b"\nrest", Some(1)),
            (b"A: b\r\n\r\nrest", Some(8)),
            (b"A: b\n\nrest", Some(6)),
            (b"A: b\n\r\nrest", Some(7)),
            (b"A: b\r\n\r", None),
            (b"A: b\r\rC: d", None),
            (b"", None),
        ] {
            assert_eq!(section_end(bytes, 0), end, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn a_section_is_gathered_from_single_bytes_and_no_further_than_its_end() {
        let mut buffer = Vec::new();
        for byte in b"A: b\r\n\r" {
            assert_eq!(gather(&mut buffer, &[*byte], 8), Gathered::Partial);
        }
        assert_eq!(gather(&mut buffer, b"\nrest", 8), Gathered::Complete(1));
        assert_eq!(buffer, b"A: b\r\n\r\n");
    }

    #[test]
    fn a_section_of_exactly_the_limit_is_fine_and_one_more_byte_is_not() {
        assert_eq!(gather(&mut Vec::new(), b"A: b\r\n\r\n", 8), Gathered::Complete(8));
        assert_eq!(gather(&mut Vec::new(), b"A: b\r\n\r\n", 7), Gathered::TooLarge);
        assert_eq!(gather(&mut Vec::new(), b"A: b\r\n\r", 7), Gathered::Partial);
    }

    #[test]
    fn folded_lines_are_joined_with_spaces_but_never_with_what_is_above_the_first() {
        let mut lines = *b" no\r\nA: b\r\n c\n\td\r\n\r\n";
        assert!(unfold(&mut lines));
        assert_eq!(&lines, b" no\r\nA: b   c \td\r\n\r\n");
        assert!(!unfold(&mut lines));
    }
}
