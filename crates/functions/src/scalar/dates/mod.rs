//! Dates and times (the manual, "Date and Time Functions").

mod add_time;
mod arguments;
mod comparable;
mod conversion;
mod convert_tz;
mod date_add;
mod difference;
mod extract;
mod format;
mod get_format;
mod last_day;
mod make;
mod names;
mod now;
mod part;
mod period;
mod str_to_date;
mod time_part;
mod unix_time;
mod week;

use crate::scalar::ScalarFunction;

/// The functions of this family.
pub(crate) const FUNCTIONS: &[ScalarFunction] = &[
    ScalarFunction::new(&["addtime"], 2..=2, &add_time::ADDTIME),
    ScalarFunction::new(&["subtime"], 2..=2, &add_time::SUBTIME),
    ScalarFunction::new(&["date"], 1..=1, &conversion::Date),
    ScalarFunction::new(&["time"], 1..=1, &conversion::Time),
    ScalarFunction::new(&["timestamp"], 1..=2, &conversion::Timestamp),
    // SYSTEM is a name of a zone too.
    ScalarFunction::new(&["convert_tz"], 3..=3, &convert_tz::ConvertTz).stable(),
    ScalarFunction::new(&["date_add", "adddate"], 3..=3, &date_add::DATE_ADD),
    ScalarFunction::new(&["date_sub", "subdate"], 3..=3, &date_add::DATE_SUB),
    ScalarFunction::new(&["timestampadd"], 3..=3, &date_add::TIMESTAMPADD),
    ScalarFunction::new(&["datediff"], 2..=2, &difference::DateDiff),
    ScalarFunction::new(&["timestampdiff"], 3..=3, &difference::TimestampDiff),
    ScalarFunction::new(&["timediff"], 2..=2, &difference::TimeDiff),
    ScalarFunction::new(&["extract"], 2..=2, &extract::Extract),
    ScalarFunction::new(&["date_format"], 2..=2, &format::DateFormat),
    ScalarFunction::new(&["time_format"], 2..=2, &format::TimeFormat),
    ScalarFunction::new(&["get_format"], 2..=2, &get_format::GetFormat),
    ScalarFunction::new(&["comparable date"], 1..=3, &comparable::COMPARABLE_DATE),
    ScalarFunction::new(
        &["comparable datetime"],
        1..=3,
        &comparable::COMPARABLE_DATETIME,
    ),
    ScalarFunction::new(&["last_day"], 1..=1, &last_day::LastDay),
    ScalarFunction::new(&["makedate"], 2..=2, &make::MakeDate),
    ScalarFunction::new(&["maketime"], 3..=3, &make::MakeTime),
    ScalarFunction::new(&["sec_to_time"], 1..=1, &make::SecToTime),
    ScalarFunction::new(&["from_days"], 1..=1, &make::FromDays),
    ScalarFunction::new(&["dayname"], 1..=1, &names::DAYNAME),
    ScalarFunction::new(&["monthname"], 1..=1, &names::MONTHNAME),
    ScalarFunction::new(
        &["now", "current_timestamp", "localtime", "localtimestamp"],
        0..=1,
        &now::NOW,
    )
    .stable(),
    ScalarFunction::new(&["sysdate"], 0..=1, &now::SYSDATE).volatile(),
    ScalarFunction::new(&["curdate", "current_date"], 0..=0, &now::CURDATE).stable(),
    ScalarFunction::new(&["curtime", "current_time"], 0..=1, &now::CURTIME).stable(),
    ScalarFunction::new(&["utc_date"], 0..=0, &now::UTC_DATE).stable(),
    ScalarFunction::new(&["utc_time"], 0..=1, &now::UTC_TIME).stable(),
    ScalarFunction::new(&["utc_timestamp"], 0..=1, &now::UTC_TIMESTAMP).stable(),
    ScalarFunction::new(&["year"], 1..=1, &part::YEAR),
    ScalarFunction::new(&["quarter"], 1..=1, &part::QUARTER),
    ScalarFunction::new(&["month"], 1..=1, &part::MONTH),
    ScalarFunction::new(&["dayofmonth", "day"], 1..=1, &part::DAY),
    ScalarFunction::new(&["dayofweek"], 1..=1, &part::DAYOFWEEK),
    ScalarFunction::new(&["weekday"], 1..=1, &part::WEEKDAY),
    ScalarFunction::new(&["dayofyear"], 1..=1, &part::DAYOFYEAR),
    ScalarFunction::new(&["weekofyear"], 1..=1, &part::WEEKOFYEAR),
    ScalarFunction::new(&["to_days"], 1..=1, &part::TO_DAYS),
    ScalarFunction::new(&["to_seconds"], 1..=1, &part::TO_SECONDS),
    ScalarFunction::new(&["period_add"], 2..=2, &period::PERIOD_ADD),
    ScalarFunction::new(&["period_diff"], 2..=2, &period::PERIOD_DIFF),
    ScalarFunction::new(&["str_to_date"], 2..=2, &str_to_date::StrToDate),
    ScalarFunction::new(&["hour"], 1..=1, &time_part::HOUR),
    ScalarFunction::new(&["minute"], 1..=1, &time_part::MINUTE),
    ScalarFunction::new(&["second"], 1..=1, &time_part::SECOND),
    ScalarFunction::new(&["microsecond"], 1..=1, &time_part::MICROSECOND),
    ScalarFunction::new(&["time_to_sec"], 1..=1, &time_part::TIME_TO_SEC),
    // By the clock without an argument, and by the time zone with one.
    ScalarFunction::new(&["unix_timestamp"], 0..=1, &unix_time::UnixTimestamp).stable(),
    ScalarFunction::new(&["from_unixtime"], 1..=2, &unix_time::FromUnixTime).stable(),
    ScalarFunction::new(&["week"], 1..=2, &week::WEEK),
    ScalarFunction::new(&["yearweek"], 1..=2, &week::YEARWEEK),
];
