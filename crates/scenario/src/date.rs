//! Dates: of cookies by RFC 6265 §5.1.1, where the parts may be in any order, and of variables by RFC 3339.

use std::io::Write;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAY_SECONDS: i64 = 86_400;

/// Returns the time in milliseconds since 1970.
pub(crate) type Clock = fn() -> i64;

/// A time as `2026-03-01T00:00:00.000Z`. `millis`: since 1970, before the year 10000.
pub(crate) fn iso(millis: i64) -> [u8; 24] {
    let (seconds, millis) = (millis.div_euclid(1000), millis.rem_euclid(1000));
    let (days, second) = (seconds.div_euclid(DAY_SECONDS), seconds.rem_euclid(DAY_SECONDS));
    // 400 years have 146,097 days, so the estimate is a year too late at most.
    let estimate = 1970 + (days * 400).div_euclid(146_097) + 1;
    let year = if days_since_1970(1, 1, estimate) > days { estimate - 1 } else { estimate };
    let year = if days_since_1970(1, 1, year) > days { year - 1 } else { year };
    let month = (1..=12).rev().find(|&month| days_since_1970(1, month, year) <= days).unwrap_or(1);
    let day = days - days_since_1970(1, month, year) + 1;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut text = [0; 24];
    write!(&mut text[..], "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
        .expect("24 bytes are enough until the year 9999");
    text
}

/// Seconds since 1970 (UTC). `None`: a part is missing or out of range.
pub(crate) fn unix_seconds(date: &str) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in date.split(is_delimiter).filter(|token| !token.is_empty()) {
        // Each part is the first token that matches it.
        if time.is_none() && read_time(token).is_some() {
            time = read_time(token);
        } else if day.is_none() && read_number(token, 1..=2).is_some() {
            day = read_number(token, 1..=2);
        } else if month.is_none() && read_month(token).is_some() {
            month = read_month(token);
        } else if year.is_none() {
            year = read_number(token, 2..=4);
        }
    }
    let year = match year? {
        short @ 0..70 => short + 2000,
        short @ 70..100 => short + 1900,
        full => full,
    };
    let (day, month) = (day?, month?);
    ((1..=days_in(month, year)).contains(&day) && year >= 1601)
        .then_some(days_since_1970(day, month, year) * DAY_SECONDS + time?)
}

fn is_delimiter(letter: char) -> bool {
    matches!(letter, '\t' | ' '..='/' | ';'..='@' | '['..='`' | '{'..='~')
}

/// Parses leading digits, as many as `lengths` allows. Any other characters may follow.
fn read_number(token: &str, lengths: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let length = token.bytes().take_while(u8::is_ascii_digit).count();
    lengths.contains(&length).then(|| token[..length].parse().ok())?
}

/// Seconds of `hh:mm:ss`.
fn read_time(token: &str) -> Option<i64> {
    let mut parts = token.splitn(3, ':');
    let mut next = |limit| read_number(parts.next()?, 1..=2).filter(|&number| number < limit);
    let (hours, minutes, seconds) = (next(24)?, next(60)?, next(60)?);
    Some((hours * 60 + minutes) * 60 + seconds)
}

/// 1 to 12.
fn read_month(token: &str) -> Option<i64> {
    let name = token.get(..3)?;
    MONTHS.iter().zip(1..).find(|(month, _)| name.eq_ignore_ascii_case(month)).map(|(_, number)| number)
}

fn days_in(month: i64, year: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_since_1970(day: i64, month: i64, year: i64) -> i64 {
    let leap_years = |before: i64| (before - 1) / 4 - (before - 1) / 100 + (before - 1) / 400;
    let years = (year - 1970) * 365 + leap_years(year) - leap_years(1970);
    years + (1..month).map(|month| days_in(month, year)).sum::<i64>() + day - 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::unix_seconds;

    fn iso(millis: i64) -> String {
        String::from_utf8(super::iso(millis).into()).unwrap()
    }

    #[test]
    fn a_time_is_written_as_rfc_3339_has_it() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_001, "2000-02-29T00:00:00.001Z"),
            (1_735_689_599_999, "2024-12-31T23:59:59.999Z"),
            (1_772_323_200_000, "2026-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(iso(millis), text);
        }
    }

    proptest! {
        #[test]
        fn a_time_that_is_written_is_read_as_the_same_time(second in 0..253_402_300_800_i64) {
            let text = iso(second * 1000);
            let month = super::MONTHS[text[5..7].parse::<usize>().unwrap() - 1];
            let date = format!("{} {month} {} {}", &text[8..10], &text[..4], &text[11..19]);
            prop_assert_eq!(unix_seconds(&date), Some(second));
        }
    }

    #[test]
    fn dates_are_read_in_every_form_that_servers_use() {
        for (date, seconds) in [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 01-Jan-1970 00:00:01 GMT", 1),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777),
            ("Tue, 29 Feb 2028 12:00:00 GMT", 1_835_438_400),
            ("Sun, 01 Mar 2026 00:00:00 GMT", 1_772_323_200),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
            ("Mon, 01 Jan 1601 00:00:00 GMT", -11_644_473_600),
        ] {
            assert_eq!(unix_seconds(date), Some(seconds), "{date}");
        }
    }

    #[test]
    fn invalid_dates_have_no_seconds() {
        for date in [
            "",
            "soon",
            "0",
            "Thu, 01 Jan 1970",
            "01 1970 00:00:00",
            "29 Feb 2026 00:00:00",
            "00 Jan 2026 00:00:00",
            "01 Jan 1600 00:00:00",
            "01 Jan 2026 24:00:00",
            "01 Jan 20260 00:00:00",
        ] {
            assert_eq!(unix_seconds(date), None, "{date}");
        }
    }
}
