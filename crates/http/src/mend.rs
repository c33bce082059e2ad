//! Heads that no standard allows and servers send all the same. curl and browsers read them, so a load test must, too.

use crate::request::is_token;

/// Rewrites a complete head as a correct one with the same meaning (RFC 9112 §2.2, §4 and §5.1, RFC 9110 §5.5): a status
/// line with single spaces, no white space before a colon, spaces for control characters. Lines whose name is no name are
/// left out, as browsers do it. What is wrong beyond that remains wrong.
#[cold]
pub(crate) fn mended(head: &[u8]) -> Vec<u8> {
    let mut lines = head.split_inclusive(|&byte| byte == b'\n').map(without_end);
    let mut out = Vec::with_capacity(head.len());
    push_status_line(lines.next().unwrap_or_default(), &mut out);
    for line in lines {
        push_field(line, &mut out);
    }
    out
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn push_status_line(line: &[u8], out: &mut Vec<u8>) {
    let (version, rest) = word(line);
    let (code, reason) = word(rest);
    let is_later = matches!(version, [b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'2'..=b'9']);
    out.extend_from_slice(if is_later { b"HTTP/1.1" } else { version });
    for part in [code, reason] {
        out.push(b' ');
        push_clean(part, out);
    }
    out.extend_from_slice(b"\r\n");
}

/// The first word, and what follows the white space behind it.
fn word(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    (word, rest.trim_ascii_start())
}

fn push_field(line: &[u8], out: &mut Vec<u8>) {
    if let Some(colon) = memchr::memchr(b':', line) {
        let name = line[..colon].trim_ascii_end();
        if !is_token(name) {
            return;
        }
        out.extend_from_slice(name);
        out.push(b':');
        push_clean(&line[colon + 1..], out);
    } else {
        out.extend_from_slice(line);
    }
    out.extend_from_slice(b"\r\n");
}

fn push_clean(text: &[u8], out: &mut Vec<u8>) {
    // A NUL remains, and is refused: no client agrees with another on it.
    let is_cleaned = |byte: u8| byte.is_ascii_control() && byte != b'\t' && byte != 0;
    out.extend(text.iter().map(|&byte| if is_cleaned(byte) { b' ' } else { byte }));
}

#[cfg(test)]
mod tests {
    use super::mended;

    #[test]
    fn a_head_is_the_correct_one_with_its_meaning() {
        for (head, expected) in [
            (&b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"[..], "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
            (b"HTTP/1.1  200  OK\n\n", "HTTP/1.1 200 OK\r\n\r\n"),
            (b"HTTP/1.4\t200\r\n\r\n", "HTTP/1.1 200 \r\n\r\n"),
            (b"HTTP/1.1 200 a\x01b\x1b\r\n\r\n", "HTTP/1.1 200 a b \r\n\r\n"),
            (b"HTTP/2 200\r\n\r\n", "HTTP/2 200 \r\n\r\n"),
            (b"HTTP/1.1 200 OK\r\nA \t: b\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"),
            (b"HTTP/1.1 200 OK\r\nA: b\0c\rd\x7fe\tf\r\n\r\n", "HTTP/1.1 200 OK\r\nA: b\0c d e\tf\r\n\r\n"),
            (
                b"HTTP/1.1 200 OK\r\n: b\r\nX Y: c\r\n X: d\r\nX(y): e\r\nA: b\r\n\r\n",
                "HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
            ),
            (b"HTTP/1.1 200 OK\r\ngarbage\r\n\r\n", "HTTP/1.1 200 OK\r\ngarbage\r\n\r\n"),
            (b"", " \r\n"),
        ] {
            let found = String::from_utf8_lossy(&mended(head)).into_owned();
            assert_eq!(found.trim_start_matches(' '), expected.trim_start_matches(' '), "{}", head.escape_ascii());
        }
    }
}
