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
pub(crate) const FUNCTIONS: &[&dyn ScalarFunction] = &[
    &add_time::ADDTIME,
    &add_time::SUBTIME,
    &conversion::Date,
    &conversion::Time,
    &conversion::Timestamp,
    &convert_tz::ConvertTz,
    &date_add::DATE_ADD,
    &date_add::DATE_SUB,
    &date_add::TIMESTAMPADD,
    &difference::DateDiff,
    &difference::TimestampDiff,
    &difference::TimeDiff,
    &extract::Extract,
    &format::DateFormat,
    &format::TimeFormat,
    &get_format::GetFormat,
    &comparable::COMPARABLE_DATE,
    &comparable::COMPARABLE_DATETIME,
    &last_day::LastDay,
    &make::MakeDate,
    &make::MakeTime,
    &make::SecToTime,
    &make::FromDays,
    &names::DAYNAME,
    &names::MONTHNAME,
    &now::NOW,
    &now::SYSDATE,
    &now::CURDATE,
    &now::CURTIME,
    &now::UTC_DATE,
    &now::UTC_TIME,
    &now::UTC_TIMESTAMP,
    &part::YEAR,
    &part::QUARTER,
    &part::MONTH,
    &part::DAY,
    &part::DAYOFWEEK,
    &part::WEEKDAY,
    &part::DAYOFYEAR,
    &part::WEEKOFYEAR,
    &part::TO_DAYS,
    &part::TO_SECONDS,
    &period::PERIOD_ADD,
    &period::PERIOD_DIFF,
    &str_to_date::StrToDate,
    &time_part::HOUR,
    &time_part::MINUTE,
    &time_part::SECOND,
    &time_part::MICROSECOND,
    &time_part::TIME_TO_SEC,
    &unix_time::UnixTimestamp,
    &unix_time::FromUnixTime,
    &week::WEEK,
    &week::YEARWEEK,
];
