//! Statements with their literals as values of `?`, so that golden files run prepared.
//!
//! Only literals that a `?` can replace without a change of types or names are taken: whole values of INSERT … VALUES,
//! and values that a column is compared with or set to in WHERE and SET.

use std::sync::LazyLock;

use mayfly_engine::{CollationId, SqlType, TypeKind, Value};
use regex::{Captures, Regex};

/// A statement with `?`, and its values.
#[derive(Debug, PartialEq)]
pub struct Parameterized {
    /// The text.
    pub text: String,
    /// The values with their types.
    pub values: Vec<(Value, SqlType)>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Word,
    Number,
    Text,
    Symbol,
}

/// The statement with `?` for literals; `None` when it has none that can be taken, or is of an excluded kind.
#[must_use]
pub fn parameterize(sql: &str, collation: CollationId) -> Option<Parameterized> {
    let tokens = tokens(sql)?;
    let text = |index: usize| {
        tokens
            .get(index)
            .map_or("", |(_, start, end)| &sql[*start..*end])
    };
    let is = |index: usize, word: &str| text(index).eq_ignore_ascii_case(word);
    let insert = is(0, "INSERT") || is(0, "REPLACE");
    if !insert
        && !["SELECT", "UPDATE", "DELETE"]
            .iter()
            .any(|word| is(0, word))
    {
        return None;
    }
    let mut taken: Vec<(usize, usize, (Value, SqlType))> = Vec::new();
    let mut depth = 0_usize;
    // Where literals can be taken: after VALUES; after SET or WHERE.
    let mut values = false;
    let mut conditions = false;
    let mut index = 0;
    while index < tokens.len() {
        match text(index) {
            "(" => depth += 1,
            ")" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if is(index, "VALUES") && insert && depth == 0 {
            values = true;
        } else if is(index, "SET") && is(0, "UPDATE") || is(index, "WHERE") && !insert {
            conditions = depth == 0;
        } else if [
            "GROUP", "ORDER", "LIMIT", "HAVING", "UNION", "ON", "AS", "SELECT",
        ]
        .iter()
        .any(|word| is(index, word))
        {
            (values, conditions) = (false, false);
        }
        let negative = usize::from(text(index + 1) == "-");
        let (literal, after) = (index + 1 + negative, index + 2 + negative);
        let is_place = match text(index) {
            "(" | "," if values => depth == 1 && matches!(text(after), "," | ")"),
            "=" if conditions => {
                let before = index.checked_sub(1).map(|before| tokens[before].0);
                depth == 0
                    && before == Some(Kind::Word)
                    && (text(after).is_empty()
                        || text(after) == "," && is(0, "UPDATE")
                        || ["AND", "WHERE", "GROUP", "ORDER", "LIMIT", "FOR"]
                            .iter()
                            .any(|word| is(after, word)))
            }
            _ => false,
        };
        if is_place
            && let Some((kind, start, end)) = tokens.get(literal)
            && let Some(value) = value(*kind, &sql[*start..*end], negative == 1, collation)
        {
            taken.push((tokens[index + 1].1, *end, value));
        }
        index += 1;
    }
    if taken.is_empty() {
        return None;
    }
    let mut text = String::new();
    let mut from = 0;
    let mut values = Vec::new();
    for (start, end, value) in taken {
        text.push_str(&sql[from..start]);
        text.push('?');
        from = end;
        values.push(value);
    }
    text.push_str(&sql[from..]);
    Some(Parameterized { text, values })
}

/// A whole number or a text without quotes and escapes, as written in a statement, as the value of a `?`.
#[must_use]
pub fn literal(text: &str, collation: CollationId) -> Option<(Value, SqlType)> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let kind = if digits.starts_with('\'') {
        Kind::Text
    } else {
        Kind::Number
    };
    value(kind, digits, negative, collation)
}

/// A literal as the value of a `?`.
fn value(
    kind: Kind,
    text: &str,
    negative: bool,
    collation: CollationId,
) -> Option<(Value, SqlType)> {
    match kind {
        Kind::Number => {
            let number: i64 = text.parse().ok()?;
            let number = if negative { -number } else { number };
            Some((Value::Int(number), SqlType::integer(TypeKind::BigInt)))
        }
        Kind::Text if !negative => {
            let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
            if inner.contains(['\\', '\'']) {
                return None;
            }
            let length = u32::try_from(inner.chars().count()).ok()?;
            let ty = SqlType::varchar(length, collation);
            Some((Value::Bytes(inner.as_bytes().to_vec()), ty))
        }
        _ => None,
    }
}

static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?sx)
        (?<refused> [@\#;?{] | /\* | -- )
      | (?<text>    '(?: \\. | '' | [^'\\] )*' | "(?: \\. | "" | [^"\\] )*" )
      | (?<name>    `(?: `` | [^`] )*` )
      | (?<number>  [0-9] [0-9A-Za-z_$.[^\x00-\x7F]]* )
      | (?<word>    [0-9A-Za-z_$.[^\x00-\x7F]]+ (?<introducer>')? )
      | (?<open>    ['"`] )
      | \S"#;
    Regex::new(pattern).expect("the pattern is right")
});

/// The tokens with their start and end; `None` for texts with comments, variables, or unknown tokens.
fn tokens(sql: &str) -> Option<Vec<(Kind, usize, usize)>> {
    let token = |captures: Captures<'_>| {
        let is = |name: &str| captures.name(name).is_some();
        let kind = if is("refused") || is("introducer") || is("open") {
            return None;
        } else if is("word") || is("name") {
            Kind::Word
        } else if is("number") {
            Kind::Number
        } else if is("text") {
            Kind::Text
        } else {
            Kind::Symbol
        };
        let whole = captures.get(0)?;
        Some((kind, whole.start(), whole.end()))
    };
    TOKEN.captures_iter(sql).map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sql: &str, text: &str, values: &[Value]) {
        let changed = parameterize(sql, CollationId::default()).expect(sql);
        assert_eq!(changed.text, text);
        let got: Vec<Value> = changed.values.into_iter().map(|(value, _)| value).collect();
        assert_eq!(got, values);
    }

    #[test]
    fn whole_values_are_taken() {
        check(
            "INSERT INTO t VALUES (1, 'a''b', 'b', -2), (NULL, f(3, 4), 1 + 2, 5)",
            "INSERT INTO t VALUES (?, 'a''b', ?, ?), (NULL, f(3, 4), 1 + 2, ?)",
            &[
                Value::Int(1),
                Value::from("b"),
                Value::Int(-2),
                Value::Int(5),
            ],
        );
        check(
            "UPDATE t SET a = 1, b = 'x', c = c + 1 WHERE id = 7",
            "UPDATE t SET a = ?, b = ?, c = c + 1 WHERE id = ?",
            &[Value::Int(1), Value::from("x"), Value::Int(7)],
        );
        check(
            "SELECT a = 1, 2 FROM t WHERE t.id = 3 AND b = 'y' ORDER BY 1",
            "SELECT a = 1, 2 FROM t WHERE t.id = ? AND b = ? ORDER BY 1",
            &[Value::Int(3), Value::from("y")],
        );
    }

    #[test]
    fn others_are_left_alone() {
        for sql in [
            "SELECT 1",
            "SELECT a FROM t WHERE a = 1 + 2",
            "SELECT a FROM t WHERE a = @b",
            "INSERT INTO t VALUES (_latin1'x')",
            "CREATE TABLE t (a INT DEFAULT 1)",
            "SELECT a FROM t WHERE a = 1.5",
            "SELECT a FROM t WHERE a = 1 -- 2",
            "SELECT a FROM t WHERE a = 'open",
        ] {
            assert_eq!(parameterize(sql, CollationId::default()), None, "{sql}");
        }
    }
}
