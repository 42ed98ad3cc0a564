//! Rewrites of a statement's text that keep its meaning. They work on tokens, so that the rest of the text stays as its
//! author wrote it.

use crate::sql_text::{Token, tokens};

/// The text with UNION ALL in place of its only UNION; `None` when there are several, or none.
pub(crate) fn union_all(sql: &str) -> Option<String> {
    let list: Vec<Token> = tokens(sql).collect();
    let mut found = list.iter().enumerate().filter(|(at, token)| {
        token.is(sql, "union") && !list.get(at + 1).is_some_and(|next| next.is(sql, "all"))
    });
    let (at, union) = found.next()?;
    if found.next().is_some() {
        return None;
    }
    let mut end = union.end;
    if let Some(next) = list.get(at + 1)
        && next.is(sql, "distinct")
    {
        end = next.end;
    }
    Some(format!("{} ALL{}", sql.get(..union.end)?, sql.get(end..)?))
}

/// The text without a word behind SELECT, such as SQL_BUFFER_RESULT.
pub(crate) fn without_word(sql: &str, word: &str) -> Option<String> {
    let list: Vec<Token> = tokens(sql).collect();
    let at = list.iter().position(|token| token.is(sql, word))?;
    let next = list.get(at + 1)?;
    Some(format!(
        "{}{}",
        sql.get(..list[at].start)?,
        sql.get(next.start..)?
    ))
}

/// The tokens of a text, and the indexes of its SELECTs, in order.
fn selects(sql: &str) -> (Vec<Token>, Vec<usize>) {
    let list: Vec<Token> = tokens(sql).collect();
    let places = list
        .iter()
        .enumerate()
        .filter(|(_, token)| token.is(sql, "select"));
    let places = places.map(|(place, _)| place).collect();
    (list, places)
}

/// The text without some items of the select list of its `block`-th SELECT. `items`: number of items of that list.
pub(crate) fn without_items(
    sql: &str,
    block: usize,
    items: usize,
    remove: &[usize],
) -> Option<String> {
    let (list, places) = selects(sql);
    let select = *places.get(block)?;
    let mut depth = 0_i32;
    let mut spans = Vec::new();
    let mut start = list.get(select + 1)?.start;
    for token in &list[select + 1..] {
        if token.is_symbol(sql, '(') {
            depth += 1;
        } else if token.is_symbol(sql, ')') {
            depth -= 1;
        }
        if depth < 0 {
            return None;
        }
        let ends = depth == 0 && token.is(sql, "from");
        if ends || depth == 0 && token.is_symbol(sql, ',') {
            spans.push(sql.get(start..token.start)?.trim());
            start = token.end;
        }
        if ends {
            if spans.len() != items || remove.len() >= items {
                return None;
            }
            let kept: Vec<&str> = spans
                .iter()
                .enumerate()
                .filter(|(number, _)| !remove.contains(number))
                .map(|(_, span)| *span)
                .collect();
            let before = sql.get(..list[select].end)?;
            return Some(format!(
                "{before} {} {}",
                kept.join(", "),
                sql.get(token.start..)?
            ));
        }
    }
    None
}

/// The text with other keys of GROUP BY in its `block`-th SELECT.
pub(crate) fn with_group_keys(sql: &str, block: usize, keys: &[String]) -> Option<String> {
    let (list, places) = selects(sql);
    let mut depth = 0_i32;
    let mut at = *places.get(block)? + 1;
    // Behind this SELECT, at its own nesting depth.
    let group = loop {
        let token = list.get(at)?;
        if token.is_symbol(sql, '(') {
            depth += 1;
        } else if token.is_symbol(sql, ')') {
            depth -= 1;
        } else if depth == 0 && token.is(sql, "group") {
            break at;
        }
        if depth < 0 {
            return None;
        }
        at += 1;
    };
    let first = list.get(group + 2)?;
    let mut end = sql.len();
    for token in &list[group + 2..] {
        if token.is_symbol(sql, '(') {
            depth += 1;
        } else if token.is_symbol(sql, ')') {
            depth -= 1;
        }
        let ends = [
            "having", "order", "limit", "with", "union", "for", "into", "window",
        ];
        if depth < 0
            || depth == 0
                && (ends.iter().any(|word| token.is(sql, word)) || token.is_symbol(sql, ';'))
        {
            end = token.start;
            break;
        }
    }
    let rest = sql.get(end..)?;
    let space = if rest.is_empty() || rest.starts_with(')') {
        ""
    } else {
        " "
    };
    Some(format!(
        "{}{}{space}{rest}",
        sql.get(..first.start)?,
        keys.join(", ")
    ))
}

/// The text with each occurrence of an expression replaced, compared token by token.
pub(crate) fn with_expression(sql: &str, old: &str, new: &str) -> Option<String> {
    let list: Vec<Token> = tokens(sql).collect();
    let wanted: Vec<&str> = tokens(old).map(|token| token.of(old)).collect();
    if wanted.is_empty() {
        return None;
    }
    let same = |token: &Token, text: &str| {
        token
            .of(sql)
            .trim_matches('`')
            .eq_ignore_ascii_case(text.trim_matches('`'))
    };
    let mut text = String::new();
    let mut behind = 0;
    let mut at = 0;
    while at < list.len() {
        let end = at + wanted.len();
        let found = end <= list.len()
            && list[at..end]
                .iter()
                .zip(&wanted)
                .all(|(token, text)| same(token, text));
        if found {
            text.push_str(sql.get(behind..list[at].start)?);
            text.push_str(new);
            behind = list[end - 1].end;
            at = end;
        } else {
            at += 1;
        }
    }
    text.push_str(sql.get(behind..)?);
    (behind > 0).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_changed_in_their_places() {
        assert_eq!(
            union_all("SELECT 'union' UNION DISTINCT SELECT b -- union\n").as_deref(),
            Some("SELECT 'union' UNION ALL SELECT b -- union\n")
        );
        assert_eq!(union_all("SELECT 1 UNION SELECT 2 UNION SELECT 3"), None);
        assert_eq!(
            without_word("SELECT SQL_BUFFER_RESULT a FROM t", "sql_buffer_result").as_deref(),
            Some("SELECT a FROM t")
        );
        assert_eq!(
            without_items(
                "SELECT d.a FROM (SELECT a, f(b, c) AS x, d FROM t) d",
                1,
                3,
                &[1]
            )
            .as_deref(),
            Some("SELECT d.a FROM (SELECT a, d FROM t) d")
        );
        assert_eq!(without_items("SELECT a, b FROM t", 0, 3, &[1]), None);
        assert_eq!(
            with_group_keys(
                "SELECT a FROM t GROUP BY a, f(b) ORDER BY b",
                0,
                &["b".into(), "a".into()]
            )
            .as_deref(),
            Some("SELECT a FROM t GROUP BY b, a ORDER BY b")
        );
        assert_eq!(
            with_group_keys(
                "SELECT (SELECT 1) FROM (SELECT a FROM t GROUP BY a, b) d",
                2,
                &["b".into()]
            )
            .as_deref(),
            Some("SELECT (SELECT 1) FROM (SELECT a FROM t GROUP BY b) d")
        );
        assert_eq!(
            with_expression(
                "SELECT concat(a,b) k FROM t GROUP BY CONCAT(a, `b`)",
                "concat(a, b)",
                "x"
            )
            .as_deref(),
            Some("SELECT x k FROM t GROUP BY x")
        );
        assert_eq!(with_expression("SELECT 1", "a", "b"), None);
    }
}
