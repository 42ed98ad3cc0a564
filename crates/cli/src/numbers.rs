//! Generated numbers, in SQL that every server understands.

/// A subquery whose column `n` counts from zero, `rows` rows of it: a cross join of digits.
pub(crate) fn subquery(rows: u64) -> String {
    let digits = "(SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL \
                  SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL \
                  SELECT 8 UNION ALL SELECT 9)";
    let digit_count = rows
        .saturating_sub(1)
        .checked_ilog10()
        .map_or(1, |log| log + 1);
    let (mut sum, mut tables) = (String::new(), String::new());
    for power in 0..digit_count {
        let joint = if power == 0 { ("", "") } else { (" + ", ", ") };
        sum.push_str(&format!("{}p{power}.d * {}", joint.0, 10_u64.pow(power)));
        tables.push_str(&format!("{}{digits} p{power}", joint.1));
    }
    format!("(SELECT * FROM (SELECT {sum} n FROM {tables}) counted WHERE n < {rows}) numbers")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_digits_as_are_needed() {
        let digits = |rows| subquery(rows).matches(".d * ").count();
        assert_eq!([1, 2, 10, 11, 4_000_000].map(digits), [1, 1, 1, 2, 7]);
    }
}
