//! Random numbers of one worker.

use std::fmt::Write;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The same seed and worker give the same numbers. Other workers use other parts of the same sequence.
#[derive(Debug)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64, worker: u32) -> Self {
        let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..worker {
            // Jumps by 2^128 numbers, so no worker reaches the part of the next.
            generator.jump();
        }
        Self(generator)
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * f64::EPSILON / 2.0
    }

    /// Uniform in 0..bound; `bound` > 0.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        // The bias is at most one in 2^32, too small to be visible in a run.
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u32
    }

    /// Appends so many letters and digits.
    pub(crate) fn push_text(&mut self, length: u32, out: &mut String) {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        out.extend((0..length).map(|_| char::from(LETTERS[self.below(LETTERS.len() as u32) as usize])));
    }

    /// Appends a random UUID (version 4).
    pub(crate) fn push_uuid(&mut self, out: &mut String) {
        let (high, low) = (self.0.next_u64(), self.0.next_u64());
        let (first, second, third) = (high >> 32, high >> 16 & 0xffff, high & 0xfff);
        let (fourth, fifth) = (low >> 48 & 0x3fff | 0x8000, low & 0xffff_ffff_ffff);
        write!(out, "{first:08x}-{second:04x}-4{third:03x}-{fourth:04x}-{fifth:012x}")
            .expect("writing to a String does not fail");
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Random;

    #[test]
    fn numbers_are_even_over_their_range() {
        let mut random = Random::new(1, 0);
        let mut counts = [0; 7];
        for _ in 0..70_000 {
            counts[random.below(7) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (9_000..11_000).contains(&count)), "{counts:?}");
        let numbers: Vec<f64> = (0..70_000).map(|_| random.unit()).collect();
        assert!(numbers.iter().all(|number| (0.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / 70_000.0;
        assert!((0.48..0.52).contains(&mean), "{mean}");
    }

    #[test]
    fn a_seed_can_be_repeated_and_workers_differ() {
        let draw = |seed, worker| {
            let mut random = Random::new(seed, worker);
            (0..4).map(|_| random.below(u32::MAX)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7, 3), draw(7, 3));
        let distinct: HashSet<_> = [draw(7, 0), draw(7, 1), draw(7, 2), draw(8, 0)].into();
        assert_eq!(distinct.len(), 4);
    }

    #[test]
    fn a_text_has_its_length_and_every_letter_and_digit() {
        let (mut random, mut text) = (Random::new(1, 0), String::from("before "));
        random.push_text(5000, &mut text);
        let text = text.strip_prefix("before ").unwrap();
        assert!(text.len() == 5000 && text.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{text}");
        assert_eq!(text.bytes().collect::<HashSet<_>>().len(), 62);
    }

    #[test]
    fn a_uuid_has_its_form_version_and_variant_and_is_new_each_time() {
        let mut random = Random::new(1, 0);
        let mut seen = HashSet::new();
        for _ in 0..1000 {
            let mut text = String::new();
            random.push_uuid(&mut text);
            let groups: Vec<_> = text.split('-').map(str::len).collect();
            assert_eq!(groups, [8, 4, 4, 4, 12], "{text}");
            assert!(text.bytes().all(|byte| byte == b'-' || matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{text}");
            assert_eq!(&text[14..15], "4", "{text}");
            assert!("89ab".contains(&text[19..20]), "{text}");
            assert!(seen.insert(text));
        }
    }
}
