use proptest::prelude::*;

use std::io::Write;
use std::num::NonZeroU64;

use super::{Counts, DecodeError, Durations, LONGEST, MOST, Summand};

/// Corrected with an interval above 0.
fn corrected(durations: &Durations, interval: u64) -> Durations {
    durations.corrected(NonZeroU64::new(interval).expect("an interval above 0"))
}

#[test]
fn nanoseconds_are_kept_to_the_nearest_microsecond() {
    let mut durations = Durations::default();
    for nanos in [0, 499, 500, 1_499, 1_500] {
        assert!(durations.record_ns(nanos));
    }
    assert_eq!(durations.buckets().collect::<Vec<_>>(), [(0, 2), (1, 2), (2, 1)]);
}

#[test]
fn longer_than_an_hour_is_kept_as_an_hour_and_said() {
    let mut durations = Durations::default();
    assert!(durations.record(LONGEST, 1));
    assert!(!durations.record(LONGEST + 1, 1));
    assert_eq!(durations.count(), 2);
    assert!(durations.max().abs_diff(LONGEST) <= LONGEST / 1000);
}

#[test]
fn an_empty_histogram_has_no_values_to_report() {
    let durations = Durations::default();
    assert_eq!((durations.count(), durations.min(), durations.max(), durations.value_at(0.99)), (0, 0, 0, 0));
}

#[test]
fn ranks_are_rounded_up() {
    let mut durations = Durations::default();
    for micros in 1..=1000 {
        durations.record(micros, 1);
    }
    assert_eq!([0.5, 0.99, 0.999, 1.0].map(|q| durations.value_at(q)), [500, 990, 999, 1000]);
    assert_eq!(durations.counts_above(&[0, 990, 1000]), [1000, 10, 0]);
}

#[test]
fn a_value_also_stands_for_the_requests_that_it_held_up() {
    for (values, interval, expected, sentence) in [
        (&[100][..], 100, &[(100, 1)][..], "as long as the interval: it held up none"),
        (&[199], 100, &[(199, 1)], "the next one is the one that was sent"),
        (&[200], 100, &[(100, 1), (200, 1)], "two intervals: one was held up"),
        (&[350, 50], 100, &[(50, 1), (150, 1), (250, 1), (350, 1)], "down to the interval"),
        (&[3, 3], 1, &[(1, 2), (2, 2), (3, 2)], "as often as the value is there"),
        (&[], 1, &[], "none: none"),
    ] {
        let mut durations = Durations::default();
        for &value in values {
            durations.record(value, 1);
        }
        assert_eq!(corrected(&durations, interval).buckets().collect::<Vec<_>>(), expected, "{sentence}");
    }
}

#[test]
fn an_hour_at_one_request_a_microsecond_is_corrected_at_once() {
    let mut durations = Durations::default();
    durations.record(LONGEST, 3);
    let longest = durations.buckets().next().expect("one value").0;
    assert_eq!(corrected(&durations, 1).count(), 3 * longest);
}

#[test]
fn garbage_is_an_error() {
    assert!(Durations::decode(b"HISTFAAA").is_err());
    assert!(Durations::decode(b"").is_err());
}

#[test]
fn what_is_not_ours_is_refused_before_room_is_made_for_it() {
    let mut durations = Durations::default();
    durations.record(100, 3);
    let plain = durations.encode(false);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = plain.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    let ours = "only those with 3 significant digits of whole numbers from 1 are read";
    // 2⁶³ empty buckets, then a count of one.
    let beyond = [&with(7, &[10])[..40], &[0xff; 9], &[2]].concat();
    // Twice as many, and the count in the next piece.
    let far_beyond = [&with(7, &[65])[..40], &[0xff; 18], &[0; 46], &[2]].concat();
    assert_eq!(Durations::plain_count(&far_beyond), None);
    for (damaged, reason) in [
        (with(4, &0xf000_0000_u32.to_be_bytes()), "its end is missing"),
        (with(12, &5_u32.to_be_bytes()), ours),
        (with(16, &8_u64.to_be_bytes()), ours),
        (with(0, b"HISTFAAA"), "it does not begin as one"),
        (plain[..30].to_vec(), "its head is missing"),
        (vec![0; 100 << 20], "it is longer than any of ours"),
        (beyond, "a value in it is over 2³² µs"),
        (far_beyond, "a value in it is over 2³² µs"),
    ] {
        let packed = compressed(&damaged);
        assert!(packed.len() < 200_000);
        let error = Durations::decode(&packed).unwrap_err().to_string();
        assert!(error.ends_with(reason), "{error}, not {reason}");
    }
    let packed = compressed(&plain);
    for end in 0..packed.len() {
        assert!(Durations::decode(&packed[..end]).is_err(), "the first {end} bytes");
    }
}

#[test]
fn plain_is_one_whole_histogram_and_nothing_else() {
    let mut durations = Durations::default();
    (1..100).for_each(|value| _ = durations.record(value * 700, 1));
    let plain = durations.encode(false);
    assert_eq!(Durations::plain_count(&plain), Some(99));
    assert_eq!(Durations::plain_count(&durations.encode(true)), None);
    assert_eq!(Durations::plain_count(&[&plain[..], &[0]].concat()), None);
    for end in 0..plain.len() {
        assert_eq!(Durations::plain_count(&plain[..end]), None, "the first {end} bytes");
    }
}

#[test]
fn a_payload_may_end_after_a_number_only() {
    // Counts and gaps of one, two and three bytes, at all places of the pieces that are read together.
    let mut durations = Durations::default();
    (0..300)
        .for_each(|value| _ = durations.record(value * value * 40, [1, 1, 1, 1, 300, 1, 20_000][value as usize % 7]));
    let plain = durations.encode(false);
    for end in 40..plain.len() {
        let mut cut = plain[..end].to_vec();
        cut[4..8].copy_from_slice(&((end - 40) as u32).to_be_bytes());
        let is_whole = end == 40 || cut[end - 1] < 0x80;
        assert_eq!(Durations::plain_count(&cut).is_some(), is_whole, "the first {end} bytes");
        if is_whole {
            let found = Durations::decode(&cut).unwrap();
            assert!(durations.buckets().collect::<Vec<_>>().starts_with(&found.buckets().collect::<Vec<_>>()));
            assert_eq!(Durations::plain_count(&cut), Some(found.count()));
        }
    }
}

#[test]
fn the_highest_bucket_is_read_and_what_is_above_is_refused() {
    let mut durations = Durations::default();
    durations.record(1, 1);
    let mut plain = durations.encode(false);
    // A run of empty buckets up to the last one, as numbers of two bytes.
    let mut payload = Vec::new();
    let mut left = 23 * 1024 - 1;
    while left > 0 {
        let gap = left.min(8000_u16);
        let number = 2 * gap - 1;
        payload.extend([number as u8 & 0x7f | 0x80, (number >> 7) as u8]);
        left -= gap;
    }
    for (end, is_ours) in [(&[2][..], true), (&[0, 2], false), (&[2, 2], false), (&[2, 0], true)] {
        plain.truncate(40);
        plain.extend(payload.iter().chain(end));
        plain[4..8].copy_from_slice(&((payload.len() + end.len()) as u32).to_be_bytes());
        assert_eq!(Durations::plain_count(&plain), is_ours.then_some(1), "{end:?}");
        let expected =
            if is_ours { Ok(u64::from(u32::MAX)) } else { Err(DecodeError("a value in it is over 2³² µs")) };
        assert_eq!(Durations::decode(&plain).map(|found| found.max()), expected, "{end:?}");
    }
}

#[test]
fn counts_that_do_not_add_up_are_refused() {
    let mut durations = Durations::default();
    durations.record(1, i64::MAX as u64);
    durations.record(2, i64::MAX as u64);
    assert!(Durations::decode(&durations.encode(false)).is_ok());
    durations.record(3, i64::MAX as u64);
    let error = Durations::decode(&durations.encode(false)).unwrap_err().to_string();
    assert!(error.ends_with("its counts are too large"), "{error}");
}

#[test]
fn many_lists_add_up_to_a_long_list_and_leave_nothing_for_the_next_sum() {
    let lists: Vec<Durations> = (0..30_u64)
        .map(|number| {
            let mut each = Durations::default();
            (0..100).for_each(|value| _ = each.record(number * 100 + value, 1));
            Durations::decode(&each.encode(false)).unwrap()
        })
        .collect();
    let mut added = Durations::default();
    for each in &lists {
        added.add(each);
    }
    let counted: Vec<_> = lists.iter().map(Summand::Counted).collect();
    let sum = Durations::sum(&counted);
    assert_eq!(Durations::encoded_sum(&counted), (added.encode(false), 3000));
    assert!(matches!(&sum.counts, Counts::Few(list) if list.len() > MOST));
    assert_eq!((&sum, sum.encode(false)), (&added, added.encode(false)));
    let mut more = sum.clone();
    more.add(&lists[0]);
    added.add(&lists[0]);
    assert_eq!(more, added);
    added = sum;
    let plain: Vec<_> = lists.iter().map(|each| each.encode(false)).collect();
    assert!(plain.iter().all(|each| Durations::plain_count(each) == Some(100)));
    let mixed = plain.iter().zip(&lists).enumerate().map(|(number, (plain, list))| match number % 2 {
        0 => Summand::Plain(plain),
        _ => Summand::Counted(list),
    });
    let mixed: Vec<_> = mixed.collect();
    assert_eq!(Durations::sum(&mixed), added);
    assert_eq!(Durations::encoded_sum(&mixed), (added.encode(false), 3000));
    assert_eq!(Durations::sum(&[Summand::Counted(&lists[7])]), lists[7]);
    assert_eq!(Durations::sum(&[Summand::Plain(&plain[7])]), lists[7]);
    assert_eq!(Durations::sum(&[]), Durations::default());
    assert_eq!(Durations::encoded_sum(&[]), (Durations::default().encode(false), 0));
}

/// The compressed form of a plain histogram.
fn compressed(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    let deflated = encoder.finish().unwrap();
    [&0x1c84_9314_u32.to_be_bytes()[..], &(deflated.len() as u32).to_be_bytes(), &deflated].concat()
}

proptest! {
    #[test]
    fn both_encodings_bring_everything_back(values in prop::collection::vec(0..LONGEST * 2, 0..200)) {
        let mut durations = Durations::default();
        for value in values {
            durations.record(value, 1);
        }
        for compressed in [false, true] {
            let back = Durations::decode(&durations.encode(compressed)).unwrap();
            prop_assert_eq!(back.buckets().collect::<Vec<_>>(), durations.buckets().collect::<Vec<_>>());
        }
    }

    #[test]
    fn few_values_are_written_as_many_are(
        values in (0..32_u32).prop_flat_map(|bits| {
            let count = prop_oneof![1..64_u64, 1..20_000_u64, 1..u64::MAX >> 8];
            prop::collection::vec((0..LONGEST.min(2 << bits), count), 1..200)
        }),
    ) {
        let mut many = Durations::default();
        for &(micros, count) in &values {
            many.record(micros, count);
        }
        let few = Durations { counts: Counts::Few(many.to_buckets()) };
        let plain = many.encode(false);
        prop_assert_eq!(Durations::plain_count(&plain), Some(many.count()));
        prop_assert_eq!(&Durations::decode(&plain).unwrap(), &few);
        prop_assert_eq!(few.encode(false), plain);
    }

    #[test]
    fn the_correction_is_that_of_the_crate(
        values in prop::collection::vec((0..5_000_000_u64, 1..5_u64), 0..50),
        interval in 300..6_000_000_u64,
    ) {
        let mut durations = Durations::default();
        for (value, count) in values {
            durations.record(value, count);
        }
        let model = Durations { counts: Counts::Many(Box::new(durations.many().clone_correct(interval))) };
        let ours = corrected(&durations, interval);
        prop_assert_eq!(ours.buckets().collect::<Vec<_>>(), model.buckets().collect::<Vec<_>>());
        prop_assert_eq!((ours.min(), ours.max(), ours.count()), (model.min(), model.max(), model.count()));
    }

    #[test]
    fn a_sum_holds_the_values_of_both(left in prop::collection::vec(0..LONGEST, 0..100), right in prop::collection::vec(0..LONGEST, 0..100)) {
        let (mut a, mut b, mut whole) = (Durations::default(), Durations::default(), Durations::default());
        for value in &left { a.record(*value, 1); whole.record(*value, 1); }
        for value in &right { b.record(*value, 1); whole.record(*value, 1); }
        a.add(&b);
        prop_assert_eq!(a.buckets().collect::<Vec<_>>(), whole.buckets().collect::<Vec<_>>());
    }
}

proptest! {
    // Each case has many sums and encodings.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn few_values_tell_the_same_as_many(
        values in prop::collection::vec((prop_oneof![0..5_000_u64, 0..LONGEST], 1..5_u64), 0..60),
        more in prop::collection::vec(0..LONGEST, 0..60),
        quantile in 0.0..=1.0_f64,
        limit in 0..LONGEST,
    ) {
        let mut many = Durations::default();
        for (value, count) in values {
            many.record(value, count);
        }
        for compressed in [false, true] {
            let few = Durations::decode(&many.encode(compressed)).unwrap();
            prop_assert!(matches!(few.counts, Counts::Few(_)));
            prop_assert_eq!(&few, &many);
            prop_assert_eq!((few.count(), few.min(), few.max()), (many.count(), many.min(), many.max()));
            prop_assert!((few.mean() - many.mean()).abs() <= many.mean() * 1e-12);
            let quantiles = [0.0, 0.5, 0.99, 0.99, 1.0, quantile];
            let expected = quantiles.map(|q| many.value_at(q));
            prop_assert_eq!(quantiles.map(|q| few.value_at(q)), expected);
            prop_assert_eq!((few.values_at(&quantiles), many.values_at(&quantiles)), (expected.into(), expected.into()));
            let plain = many.encode(false);
            let ascending = [0.5, 0.99, 0.99, 1.0];
            for asked in [&quantiles[..], &ascending, &[]] {
                prop_assert_eq!(Durations::plain_values_at(&plain, many.count(), asked), many.values_at(asked));
            }
            prop_assert_eq!(few.counts_above(&[limit / 2, limit]), many.counts_above(&[limit / 2, limit]));
            prop_assert_eq!(few.encode(false), many.encode(false));
            let mut other = Durations::default();
            for value in &more {
                other.record(*value, 1);
            }
            let few_more = Durations::decode(&other.encode(true)).unwrap();
            let mut whole = many.clone();
            whole.add(&other);
            for (left, right) in [(&few, &few_more), (&few, &other), (&many, &few_more)] {
                let mut sum = left.clone();
                sum.add(right);
                prop_assert_eq!(&sum, &whole);
                let parts = [Summand::Counted(left), Summand::Counted(right)];
                prop_assert_eq!(&Durations::sum(&parts), &whole);
                let (data, count) = Durations::encoded_sum(&parts);
                prop_assert_eq!((Durations::decode(&data).unwrap(), count), (whole.clone(), whole.count()));
            }
        }
    }
}
