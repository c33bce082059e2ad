//! Whole numbers as `HdrHistogram` encodes them: LEB128 of at most 9 bytes, the sign in the lowest bit. Small ones are
//! short, negative ones, too.

/// Appends a number.
#[inline]
pub(crate) fn push(data: &mut Vec<u8>, number: i64) {
    let value = ((number << 1) ^ (number >> 63)).cast_unsigned();
    if value < 0x80 {
        data.push(value as u8);
    } else {
        push_long(data, value);
    }
}

/// A number of 2 bytes or more. All bytes are made together: one after another, each would cost branches that a
/// processor cannot foresee.
fn push_long(data: &mut Vec<u8>, value: u64) {
    // Groups of 28 bits move apart, then those of 14, then those of 7.
    let halves = value & 0x0fff_ffff | (value & 0x00ff_ffff_f000_0000) << 4;
    let quarters = halves & 0x0000_3fff_0000_3fff | (halves & 0x0fff_c000_0fff_c000) << 2;
    let groups = quarters & 0x007f_007f_007f_007f | (quarters & 0x3f80_3f80_3f80_3f80) << 1;
    let last = (value.ilog2() / 7).min(8);
    let marks = 0x8080_8080_8080_8080 & 1_u64.checked_shl(8 * last).map_or(u64::MAX, |bit| bit - 1);
    let length = data.len() + last as usize + 1;
    data.extend_from_slice(&(groups | marks).to_le_bytes());
    if last == 8 {
        data.push((value >> 56) as u8);
    }
    data.truncate(length);
}

/// Reads the number at the beginning, and returns it with its length in bytes. None if it is cut off.
pub(crate) fn read(data: &[u8]) -> Option<(i64, usize)> {
    let mut value: u64 = 0;
    for (place, &byte) in data.iter().enumerate() {
        let is_last = place == 8 || byte & 0x80 == 0;
        value |= u64::from(if place == 8 { byte } else { byte & 0x7f }) << (7 * place);
        if is_last {
            return Some(((value >> 1).cast_signed() ^ -(value & 1).cast_signed(), place + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{push, read};

    #[test]
    fn every_number_is_read_as_it_was_written_and_not_without_its_end() {
        let powers = (0..63).map(|power| 1_i64 << power);
        let numbers = powers.flat_map(|power| [power, power - 1, -power, -power - 1]).chain([i64::MAX, i64::MIN]);
        for number in numbers {
            let mut data = Vec::new();
            push(&mut data, number);
            assert_eq!(read(&data), Some((number, data.len())));
            assert!(data.len() <= 9);
            assert_eq!(read(&data[..data.len() - 1]), None);
        }
    }

    #[test]
    fn small_numbers_are_short() {
        for (number, length) in [(0, 1), (63, 1), (-64, 1), (64, 2), (-65, 2), (8191, 2), (8192, 3)] {
            let mut data = Vec::new();
            push(&mut data, number);
            assert_eq!(data.len(), length, "{number}");
        }
    }
}
