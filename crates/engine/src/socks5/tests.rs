use super::{Destination, Handshake, Login, Progress};

const REPLY: &[u8] = &[5, 0, 0, 1, 127, 0, 0, 1, 0x1f, 0x90];

fn login() -> Login {
    Login::new(b"me".to_vec(), b"p@ss".to_vec()).unwrap()
}

fn name() -> Destination {
    Destination::new("example.org", 443).unwrap()
}

/// The messages that were sent, whether the tunnel is open, and the bytes that are left.
type Ran<'a> = (Vec<Vec<u8>>, bool, &'a [u8]);

/// Passes bytes as the engine does: at most what is wanted, `most` at a time.
fn run<'a>(handshake: &mut Handshake, mut bytes: &'a [u8], most: usize) -> Result<Ran<'a>, String> {
    let mut sent = Vec::new();
    while !bytes.is_empty() {
        let (part, rest) = bytes.split_at(handshake.wanted().min(most).min(bytes.len()));
        assert!(!part.is_empty());
        bytes = rest;
        match handshake.input(part).map_err(|refusal| refusal.message)? {
            Progress::More => {}
            Progress::Send(message) => sent.push(message),
            Progress::Open => return Ok((sent, true, bytes)),
        }
    }
    Ok((sent, false, bytes))
}

#[test]
fn without_a_user_only_the_destination_is_sent() {
    let asked: &[u8] = b"\x05\x01\x00\x03\x0bexample.org\x01\xbb";
    for most in [1, 2, 3, 100] {
        let mut handshake = Handshake::new(None, name());
        assert_eq!(handshake.greeting(), [5, 1, 0]);
        let bytes = [&[5, 0], REPLY, b"SETTINGS"].concat();
        let (sent, is_open, left) = run(&mut handshake, &bytes, most).unwrap();
        assert_eq!((sent, is_open, left), (vec![asked.to_vec()], true, &b"SETTINGS"[..]), "{most}");
    }
}

#[test]
fn a_user_and_a_password_are_sent_if_the_proxy_chooses_so() {
    for most in [1, 100] {
        let mut handshake = Handshake::new(Some(login()), name());
        assert_eq!(handshake.greeting(), [5, 2, 0, 2]);
        let (sent, is_open, _) = run(&mut handshake, &[&[5, 2, 1, 0], REPLY].concat(), most).unwrap();
        assert_eq!((sent[0].as_slice(), sent.len(), is_open), (&b"\x01\x02me\x04p@ss"[..], 2, true));
        let (sent, is_open, _) =
            run(&mut Handshake::new(Some(login()), name()), &[&[5, 0], REPLY].concat(), most).unwrap();
        assert_eq!((sent.len(), is_open), (1, true));
    }
}

#[test]
fn addresses_are_sent_as_such() {
    for (host, expected) in [
        ("10.0.0.1", &b"\x05\x01\x00\x01\x0a\x00\x00\x01\x00\x50"[..]),
        ("::1", b"\x05\x01\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x50"),
    ] {
        let mut handshake = Handshake::new(None, Destination::new(host, 80).unwrap());
        assert_eq!(handshake.input(&[5, 0]).unwrap(), Progress::Send(expected.to_vec()));
    }
}

#[test]
fn a_reply_may_have_any_kind_of_address() {
    let ipv6 = [&[5, 0, 0, 4][..], &[7; 18]].concat();
    let named = |length: u8| [&[5, 0, 0, 3, length][..], &vec![b'x'; usize::from(length) + 2]].concat();
    for reply in [REPLY.to_vec(), ipv6, named(0), named(3), named(255)] {
        for most in [1, 100, 1000] {
            let bytes = [&[5, 0], &reply[..], b"HTTP"].concat();
            let (_, is_open, left) = run(&mut Handshake::new(None, name()), &bytes, most).unwrap();
            assert_eq!((is_open, left), (true, &b"HTTP"[..]), "{reply:?}");
        }
    }
}

#[test]
fn what_is_no_answer_is_refused_with_what_to_do() {
    for (login, bytes, expected) in [
        (None, &b"HTTP/1.1 400 Bad"[..], "does not speak SOCKS 5; is it an HTTP proxy"),
        (None, &[4, 0], "does not speak SOCKS 5"),
        (None, &[5, 0xff], "wants a user and a password"),
        (None, &[5, 2], "wants authentication 2, which was not offered"),
        (None, &[5, 1], "wants authentication 1, which was not offered"),
        (Some(login()), &[5, 0xff], "accepts no user and password"),
        (Some(login()), &[5, 2, 1, 1], "refused the user or the password (code 1)"),
        (Some(login()), &[5, 2, 5, 0], "does not speak SOCKS 5"),
        (None, &[5, 0, 4, 0], "does not speak SOCKS 5"),
        (None, &[5, 0, 5, 0, 0, 9], "address of unknown type 9"),
        (None, &[5, 0, 5, 0, 0, 0], "address of unknown type 0"),
    ] {
        for most in [1, 100] {
            let message = run(&mut Handshake::new(login.clone(), name()), bytes, most).unwrap_err();
            assert!(message.contains(expected), "{bytes:?}: {message}");
        }
    }
}

#[test]
fn each_code_of_a_refusal_has_its_meaning() {
    for (code, meaning, is_about_address) in [
        (1, "general failure of the proxy", true),
        (2, "its rules do not allow the connection", false),
        (3, "network unreachable", true),
        (4, "host unreachable", true),
        (5, "connection refused", true),
        (6, "TTL expired", true),
        (7, "command not supported", false),
        (8, "address type not supported", true),
        (9, "unknown", false),
    ] {
        let mut handshake = Handshake::new(None, name());
        handshake.input(&[5, 0]).unwrap();
        // Some proxies close after these two bytes.
        let refusal = handshake.input(&[5, code]).unwrap_err();
        assert_eq!(refusal.message, format!("the proxy refused with code {code}: {meaning}"));
        assert_eq!(refusal.is_about_address, is_about_address, "{code}");
    }
}

#[test]
fn what_does_not_fit_is_refused_before() {
    assert!(Login::new(vec![b'x'; 255], vec![b'x'; 255]).is_ok());
    assert!(Login::new(vec![b'x'; 256], vec![]).unwrap_err().contains("a user of 256 bytes"));
    assert!(Login::new(vec![b'x'], vec![b'x'; 256]).unwrap_err().contains("a password of 256 bytes"));
    assert!(Destination::new(&"x".repeat(255), 1).is_ok());
    assert!(Destination::new(&"x".repeat(256), 1).unwrap_err().contains("the target's has 256"));
}

#[test]
fn hostile_bytes_end_the_handshake_and_are_never_kept_without_limit() {
    let mut state = 1_u32;
    for round in 0..20_000 {
        let mut bytes = vec![5, 0, 5, 0, 0];
        bytes.truncate(round % 6);
        bytes.extend((0..300).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            [(state >> 24) as u8, (state >> 24) as u8 & 7][round % 2]
        }));
        let mut handshake = Handshake::new(Some(login()), name());
        let outcome = run(&mut handshake, &bytes, 1 + round % 300);
        assert!(outcome.is_err() || outcome.is_ok_and(|(_, is_open, _)| is_open), "{bytes:?}");
        assert!(handshake.message.len() <= 262);
    }
}
