//! Variable parts are replaced; codes and texts stay.

use proptest::prelude::*;

use super::group;

fn grouped(text: &str) -> String {
    let mut into = String::new();
    if group(text, &mut into) { into } else { text.to_owned() }
}

#[test]
fn what_changes_has_a_placeholder() {
    for (text, expected) in [
        ("no answer from 127.0.0.1:53412 after 1.234 s", "no answer from [address] after [number] s"),
        ("from 10.0.0.7, to fe80::1a2b:3c4d.", "from [address], to [address]."),
        ("connect to [2001:db8::1]:8080 failed", "connect to [[address]]:[number] failed"),
        ("localhost:53412 refused", "localhost:[number] refused"),
        (
            "took 12ms, then 5 s, then 250us and 3 minutes",
            "took [number]ms, then [number] s, then [number]us and [number] minutes",
        ),
        ("1.5 s, 0.75s, 7.25 \u{b5}s, 8\u{b5}s", "[number] s, [number]s, [number] \u{b5}s, [number]\u{b5}s"),
        ("order 10023 of user48213 is gone", "order [number] of user[number] is gone"),
        ("ratio 0.1234 and 12345.5", "ratio [number] and [number]"),
        ("took 1.3e-05 s, 2e-05, 2e-06s, 1.5E10", "took [number] s, [number], [number]s, [number]"),
        ("id 5f2b8c1e-9d3a-4b7c-8e1f-0a2b3c4d5e6f.", "id [id]."),
        ("object deadbeef01 gone, commit 0a1b2c3", "object [id] gone, commit 0a1b2c3"),
        ("req_8fK2nQ0aXb71Zp9Qw3 failed", "req_[id] failed"),
        ("<Foo object at 0x7f3a2c1b>", "<Foo object at [address]>"),
        ("at 2024-01-31T12:00:00.123Z: no", "at [time]: no"),
        ("at 2024-01-31 12:00:00,5 and 2024-02-01, 23:59:59", "at [time] and [time], [time]"),
        ("12:00:00+0100 12:00:00-05:00", "[time] [time]"),
        ("404 for url: http://localhost:80/item/17?page=2", "404 for url: http://localhost:80/item/[number]?page=2"),
        ("url '/item/17/part/3'", "url '/item/[number]/part/[number]'"),
    ] {
        assert_eq!(grouped(text), expected, "{text}");
    }
}

#[test]
fn what_happened_stays() {
    for text in [
        "HTTP 500",
        "HTTP 503 Service Unavailable",
        "500 Server Error: Internal Server Error for url: /item",
        "expected 3 items, got 2",
        "[Errno 111] Connection refused",
        "ConnectionRefusedError(111, 'Connection refused')",
        "OperationalError(2006, 'MySQL server has gone away')",
        "the socket was closed with code 1006",
        "exit status: 4096, error #12345, SQLSTATE[08006]",
        "HTTP/1.1 and HTTP/2 and TLSv1.3 and TLS 1.2",
        "python-requests/2.32.3",
        "SHA256 utf8 x86 ipv4",
        "2e5 and 3e and 1e-x",
        "3/17 parts",
        "ratio 0.75 of 12.5 %",
        "<Foo object at 0x....>",
        "facade accede deadbeef",
        "no digits at all",
        "",
        "(read timeout=5)",
    ] {
        assert_eq!(grouped(text), text);
        assert!(!group(text, &mut String::new()), "{text}");
    }
}

#[test]
fn statuses_and_error_numbers_are_never_grouped() {
    for status in 100..1000 {
        for text in [format!("HTTP {status}"), format!("[Errno {status}]"), format!("expected {status} items")] {
            assert_eq!(grouped(&text), text);
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_taken_and_a_group_is_its_own_group_after_a_few_times(text in "\\PC{0,80}") {
        let mut last = grouped(&text);
        for _ in 0..8 {
            last = grouped(&last);
        }
        prop_assert_eq!(grouped(&last), last);
    }

    #[test]
    fn ports_times_and_ids_do_not_matter(port in 1024..=65535_u32, micros in 0..10_000_000_u64, id in 1000..u32::MAX) {
        let seconds = micros as f64 / 1e6;
        let text = format!("no answer from 10.1.2.3:{port} after {seconds:.3} s for order {id}");
        prop_assert_eq!(grouped(&text), "no answer from [address] after [number] s for order [number]");
    }

    #[test]
    fn texts_made_of_such_parts_are_taken(parts in prop::collection::vec("[0-9a-f:./xTZ +µs-]{0,12}", 0..8)) {
        grouped(&parts.join(" "));
    }
}
