//! The examples of RFC 7541, appendix C, as far as they need no dynamic table; and damaged blocks.

use super::{Field, Fields, HpackError, Name, STATIC, find, push_integer, push_text};

/// The fields as lines; a static name or value is the standard's.
fn lines(block: &[u8]) -> Result<Vec<String>, HpackError> {
    let mut fields = Fields::new(block);
    let mut lines = Vec::new();
    while let Some(field) = fields.next()? {
        let (mut name, mut value) = (Vec::new(), Vec::new());
        match field {
            Field::Static(position) => {
                name.extend_from_slice(STATIC[position].0.as_bytes());
                value.extend_from_slice(STATIC[position].1.as_bytes());
            }
            Field::Literal(given, text) => {
                match given {
                    Name::Static(position) => name.extend_from_slice(STATIC[position].0.as_bytes()),
                    Name::Literal(text) => text.append(1000, &mut name)?,
                }
                text.append(1000, &mut value)?;
            }
        }
        lines.push([String::from_utf8_lossy(&name), String::from_utf8_lossy(&value)].join(": "));
    }
    Ok(lines)
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

#[test]
fn integers_of_the_standard() {
    for (bits, value, bytes) in [(5, 10, &[10][..]), (5, 1337, &[31, 154, 10]), (8, 42, &[42])] {
        let mut out = Vec::new();
        push_integer(&mut out, 0, bits, value);
        assert_eq!(out, bytes);
        assert_eq!(Fields::new(bytes).integer(bits), Ok(value));
    }
    assert_eq!(Fields::new(&[31, 128, 128, 128, 128, 1]).integer(5), Err(HpackError::Integer));
    assert_eq!(Fields::new(&[31, 128]).integer(5), Err(HpackError::Truncated));
}

#[test]
fn literal_fields_of_the_standard() {
    // C.2.1 to C.2.4.
    let custom = hex("400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572");
    assert_eq!(lines(&custom).unwrap(), ["custom-key: custom-header"]);
    assert_eq!(lines(&hex("040c 2f73 616d 706c 652f 7061 7468")).unwrap(), [":path: /sample/path"]);
    assert_eq!(lines(&hex("1008 7061 7373 776f 7264 0673 6563 7265 74")).unwrap(), ["password: secret"]);
    assert_eq!(lines(&hex("82")).unwrap(), [":method: GET"]);
}

#[test]
fn requests_and_responses_of_the_standard() {
    // C.3.1 and C.4.1: the same fields, without and with Huffman's code.
    let request = [":method: GET", ":scheme: http", ":path: /", ":authority: www.example.com"];
    assert_eq!(lines(&hex("8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d")).unwrap(), request);
    assert_eq!(lines(&hex("8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff")).unwrap(), request);
    // C.5.1 and C.6.1.
    let response = [
        ":status: 302",
        "cache-control: private",
        "date: Mon, 21 Oct 2013 20:13:21 GMT",
        "location: https://www.example.com",
    ];
    let plain = "4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32
        3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d";
    assert_eq!(lines(&hex(plain)).unwrap(), response);
    let short = "4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad
        1718 63c7 8f0b 97c8 e9ae 82ae 43d3";
    assert_eq!(lines(&hex(short)).unwrap(), response);
    // C.3.2: its first fields are in the static table, and the next one would be in a dynamic table.
    assert_eq!(lines(&hex("8286 84be 5808 6e6f 2d63 6163 6865")), Err(HpackError::Index(62)));
}

#[test]
fn the_table_has_only_the_size_0() {
    assert_eq!(lines(&hex("20 82")).unwrap(), [":method: GET"]);
    assert_eq!(lines(&hex("20 20 82")).unwrap(), [":method: GET"]);
    assert_eq!(lines(&hex("21 82")), Err(HpackError::TableSize));
    assert_eq!(lines(&hex("82 20")), Err(HpackError::TableSize), "after a field");
}

#[test]
fn damaged_blocks() {
    assert_eq!(lines(&hex("80")), Err(HpackError::Index(0)));
    assert_eq!(lines(&hex("ff00")), Err(HpackError::Index(127)));
    for end in ["04", "0403 2f", "00", "0001 61", "40 7f", "ff 80"] {
        assert_eq!(lines(&hex(end)), Err(HpackError::Truncated), "{end}");
    }
    assert_eq!(lines(&hex("0481 00")), Err(HpackError::Huffman), "padding of zeros");
}

#[test]
fn every_name_of_the_table_is_found() {
    for (name, _) in STATIC.iter().filter(|(name, _)| !name.starts_with(':')) {
        assert_eq!(find(name.as_bytes()).map(|position| STATIC[position].0), Some(*name));
    }
    for name in ["", "x", ":path", "Accept", "accepts", "x-request-id", &"x".repeat(100)] {
        assert_eq!(find(name.as_bytes()), None);
    }
}

#[test]
fn a_text_has_its_length_before_it() {
    let mut out = Vec::new();
    push_text(&mut out, &[b'x'; 200]);
    assert_eq!(out[..2], [127, 73]);
    assert_eq!(out.len(), 202);
}
