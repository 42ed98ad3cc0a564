//! Warnings of statements in scripts, pipes and `-e`, on standard error: nobody asks SHOW WARNINGS there.

use mayfly_engine::{Condition, Level, printable};

/// The most warnings of a statement that are shown.
const SHOWN: usize = 5;

/// Prints the warnings of a statement that stands at a place. Notes are left out: they say what was done, as of a table that
/// IF EXISTS did not find.
pub(crate) fn print(conditions: &[Condition], place: &str) {
    for line in lines(conditions, place) {
        eprintln!("{line}");
    }
}

fn lines(conditions: &[Condition], place: &str) -> Vec<String> {
    let is_shown = |condition: &&Condition| condition.level != Level::Note;
    let mut rest = conditions.iter().filter(is_shown);
    let line = |condition: &Condition| {
        let error = &condition.error;
        let (errno, state) = (error.errno(), error.sqlstate());
        format!(
            "WARNING {errno} ({state}) {place}: {}",
            printable(error.message())
        )
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
    use mayfly_engine::codes;

    use super::*;

    #[test]
    fn the_first_are_shown_and_the_others_counted() {
        let condition = |level, value: &str| Condition {
            level,
            error: codes::ER_TRUNCATED_WRONG_VALUE.with(&[&"DOUBLE", &value]),
        };
        let mut conditions = vec![condition(Level::Note, "note")];
        let first = "WARNING 1292 (22007) at line 3: Truncated incorrect DOUBLE value: '1,2'";
        conditions.push(condition(Level::Warning, "1,2"));
        assert_eq!(lines(&conditions, "at line 3"), [first]);
        conditions.resize_with(9, || condition(Level::Warning, "x"));
        let shown = lines(&conditions, "at line 3");
        assert_eq!((shown.len(), shown[0].as_str()), (SHOWN + 1, first));
        assert_eq!(shown[SHOWN], "  and 3 more: SHOW WARNINGS");
    }
}
