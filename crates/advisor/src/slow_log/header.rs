//! The lines above a statement: `# Name: value  Name: value`, in the forms of every server.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::event::Event;

/// Content of a line above a statement.
pub(super) enum HeaderLine<'l> {
    /// `# Time: …`
    Time(i64),
    /// `# User@Host: …`
    Account(&'l str),
    /// A row of the server's EXPLAIN.
    Explain(&'l str),
    /// `Name: value  Name: value`
    Fields(&'l str),
    /// Nothing known.
    Nothing,
}

/// Beginnings of the names of fields that servers write.
const FIELDS: &[&str] = &[
    "Query_time",
    "Lock_time",
    "Rows_",
    "Thread_id",
    "Schema",
    "QC_hit",
    "Bytes_",
    "Tmp_",
    "Full_",
    "Filesort",
    "Merge_passes",
    "Priority_queue",
    "Pages_",
    "Old_rows",
    "Engine_time",
    "InnoDB_",
    "Last_errno",
    "Errno",
    "Killed",
    "Log_slow_",
    "Stored",
    "Read_",
    "Sort_",
    "Created_tmp_",
    "Count_hit_",
    "Start",
    "End",
    "Id",
    "Warnings",
];

fn is_field(name: &str) -> bool {
    FIELDS.iter().any(|known| name.starts_with(known))
}

/// The content of a line, with or without its `#`.
pub(super) fn header_line(line: &str) -> HeaderLine<'_> {
    let body = line.trim_start_matches('#').trim();
    if let Some(time) = body.strip_prefix("Time:") {
        return time_of(time.trim()).map_or(HeaderLine::Nothing, HeaderLine::Time);
    }
    if let Some(account) = body.strip_prefix("User@Host:") {
        return HeaderLine::Account(account);
    }
    if let Some(row) = body.strip_prefix("explain:") {
        return HeaderLine::Explain(row.trim_start());
    }
    if body.starts_with("No InnoDB statistics") {
        return HeaderLine::Fields("");
    }
    match fields(body).first() {
        Some((name, _)) if is_field(name) => HeaderLine::Fields(body),
        _ => HeaderLine::Nothing,
    }
}

/// Adds the content of a line to an event.
pub(super) fn take(line: HeaderLine<'_>, event: &mut Event) {
    match line {
        HeaderLine::Time(time) => event.time = Some(time),
        HeaderLine::Account(account) => read_account(account, event),
        HeaderLine::Explain(row) => event.explain.push(row.to_owned()),
        HeaderLine::Fields(body) => {
            for (name, value) in fields(body) {
                read_value(name, value, event);
            }
        }
        HeaderLine::Nothing => {}
    }
}

/// Whether a line is the first of an event: `# Time: …` with a time, or `# User@Host: …` with an account.
pub(super) fn begins_event(line: &[u8]) -> bool {
    let Some(body) = line.strip_prefix(b"# ") else {
        return false;
    };
    let Ok(text) = std::str::from_utf8(body) else {
        return body.starts_with(b"User@Host:");
    };
    match text.strip_prefix("Time:") {
        Some(time) => time_of(time.trim()).is_some(),
        None => text
            .strip_prefix("User@Host:")
            .is_some_and(|account| account.contains(" @ ")),
    }
}

/// Whether a line has fields of an event behind a `#`.
pub(super) fn is_field_comment(line: &[u8]) -> bool {
    line.starts_with(b"# ")
        && matches!(
            header_line(&String::from_utf8_lossy(line)),
            HeaderLine::Fields(_)
        )
}

/// Whether a line has fields of an event but no `#`, which was lost.
pub(super) fn is_field_line(line: &[u8]) -> bool {
    // No statement begins this way; only the beginning is searched.
    const NAME_BYTES: usize = 40;
    let beginning = &line[..line.len().min(NAME_BYTES)];
    let name = beginning
        .trim_ascii_start()
        .split(|byte| *byte == b':')
        .next();
    let Some(Ok(name)) = name.map(std::str::from_utf8) else {
        return false;
    };
    name.len() < beginning.len() && !name.contains(char::is_whitespace) && is_field(name)
}

/// `root[root] @ localhost [127.0.0.1]  Id:     8`
fn read_account(text: &str, event: &mut Event) {
    let (user, host) = text.split_once(" @ ").unwrap_or((text, ""));
    let user = user.split('[').next().unwrap_or_default().trim();
    let host = host.split("Id:").next().unwrap_or_default().trim();
    let (name, address) = host.split_once('[').unwrap_or((host, ""));
    let name = match name.trim() {
        "" => address.trim_end_matches(']').trim(),
        name => name,
    };
    event.account = format!("{user}@{name}");
}

/// The fields of `Query_time: 0.1  Lock_time: 0.0  Schema:  Rows_sent: 1`: names end with a colon, and blanks or tabs
/// separate names and values. A value may be empty, and the value of `Schema` may contain blanks.
fn fields(body: &str) -> Vec<(&str, &str)> {
    let mut fields: Vec<(&str, &str)> = Vec::new();
    let mut value_start = None;
    for word in body.split_ascii_whitespace() {
        let start = word.as_ptr() as usize - body.as_ptr() as usize;
        let end = start + word.len();
        let is_value = matches!(fields.last(), Some((_, "")));
        if let Some(name) = word.strip_suffix(':').filter(|name| is_name(name)) {
            fields.push((name, ""));
            value_start = None;
        } else if let Some((name, value)) = word.split_once(':')
            && !is_value
            && is_field(name)
        {
            fields.push((name, value));
            value_start = None;
        } else if let Some((_, value)) = fields.last_mut() {
            let start = *value_start.get_or_insert(start);
            *value = &body[start..end];
        }
    }
    fields
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '@'))
}

fn read_value(name: &str, value: &str, event: &mut Event) {
    // Only names contain blanks.
    let word = value.split_ascii_whitespace().next().unwrap_or_default();
    let number = || word.parse::<u64>().ok();
    let yes = || match word {
        "Yes" => Some(true),
        "No" => Some(false),
        _ => None,
    };
    match name {
        "Query_time" => event.query_time = seconds(word),
        "Lock_time" => event.lock_time = seconds(word),
        "Rows_sent" => event.rows_sent = number().unwrap_or_default(),
        "Rows_examined" => event.rows_examined = number().unwrap_or_default(),
        "Schema" if !value.is_empty() => event.database = Some(value.to_owned()),
        "Tmp_tables" | "Created_tmp_tables" => event.tables = number(),
        "Tmp_disk_tables" | "Created_tmp_disk_tables" => event.disk_tables = number(),
        "Tmp_table_sizes" => event.bytes = number(),
        "Count_hit_tmp_table_size" => event.size_limit_hits = number(),
        "Merge_passes" | "Sort_merge_passes" => event.merge_passes = number(),
        // A flag adds to a number that another line gives, and never subtracts from it.
        "Tmp_table" => event.tables = event.tables.or(yes().map(u64::from)),
        "Tmp_table_on_disk" => event.disk_tables = event.disk_tables.or(yes().map(u64::from)),
        "Filesort_on_disk" => event.sort_on_disk = yes(),
        "Full_join" => event.full_join = yes(),
        _ => {}
    }
}

fn seconds(text: &str) -> f64 {
    let seconds = text.parse::<f64>().unwrap_or_default();
    if seconds.is_finite() {
        seconds.max(0.0)
    } else {
        0.0
    }
}

/// The time of `2026-11-26T02:32:11.123456Z`, of one with an offset, or of `261126  2:32:11` in a zone that the log
/// does not name, which is read as UTC.
fn time_of(text: &str) -> Option<i64> {
    if text.contains('T') {
        let parsed = text.parse::<jiff::Timestamp>().ok();
        return parsed.map(|time| time.as_microsecond());
    }
    if text.get(4..5) == Some("-") {
        let parsed = text.parse::<DateTime>().ok()?;
        let zoned = parsed.to_zoned(TimeZone::UTC).ok()?;
        return Some(zoned.timestamp().as_microsecond());
    }
    let (date, time) = text.split_once([' ', '\t'])?;
    let time = time.split('.').next().unwrap_or_default();
    let two = |range: std::ops::Range<usize>| date.get(range)?.parse::<i8>().ok();
    let mut parts = time.trim().split(':').map(|part| part.parse::<i8>().ok());
    let mut next = || parts.next().flatten();
    let year = 2000 + i16::from(two(0..2)?);
    let day = DateTime::new(year, two(2..4)?, two(4..6)?, next()?, next()?, next()?, 0).ok()?;
    let zoned = day.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, event: &mut Event) {
        take(header_line(line), event);
    }

    #[test]
    fn empty_values_do_not_shift_the_others() {
        let mut event = Event::default();
        read("# Thread_id: 4  Schema:   QC_hit: No", &mut event);
        assert_eq!(event.database, None);
        read("# Thread_id: 5  Schema: t  QC_hit: No", &mut event);
        assert_eq!(event.database.as_deref(), Some("t"));
        read("# Thread_id: 5  Schema: my shop  QC_hit: No", &mut event);
        assert_eq!(event.database.as_deref(), Some("my shop"));
    }

    #[test]
    fn fields_stand_between_any_blanks() {
        for line in [
            "# Query_time: 1.5  Lock_time: 0.25 Rows_sent: 3  Rows_examined: 40",
            "# Query_time:\t1.5\tLock_time: 0.25\tRows_sent:  3\t\tRows_examined: 40",
            "#Query_time:1.5 Lock_time:0.25\tRows_sent:3 Rows_examined:40  Start: 2026-11-26T02:32:11.7Z",
        ] {
            let mut event = Event::default();
            read(line, &mut event);
            assert_eq!(
                (
                    event.query_time,
                    event.lock_time,
                    event.rows_sent,
                    event.rows_examined
                ),
                (1.5, 0.25, 3, 40),
                "{line}"
            );
        }
    }

    #[test]
    fn what_is_no_header_says_nothing() {
        for line in [
            "#",
            "# a comment",
            "# Time: noon",
            "# note: Query_time: 5",
            "SELECT 1",
        ] {
            assert!(matches!(header_line(line), HeaderLine::Nothing), "{line}");
        }
        assert!(is_field_line(b"Tmp_tables: 2  Tmp_disk_tables: 1"));
        for line in ["SELECT 1", "Schema", "SET timestamp=1;", "case: LOOP"] {
            assert!(!is_field_line(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn accounts() {
        for (line, account) in [
            (
                "# User@Host: root[root] @ localhost []  Id:     8",
                "root@localhost",
            ),
            ("# User@Host: app[app] @  [10.0.0.7]", "app@10.0.0.7"),
            (
                "# User@Host: app[app] @ db.example [10.0.0.7]",
                "app@db.example",
            ),
        ] {
            let mut event = Event::default();
            read(line, &mut event);
            assert_eq!(event.account, account, "{line}");
        }
    }

    #[test]
    fn times_of_every_age() {
        // 1795660331 is 2026-11-26 02:32:11 UTC.
        for text in [
            "261126  2:32:11",
            "2026-11-26T02:32:11.000000Z",
            "2026-11-26T03:32:11+01:00",
            "2026-11-26 02:32:11",
            "261126  2:32:11.987654",
            "261126\t2:32:11",
        ] {
            assert_eq!(time_of(text), Some(1_795_660_331_000_000), "{text}");
        }
        for text in ["", "2:32", "269926  2:32:11", "yesterday T"] {
            assert_eq!(time_of(text), None, "{text}");
        }
    }
}
