//! Prints warnings of statements in scripts, pipes and `-e` on standard error, since no SHOW WARNINGS follows there.

use mayfly_engine::{Level, printable};

use crate::connection::Warning;

/// Greatest number of warnings shown of a statement.
const SHOWN: usize = 5;

/// Warnings about deprecated syntax and character set names, which every dump of MySQL's causes.
const DEPRECATIONS: [u16; 4] = [1287, 1681, 3719, 3778];

/// Prints the warnings of a statement at a position. Notes are left out: they report actions, such as a table that IF
/// EXISTS did not find. So are deprecations: they change no value.
pub(crate) fn print(warnings: &[Warning], place: &str) {
    for line in lines(warnings, place) {
        eprintln!("{line}");
    }
}

fn lines(warnings: &[Warning], place: &str) -> Vec<String> {
    let is_shown = |warning: &&Warning| {
        warning.level != Level::Note && !DEPRECATIONS.contains(&warning.error.errno)
    };
    let mut rest = warnings.iter().filter(is_shown);
    let line = |warning: &Warning| {
        let error = &warning.error;
        let state = match &*error.state {
            "" => String::new(),
            state => format!(" ({state})"),
        };
        let message = printable(&error.message);
        format!("WARNING {}{state} {place}: {message}", error.errno)
    };
    let mut lines: Vec<String> = rest.by_ref().take(SHOWN).map(line).collect();
    let left = rest.count();
    if left > 0 {
        lines.push(format!("  and {left} more: SHOW WARNINGS"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use mayfly_engine::{Condition, codes};

    use super::*;

    #[test]
    fn the_first_are_shown_and_the_others_counted() {
        let condition = |level, value: &str| {
            let error = codes::ER_TRUNCATED_WRONG_VALUE.with(&[&"DOUBLE", &value]);
            Warning::from(&Condition { level, error })
        };
        let deprecation = Warning::from(&Condition {
            level: Level::Warning,
            error: codes::ER_WARN_DEPRECATED_SYNTAX.with(&[&"a", &"b"]),
        });
        let mut conditions = vec![condition(Level::Note, "note"), deprecation];
        let first = "WARNING 1292 (22007) at line 3: Truncated incorrect DOUBLE value: '1,2'";
        conditions.push(condition(Level::Warning, "1,2"));
        assert_eq!(lines(&conditions, "at line 3"), [first]);
        conditions.resize_with(10, || condition(Level::Warning, "x"));
        let shown = lines(&conditions, "at line 3");
        assert_eq!((shown.len(), shown[0].as_str()), (SHOWN + 1, first));
        assert_eq!(shown[SHOWN], "  and 3 more: SHOW WARNINGS");
    }
}
