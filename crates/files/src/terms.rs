//! Whether values may meet a term, from what is known of them: the least and the greatest, and the number of NULLs.

use std::cmp::Ordering;

use mayfly_engine::{CollationId, ColumnCondition, Decimal, Value};

/// What is known of some values of a column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Range {
    /// No value is less.
    pub(crate) least: Option<Value>,
    /// No value is greater.
    pub(crate) greatest: Option<Value>,
    /// Whether there may be NULLs.
    pub(crate) has_nulls: bool,
    /// Whether there may be other values.
    pub(crate) has_values: bool,
}

impl Range {
    /// One value, which may be NULL.
    pub(crate) fn one(value: &Value) -> Self {
        let is_null = *value == Value::Null;
        let known = (!is_null).then(|| value.clone());
        Self {
            least: known.clone(),
            greatest: known,
            has_nulls: is_null,
            has_values: !is_null,
        }
    }

    /// Whether a value may meet a condition.
    pub(crate) fn may_meet(
        &self,
        condition: &ColumnCondition,
        collation: Option<CollationId>,
    ) -> bool {
        // An unknown order excludes nothing.
        let order = |known: &Option<Value>, value: &Value| {
            known
                .as_ref()
                .and_then(|known| compare(known, value, collation))
        };
        let least = |value: &Value| order(&self.least, value);
        let greatest = |value: &Value| order(&self.greatest, value);
        let may_equal = |value: &Value| {
            least(value) != Some(Ordering::Greater) && greatest(value) != Some(Ordering::Less)
        };
        self.has_values
            && match condition {
                ColumnCondition::Null => false,
                ColumnCondition::NotNull => true,
                ColumnCondition::Equal(value) => may_equal(value),
                ColumnCondition::Among(values) => values.iter().any(may_equal),
                ColumnCondition::Less(value) => {
                    !matches!(least(value), Some(Ordering::Equal | Ordering::Greater))
                }
                ColumnCondition::AtMost(value) => least(value) != Some(Ordering::Greater),
                ColumnCondition::Greater(value) => {
                    !matches!(greatest(value), Some(Ordering::Equal | Ordering::Less))
                }
                ColumnCondition::AtLeast(value) => greatest(value) != Some(Ordering::Less),
            }
            || self.has_nulls && matches!(condition, ColumnCondition::Null)
    }
}

/// The order of two values of one physical type; `None` where it is not known.
fn compare(a: &Value, b: &Value, collation: Option<CollationId>) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::UInt(a), Value::UInt(b)) => Some(a.cmp(b)),
        (
            &Value::Decimal { unscaled, scale },
            &Value::Decimal {
                unscaled: other,
                scale: other_scale,
            },
        ) => Some(Decimal::new(unscaled, scale).compare(Decimal::new(other, other_scale))),
        (Value::Bytes(a), Value::Bytes(b)) => Some(collation?.compare(a, b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_exclude_what_lies_outside() {
        use ColumnCondition::{AtLeast, AtMost, Equal, Greater, Less, NotNull, Null};
        let range = Range {
            least: Some(Value::Int(3)),
            greatest: Some(Value::Int(7)),
            has_nulls: false,
            has_values: true,
        };
        let value = |number| Value::Int(number);
        for (condition, may) in [
            (Equal(value(2)), false),
            (Equal(value(3)), true),
            (Equal(value(8)), false),
            (Less(value(3)), false),
            (Less(value(4)), true),
            (AtMost(value(3)), true),
            (AtMost(value(2)), false),
            (Greater(value(7)), false),
            (Greater(value(6)), true),
            (AtLeast(value(7)), true),
            (AtLeast(value(8)), false),
            (Null, false),
            (NotNull, true),
            (ColumnCondition::Among(vec![value(1), value(9)]), false),
            (ColumnCondition::Among(vec![value(1), value(5)]), true),
        ] {
            assert_eq!(range.may_meet(&condition, None), may, "{condition:?}");
        }
        let unknown = Range {
            has_values: true,
            ..Range::default()
        };
        assert!(unknown.may_meet(&Less(value(1)), None));
        let nulls = Range::one(&Value::Null);
        assert!(nulls.may_meet(&Null, None) && !nulls.may_meet(&NotNull, None));
    }
}
