//! Decodes Huffman's code (RFC 7541, appendix B).

use super::HpackError;

/// Bits of each symbol's code; the last symbol is the end of the string, which may not occur. The code is canonical:
/// symbols of equal length have codes in order, and a longer code is greater than every shorter one.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12,
    10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6, 15, 5, 6,
    5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22,
    22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20,
    22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28,
    27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28,
    27, 27, 27, 27, 27, 26, 30,
];
const LONGEST: usize = 30;
/// Bits that find a symbol at once. Letters, digits and most signs have codes of at most this length.
const FAST: u32 = 10;

/// The symbols in the order of their codes.
const SYMBOLS: [u16; 257] = symbols();
/// For each length: the code after its last one, with 32 bits; its first code; and the position of that in `SYMBOLS`.
const RANGES: [(u64, u64, u64); LONGEST + 1] = ranges();
/// The symbol and the length of the code at the start of these bits; length 0: it is longer.
const SHORT: [(u8, u8); 1 << FAST] = short();

/// Appends the string. It stops soon after `limit` bytes.
pub(crate) fn decode(mut bytes: &[u8], limit: usize, out: &mut Vec<u8>) -> Result<(), HpackError> {
    let limit = out.len().saturating_add(limit);
    // The next bits, from the highest; those after the last byte are 0.
    let (mut bits, mut have) = (0_u64, 0_u32);
    while out.len() <= limit {
        if have < 32 {
            if let Some((next, rest)) = bytes.split_first_chunk::<4>() {
                bits |= u64::from(u32::from_be_bytes(*next)) << (32 - have);
                (have, bytes) = (have + 32, rest);
            } else {
                for &byte in bytes {
                    bits |= u64::from(byte) << (56 - have);
                    have += 8;
                }
                bytes = &[];
            }
        }
        let (mut symbol, mut length) = SHORT[(bits >> (64 - FAST)) as usize];
        if length == 0 {
            (symbol, length) = long(bits).unwrap_or((0, u8::MAX));
        }
        if u32::from(length) > have {
            // What is left must be padding: fewer than eight bits, all of them 1.
            let is_padding = have < 8 && bits == !(u64::MAX >> have);
            return if is_padding { Ok(()) } else { Err(HpackError::Huffman) };
        }
        out.push(symbol);
        bits <<= length;
        have -= u32::from(length);
    }
    Ok(())
}

/// The symbol of a code that is longer than `FAST` bits, and its length; `None` at the end-of-string symbol.
#[cold]
fn long(bits: u64) -> Option<(u8, u8)> {
    let length = (FAST as usize + 1..=LONGEST).find(|&length| bits >> 32 < RANGES[length].0)?;
    let (_, first, position) = RANGES[length];
    let symbol = SYMBOLS[((bits >> (64 - length)) - first + position) as usize];
    let symbol = u8::try_from(symbol).ok()?;
    Some((symbol, length as u8))
}

const fn symbols() -> [u16; 257] {
    let mut symbols = [0; 257];
    let (mut length, mut position) = (1, 0);
    while length <= LONGEST {
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                symbols[position] = symbol as u16;
                position += 1;
            }
            symbol += 1;
        }
        length += 1;
    }
    symbols
}

const fn ranges() -> [(u64, u64, u64); LONGEST + 1] {
    let mut ranges = [(0, 0, 0); LONGEST + 1];
    let (mut length, mut position, mut code) = (1, 0, 0);
    while length <= LONGEST {
        code <<= 1;
        let (first, start) = (code, position);
        let mut symbol = 0;
        while symbol < LENGTHS.len() {
            if LENGTHS[symbol] as usize == length {
                position += 1;
                code += 1;
            }
            symbol += 1;
        }
        ranges[length] = (code << (32 - length), first, start);
        length += 1;
    }
    ranges
}

const fn short() -> [(u8, u8); 1 << FAST] {
    let mut table = [(0, 0); 1 << FAST];
    let (mut position, mut next) = (0, 0);
    while position < SYMBOLS.len() {
        let symbol = SYMBOLS[position];
        let length = LENGTHS[symbol as usize];
        if length as u32 > FAST {
            break;
        }
        let end = next + (1 << (FAST - length as u32));
        while next < end {
            table[next] = (symbol as u8, length);
            next += 1;
        }
        position += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{HpackError, LENGTHS, LONGEST, decode};

    /// Encodes as the standard's section 5.2 says.
    fn encode(text: &[u8]) -> Vec<u8> {
        let mut codes = [0_u64; 257];
        let mut code = 0;
        for length in 1..=LONGEST {
            code <<= 1;
            for symbol in (0..257).filter(|&symbol| usize::from(LENGTHS[symbol]) == length) {
                codes[symbol] = code;
                code += 1;
            }
        }
        assert_eq!(codes[256], 0x3fff_ffff, "the end of the string is the last code");
        let bits = text.iter().flat_map(|&byte| {
            let (code, length) = (codes[usize::from(byte)], LENGTHS[usize::from(byte)]);
            (0..length).rev().map(move |bit| (code >> bit & 1) as u8)
        });
        let mut bits: Vec<u8> = bits.collect();
        bits.resize(bits.len().next_multiple_of(8), 1);
        bits.chunks(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | bit)).collect()
    }

    fn decoded(bytes: &[u8], limit: usize) -> Result<Vec<u8>, HpackError> {
        let mut out = b"kept".to_vec();
        decode(bytes, limit, &mut out).map(|()| out.split_off(4))
    }

    #[test]
    fn every_byte_in_every_position_of_the_bits() {
        for byte in 0..=u8::MAX {
            for before in 0..8 {
                let text = [&b"0".repeat(before)[..], &[byte], b"xyz"].concat();
                assert_eq!(decoded(&encode(&text), 100), Ok(text));
            }
        }
    }

    #[test]
    fn the_examples_of_the_standard() {
        for (code, text) in [
            (&b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"[..], "www.example.com"),
            (b"\xa8\xeb\x10\x64\x9c\xbf", "no-cache"),
            (
                b"\xd0\x7a\xbe\x94\x10\x54\xd4\x44\xa8\x20\x05\x95\x04\x0b\x81\x66\xe0\x82\xa6\x2d\x1b\xff",
                "Mon, 21 Oct 2013 20:13:21 GMT",
            ),
        ] {
            assert_eq!(decoded(code, 100).as_deref(), Ok(text.as_bytes()));
            assert_eq!(encode(text.as_bytes()), code);
        }
    }

    #[test]
    fn padding_is_the_start_of_the_last_code_and_shorter_than_a_byte() {
        assert_eq!(decoded(b"\x1f", 9), Ok(b"a".to_vec()), "a and three bits");
        assert_eq!(decoded(b"\x1e", 9), Err(HpackError::Huffman), "a bit is 0");
        assert_eq!(decoded(b"\x1f\xff", 9), Err(HpackError::Huffman), "eleven bits");
        assert_eq!(decoded(b"\xff\xff\xff\xff", 9), Err(HpackError::Huffman), "the end of the string");
        assert_eq!(decoded(b"\xff", 9), Err(HpackError::Huffman), "eight bits");
        assert_eq!(decoded(b"", 9), Ok(Vec::new()));
    }

    #[test]
    fn a_string_stops_soon_after_the_limit() {
        assert_eq!(decoded(&encode(&b"0".repeat(1000)), 10).map(|text| text.len()), Ok(11));
    }
}
