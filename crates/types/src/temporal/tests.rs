//! Temporal values against MySQL's results.

use proptest::prelude::*;

use super::calendar::{WeekMode, date_of_day_number, day_number, week, weekday};
use super::number::{datetime_from_number, datetime_to_number, time_from_number, time_to_number};
use super::pattern::{Printed, date_format, str_to_date};
use super::*;

fn show(value: DateTime) -> String {
    let mut out = Vec::new();
    append_datetime(&mut out, value.pack(), 6);
    String::from_utf8(out)
        .unwrap()
        .trim_end_matches(".000000")
        .to_owned()
}

fn datetime(text: &str) -> DateTime {
    parse_datetime(text.as_bytes(), DateRules::default(), false)
        .unwrap_or_else(|error| panic!("{text}: {error:?}"))
        .value
}

#[test]
fn reads_every_form_of_datetime() {
    for (text, expected) in [
        ("2024-01-31", "2024-01-31 00:00:00"),
        ("2024-1-3", "2024-01-03 00:00:00"),
        ("24-01-31", "2024-01-31 00:00:00"),
        ("70-01-31", "1970-01-31 00:00:00"),
        ("20240131", "2024-01-31 00:00:00"),
        ("240131", "2024-01-31 00:00:00"),
        ("20240131235958", "2024-01-31 23:59:58"),
        ("240131235958", "2024-01-31 23:59:58"),
        ("20240131235958.5", "2024-01-31 23:59:58.500000"),
        ("2024-01-31 23:59:58", "2024-01-31 23:59:58"),
        ("2024-01-31T23:59:58", "2024-01-31 23:59:58"),
        ("20240131T235958", "2024-01-31 23:59:58"),
        ("2024/01/31 23*59^58", "2024-01-31 23:59:58"),
        ("2024@01@31", "2024-01-31 00:00:00"),
        ("  2024-01-31 1:2:3  ", "2024-01-31 01:02:03"),
        ("2024-01-31 23:59", "2024-01-31 23:59:00"),
        ("2024-01-31 23:59:58.1234567", "2024-01-31 23:59:58.123457"),
        ("2024-01-31 23:59:59.9999995", "2024-02-01 00:00:00"),
        ("0000-00-00", "0000-00-00 00:00:00"),
        ("2024-00-00", "2024-00-00 00:00:00"),
        ("2024-01-31 10:00:00.5", "2024-01-31 10:00:00.500000"),
    ] {
        assert_eq!(show(datetime(text)), expected, "{text}");
    }
    let offset = parse_datetime(b"2024-01-31 10:00:00+05:30", DateRules::default(), false).unwrap();
    assert_eq!((offset.offset, offset.truncated), (Some(19_800), false));
    let rest = parse_datetime(b"2024-01-31 10:00:00 x", DateRules::default(), false).unwrap();
    assert!(rest.truncated);
    for wrong in [
        "",
        "abc",
        "2024-13-01",
        "2024-02-30",
        "2023-02-29",
        "2024-01-01 25:00:00",
        "2024",
        "1",
        "2024-01",
    ] {
        assert!(
            parse_datetime(wrong.as_bytes(), DateRules::default(), false).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn rules_of_sql_mode() {
    let strict = DateRules::of(SqlMode::DEFAULT);
    let parse = |text: &str, rules| parse_datetime(text.as_bytes(), rules, false).map(|p| p.value);
    assert_eq!(parse("0000-00-00", strict), Err(TemporalError::ZeroDate));
    assert_eq!(parse("2024-00-01", strict), Err(TemporalError::ZeroInDate));
    assert_eq!(parse("2024-02-31", strict), Err(TemporalError::OutOfRange));
    let invalid = DateRules {
        allow_invalid_dates: true,
        ..DateRules::default()
    };
    assert_eq!(
        parse("2024-02-31", invalid),
        Ok(DateTime::date(2024, 2, 31))
    );
}

#[test]
fn reads_every_form_of_time() {
    let check = |text: &str, expected: &str| {
        let parsed = parse_time(text.as_bytes(), false).unwrap();
        let mut out = Vec::new();
        append_time(&mut out, parsed.micros, 6);
        let shown = String::from_utf8(out).unwrap();
        assert_eq!(shown.trim_end_matches(".000000"), expected, "{text}");
        parsed
    };
    for (text, expected) in [
        ("10:11:12", "10:11:12"),
        ("10:11", "10:11:00"),
        ("101112", "10:11:12"),
        ("1112", "00:11:12"),
        ("12", "00:00:12"),
        ("1 10:11:12", "34:11:12"),
        ("2 10", "58:00:00"),
        ("-1:02:03", "-01:02:03"),
        ("10:11:12.5", "10:11:12.500000"),
        ("-838:59:59", "-838:59:59"),
        ("2024-01-31 10:11:12", "10:11:12"),
        ("10:11:12.1234567", "10:11:12.123457"),
    ] {
        check(text, expected);
    }
    assert!(check("900:00:00", "838:59:59").out_of_range);
    assert!(check("10:11:12abc", "10:11:12").truncated);
    assert!(parse_time(b"10:61:00", false).is_err());
    assert!(parse_time(b"abc", false).is_err());
}

#[test]
fn numbers() {
    let rules = DateRules::default();
    let check = |number, expected: &str| {
        assert_eq!(
            show(datetime_from_number(number, 0, rules).unwrap().0),
            expected
        );
    };
    check(20240131, "2024-01-31 00:00:00");
    check(240131, "2024-01-31 00:00:00");
    check(991231, "1999-12-31 00:00:00");
    check(101, "2000-01-01 00:00:00");
    check(20240131235958, "2024-01-31 23:59:58");
    check(240131235958, "2024-01-31 23:59:58");
    assert!(datetime_from_number(20241301, 0, rules).is_err());
    assert_eq!(
        datetime_to_number(datetime("2024-01-31 23:59:58").pack()),
        20240131235958
    );
    assert_eq!(time_from_number(-101112, 0), Ok((-36_672_000_000, false)));
    assert_eq!(time_to_number(-36_672_000_000), -101112);
    assert!(time_from_number(106000, 0).is_err());
    assert_eq!(time_from_number(8390000, 0), Ok((TIME_MAX_MICROS, true)));
}

#[test]
fn days_and_weeks() {
    assert_eq!(
        day_number(DateTime::date(1970, 1, 1)),
        calendar::DAY_NUMBER_1970
    );
    assert_eq!(day_number(DateTime::date(2007, 10, 7)), 733_321);
    assert_eq!(weekday(733_321), 6);
    for number in 366..=calendar::DAY_NUMBER_MAX {
        let date = date_of_day_number(number).unwrap();
        assert_eq!(day_number(date), number);
        assert!(date.check(DateRules::default()).is_ok());
    }
    // SELECT WEEK('2008-02-20', 0..7), WEEK('2000-01-01', 0..7) in MySQL.
    let weeks = |date: DateTime| {
        (0..8)
            .map(|mode| week(date, WeekMode::new(mode)).1)
            .collect::<Vec<_>>()
    };
    assert_eq!(weeks(DateTime::date(2008, 2, 20)), [7, 8, 7, 8, 8, 7, 8, 7]);
    assert_eq!(
        weeks(DateTime::date(2000, 1, 1)),
        [0, 0, 52, 52, 0, 0, 52, 52]
    );
    assert_eq!(
        week(DateTime::date(1987, 1, 1), WeekMode::new(2)),
        (1986, 52)
    );
}

#[test]
fn intervals() {
    let add = |text: &str, unit: IntervalUnit, count: i64| {
        add_interval(datetime(text), Interval::of(unit, count, 0)).map(show)
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        add("2024-01-31", IntervalUnit::Month, 1),
        some("2024-02-29 00:00:00")
    );
    assert_eq!(
        add("2024-02-29", IntervalUnit::Year, 1),
        some("2025-02-28 00:00:00")
    );
    assert_eq!(
        add("2024-03-31", IntervalUnit::Quarter, -1),
        some("2023-12-31 00:00:00")
    );
    assert_eq!(
        add("2024-12-31 23:59:59", IntervalUnit::Second, 1),
        some("2025-01-01 00:00:00")
    );
    assert_eq!(
        add("2024-01-01", IntervalUnit::Day, -1),
        some("2023-12-31 00:00:00")
    );
    assert_eq!(add("9999-12-31", IntervalUnit::Day, 1), None);
    assert_eq!(add("2024-01-01", IntervalUnit::Week, i64::MAX), None);
    let compound = |text: &str, unit, interval: &str| {
        let interval = Interval::parse_compound(unit, interval.as_bytes()).unwrap();
        add_interval(datetime(text), interval).map(show)
    };
    assert_eq!(
        compound("2025-01-01", IntervalUnit::DaySecond, "-1 1:1:1"),
        some("2024-12-30 22:58:59")
    );
    assert_eq!(
        compound("2100-12-31 23:59:59", IntervalUnit::MinuteSecond, "1:1"),
        some("2101-01-01 00:01:00")
    );
    assert_eq!(
        compound(
            "1992-12-31 23:59:59.000002",
            IntervalUnit::SecondMicrosecond,
            "1.999999"
        ),
        some("1993-01-01 00:00:01.000001")
    );
    assert_eq!(
        compound("2024-01-01", IntervalUnit::YearMonth, "1-2"),
        some("2025-03-01 00:00:00")
    );
    assert_eq!(
        compound("2024-01-01", IntervalUnit::DayMinute, "10"),
        some("2024-01-01 00:10:00")
    );
    let diff = |unit, a: &str, b: &str| timestamp_diff(unit, datetime(a), datetime(b));
    assert_eq!(diff(IntervalUnit::Month, "2003-02-01", "2003-05-01"), 3);
    assert_eq!(diff(IntervalUnit::Year, "2002-05-01", "2001-01-01"), -1);
    assert_eq!(
        diff(IntervalUnit::Minute, "2003-02-01", "2003-05-01 12:05:55"),
        128_885
    );
    assert_eq!(diff(IntervalUnit::Month, "2024-01-31", "2024-02-29"), 0);
}

#[test]
fn formats() {
    let check = |text: &str, format: &str, expected: &str| {
        let mut out = Vec::new();
        let done = date_format(
            &mut out,
            Printed::of_datetime(datetime(text)),
            format.as_bytes(),
            <&Locale>::default(),
        );
        assert!(done.is_some());
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    };
    check("2009-10-04 22:23:00", "%W %M %Y", "Sunday October 2009");
    check("2007-10-04 22:23:00", "%H:%i:%s", "22:23:00");
    check(
        "1900-10-04 22:23:00",
        "%D %y %a %d %m %b %j",
        "4th 00 Thu 04 10 Oct 277",
    );
    check(
        "1997-10-04 22:23:00",
        "%H %k %I %r %T %S %w",
        "22 22 10 10:23:00 PM 22:23:00 00 6",
    );
    check("1999-01-01", "%X %V", "1998 52");
    check("2006-06-00", "%d", "00");
    check("2024-01-01 00:00:00.000123", "%f %% %q", "000123 % q");
    let mut out = Vec::new();
    assert!(
        date_format(
            &mut out,
            Printed::of_datetime(DateTime::date(2006, 0, 0)),
            b"%M",
            <&Locale>::default(),
        )
        .is_none()
    );
    out.clear();
    date_format(
        &mut out,
        Printed::of_time(100 * 3600 * MICROS_PER_SECOND),
        b"%H %k %h %I %l",
        <&Locale>::default(),
    )
    .unwrap();
    assert_eq!(out, b"100 100 04 04 4");
}

#[test]
fn reads_by_format() {
    let check = |text: &str, format: &str, expected: &str| {
        let read = str_to_date(text.as_bytes(), format.as_bytes()).unwrap();
        assert_eq!(show(read.value), expected, "{text} {format}");
        read.truncated
    };
    assert!(!check("01,5,2013", "%d,%m,%Y", "2013-05-01 00:00:00"));
    check("May 1, 2013", "%M %d,%Y", "2013-05-01 00:00:00");
    check("a09:30:17", "a%h:%i:%s", "0000-00-00 09:30:17");
    assert!(check("09:30:17a", "%h:%i:%s", "0000-00-00 09:30:17"));
    check("200442 Monday", "%X%V %W", "2004-10-18 00:00:00");
    check("10:11:12 PM", "%r", "0000-00-00 22:11:12");
    check("2024-366", "%Y-%j", "2024-12-31 00:00:00");
    check("15.123", "%s.%f", "0000-00-00 00:00:15.123000");
    assert!(str_to_date(b"abc", b"%Y").is_none());
    assert!(str_to_date(b"a09:30:17", b"%h:%i:%s").is_none());
}

#[test]
fn zones() {
    let berlin = TimeZone::parse("Europe/Berlin").unwrap();
    let utc = TimeZone::UTC;
    let convert = |text: &str, from: &TimeZone, to: &TimeZone| {
        show(from.convert(datetime(text), to).unwrap())
    };
    assert_eq!(
        convert("2024-01-01 12:00:00", &utc, &berlin),
        "2024-01-01 13:00:00"
    );
    assert_eq!(
        convert("2024-07-01 12:00:00.5", &berlin, &utc),
        "2024-07-01 10:00:00.500000"
    );
    // Clocks skip 02:00 to 03:00.
    assert_eq!(
        convert("2024-03-31 02:30:00", &berlin, &utc),
        "2024-03-31 01:00:00"
    );
    let india = TimeZone::parse("+05:30").unwrap();
    assert_eq!(india.name(), "+05:30");
    assert_eq!(
        convert("2024-01-01 00:00:00", &utc, &india),
        "2024-01-01 05:30:00"
    );
    assert!(TimeZone::parse("Nowhere/Land").is_err());
    assert!(TimeZone::parse("+15:00").is_err());
    assert_eq!(
        utc.local_of_unix(0).map(show).as_deref(),
        Some("1970-01-01 00:00:00")
    );
}

proptest! {
    #[test]
    fn packing_keeps_order(a in any::<u64>(), b in any::<u64>()) {
        let make = |seed: u64| DateTime {
            year: (seed % 10_000) as u16,
            month: (seed >> 14) as u8 % 13,
            day: (seed >> 18) as u8 % 32,
            hour: (seed >> 24) as u8 % 24,
            minute: (seed >> 32) as u8 % 60,
            second: (seed >> 40) as u8 % 60,
            microsecond: (seed >> 42) as u32 % 1_000_000,
        };
        let (a, b) = (make(a), make(b));
        prop_assert_eq!(DateTime::unpack(a.pack()), a);
        prop_assert_eq!(a.cmp(&b), a.pack().cmp(&b.pack()));
    }

    #[test]
    fn never_panics(text in "[0-9:. T+-]{0,40}") {
        let _ = parse_datetime(text.as_bytes(), DateRules::default(), false);
        let _ = parse_time(text.as_bytes(), false);
        let _ = str_to_date(text.as_bytes(), b"%Y-%m-%d %H:%i:%s.%f %X %V %W %j");
        for unit in IntervalUnit::all() {
            assert_eq!(IntervalUnit::by_name(unit.name()), Some(unit));
            if let Some(interval) = Interval::parse_compound(unit, text.as_bytes()) {
                let _ = add_interval(DateTime::date(2024, 2, 29), interval);
            }
        }
    }
}
