//! The format of the general log, as in MySQL.

use std::fmt::Write;

use super::entry::GeneralEntry;
use super::time_text;

/// Appends an entry.
pub(super) fn write(entry: &GeneralEntry<'_>, system_time: bool, out: &mut String) {
    time_text::write_iso(entry.at, system_time, out);
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "\t{:5} {}\t{}",
        entry.session_id, entry.command, entry.argument
    );
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Expected lines from MySQL 9.7.
    #[test]
    fn lines_are_mysqls() {
        let mut out = String::new();
        for (at, id, command, argument) in [
            (
                1_795_663_358_208_470,
                812,
                "Connect",
                "root@localhost on test using SSL/TLS",
            ),
            (1_795_663_358_214_554, 812, "Query", "SELECT 'a\nb'"),
            (1_795_663_358_230_658, 123_456, "Quit", ""),
        ] {
            let entry = GeneralEntry {
                at,
                session_id: id,
                user_host: Arc::from(""),
                command,
                argument,
            };
            write(&entry, false, &mut out);
        }
        assert_eq!(
            out,
            "2026-11-26T03:22:38.208470Z\t  812 Connect\troot@localhost on test using SSL/TLS\n\
             2026-11-26T03:22:38.214554Z\t  812 Query\tSELECT 'a\nb'\n\
             2026-11-26T03:22:38.230658Z\t123456 Quit\t\n"
        );
    }
}
