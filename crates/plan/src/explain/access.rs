//! How EXPLAIN names the ways through an index: type, key, key_len, ref, and the texts of the tree.

use std::ops::Bound;

use mayfly_types::{SqlMode, Value};

use super::Fact;
use crate::access::constant::known_value;
use crate::catalog::{IndexSource, TableSource, ValueRange};
use crate::text::{Names, expression_text};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::key_ranges::{Condition, KeyRanges};
use crate::tree::physical::{IndexLookupJoin, IndexMerge, IndexScan, MergeKind};

/// What the traditional format shows of an index.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct KeyColumns {
    /// type
    pub(super) access: &'static str,
    /// key
    pub(super) key: Option<String>,
    /// key_len
    pub(super) length: Option<String>,
    /// ref
    pub(super) reference: Option<String>,
}

pub(super) fn of_scan(scan: &IndexScan) -> KeyColumns {
    let Some(index) = scan.table.indexes.get(scan.index) else {
        return KeyColumns::default();
    };
    let parts = match (&scan.groups, &scan.ranges) {
        (Some(groups), _) => groups.parts,
        (None, Some(ranges)) => ranges.part_count(),
        (None, None) => index.parts.len(),
    };
    let access = kind(scan);
    let reference = match &scan.ranges {
        Some(ranges) if matches!(access, "const" | "eq_ref" | "ref" | "ref_or_null") => Some(
            points(ranges)
                .iter()
                .map(|value| match value {
                    Some(value) if is_outer(value) => "func",
                    _ => "const",
                })
                .collect::<Vec<_>>()
                .join(","),
        ),
        _ => None,
    };
    KeyColumns {
        access,
        key: Some(index.name.clone()),
        length: Some(key_length(&scan.table, index, parts).to_string()),
        reference,
    }
}

/// What the traditional format shows of an index merge.
pub(super) fn of_merge(merge: &IndexMerge) -> KeyColumns {
    let parts: Vec<KeyColumns> = merge.parts().map(of_scan).collect();
    let names = parts.iter().filter_map(|part| part.key.clone());
    let lengths = parts.iter().filter_map(|part| part.length.clone());
    KeyColumns {
        access: "index_merge",
        key: Some(names.collect::<Vec<_>>().join(",")),
        length: Some(lengths.collect::<Vec<_>>().join(",")),
        reference: None,
    }
}

/// `Using union(a,b)`
pub(super) fn merge_note(merge: &IndexMerge) -> String {
    let kind = match merge.kind {
        MergeKind::Union => "union",
        MergeKind::SortUnion => "sort_union",
        MergeKind::Intersection => "intersect",
    };
    let names = of_merge(merge).key.unwrap_or_default();
    format!("Using {kind}({names})")
}

/// The step of the tree.
pub(super) fn merge_text(merge: &IndexMerge) -> &'static str {
    match merge.kind {
        MergeKind::Union => "Deduplicate rows sorted by row ID",
        MergeKind::SortUnion => "Sort-deduplicate by row ID",
        MergeKind::Intersection => "Intersect rows sorted by row ID",
    }
}

pub(super) fn of_lookup(join: &IndexLookupJoin, names: &dyn Names) -> KeyColumns {
    let Some(index) = join.table.indexes.get(join.index) else {
        return KeyColumns::default();
    };
    let name = |value: &Expression| match &unconverted(value).kind {
        ExpressionKind::Literal(_) | ExpressionKind::Parameter(_) => "const".to_owned(),
        ExpressionKind::Column(column) => match names.column(*column) {
            computed if computed.contains('(') => "func".to_owned(),
            name => format!("{}.{name}", join.table.database),
        },
        _ => "func".to_owned(),
    };
    let references: Vec<String> = join.keys.iter().map(|key| name(&key.value)).collect();
    KeyColumns {
        access: if join.finds_one { "eq_ref" } else { "ref" },
        key: Some(index.name.clone()),
        length: Some(key_length(&join.table, index, join.keys.len()).to_string()),
        reference: Some(references.join(",")),
    }
}

/// A value without the conversion of a number into the type in which it is compared.
fn unconverted(value: &Expression) -> &Expression {
    match &value.kind {
        ExpressionKind::Cast(inner, _) if inner.ty.is_numeric() && value.ty.is_numeric() => inner,
        _ => value,
    }
}

/// Whether the values of the ranges are known, and no key is in them.
pub(super) fn is_impossible(scan: &IndexScan) -> bool {
    let Some(ranges) = &scan.ranges else {
        return false;
    };
    let known = ranges.resolve(&mut |value| Ok(known_value(value, &[], SqlMode::DEFAULT)));
    matches!(known, Ok(Some(found)) if found.is_empty())
}

/// Whether the ranges follow rows of an outer query.
pub(super) fn is_dependent(scan: &IndexScan) -> bool {
    let mut dependent = false;
    if let Some(ranges) = &scan.ranges {
        ranges.for_each_expression(&mut |value| dependent |= is_outer(value));
    }
    dependent
}

/// What JSON says of a table that is read by an index.
pub(super) fn scan_facts(scan: &IndexScan, names: &dyn Names) -> Vec<(&'static str, Fact)> {
    let Some(index) = scan.table.indexes.get(scan.index) else {
        return Vec::new();
    };
    let (how, parts) = match (&scan.ranges, kind(scan)) {
        (None, _) => ("index_scan", index.parts.len()),
        (Some(ranges), "const" | "eq_ref" | "ref") => ("index_lookup", ranges.part_count()),
        (Some(ranges), _) => ("index_range_scan", ranges.part_count()),
    };
    let mut facts = index_facts(&scan.table, &scan.alias, index, how, parts);
    facts.push(("covering", Fact::Flag(scan.covering)));
    if let (Some(ranges), "index_range_scan") = (&scan.ranges, how) {
        let text = ranges_text(ranges, &scan.table, index, names);
        facts.push(("ranges", Fact::List(vec![text])));
    }
    if scan.reverse {
        facts.push(("reverse", Fact::Flag(true)));
    }
    facts
}

/// What JSON says of the right side of a join.
pub(super) fn lookup_facts(join: &IndexLookupJoin, names: &dyn Names) -> Vec<(&'static str, Fact)> {
    let Some(index) = join.table.indexes.get(join.index) else {
        return Vec::new();
    };
    let parts = join.keys.len();
    let mut facts = index_facts(&join.table, &join.alias, index, "index_lookup", parts);
    facts.push(("covering", Fact::Flag(join.covering)));
    let conditions = lookup_conditions(join, index, names).join(" and ");
    facts.push(("lookup_condition", Fact::Text(conditions)));
    facts
}

fn index_facts(
    table: &TableSource,
    alias: &str,
    index: &IndexSource,
    how: &'static str,
    parts: usize,
) -> Vec<(&'static str, Fact)> {
    let columns = index.parts.iter().take(parts);
    let columns = columns.map(|part| column_name(table, part.column).to_owned());
    vec![
        ("schema_name", Fact::Text(table.database.clone())),
        ("table_name", Fact::Text(alias.to_owned())),
        ("access_type", Fact::Text("index".to_owned())),
        ("index_name", Fact::Text(index.name.clone())),
        ("index_access_type", Fact::Text(how.to_owned())),
        ("key_columns", Fact::List(columns.collect())),
        (
            "key_length",
            Fact::Text(key_length(table, index, parts).to_string()),
        ),
    ]
}

fn lookup_conditions(
    join: &IndexLookupJoin,
    index: &IndexSource,
    names: &dyn Names,
) -> Vec<String> {
    let keys = join.keys.iter().zip(&index.parts);
    keys.map(|(key, part)| {
        format!(
            "{} {} {}",
            column_name(&join.table, part.column),
            if key.null_safe { "<=>" } else { "=" },
            expression_text(&key.value, names)
        )
    })
    .collect()
}

/// The type of access.
fn kind(scan: &IndexScan) -> &'static str {
    if scan.groups.is_some() {
        return "range";
    }
    let (Some(ranges), Some(index)) = (&scan.ranges, scan.table.indexes.get(scan.index)) else {
        return "index";
    };
    let fixed = ranges.fixed_parts();
    if fixed > 0 && fixed == ranges.part_count() {
        let may_be_null = ranges
            .boxes
            .iter()
            .flat_map(|one| &one.parts)
            .flatten()
            .any(|one| {
                matches!(
                    one,
                    Condition::IsNull | Condition::Compare(Comparison::NullSafeEqual, _)
                )
            });
        return match index.unique && fixed == index.parts.len() && !may_be_null {
            true if points(ranges).into_iter().flatten().any(is_outer) => "eq_ref",
            true => "const",
            false => "ref",
        };
    }
    if is_ref_or_null(ranges) {
        "ref_or_null"
    } else {
        "range"
    }
}

/// Whether a value is that of an outer query's row.
fn is_outer(value: &Expression) -> bool {
    let mut outer = false;
    crate::tree::logical::visit_expression(value, &mut |inner| {
        outer |= matches!(inner.kind, ExpressionKind::Parameter(_));
        !outer
    });
    outer
}

/// `a = 1 OR a IS NULL`
fn is_ref_or_null(ranges: &KeyRanges) -> bool {
    let [one, other] = ranges.boxes.as_slice() else {
        return false;
    };
    let is_null = |conditions: &[Condition]| matches!(conditions, [Condition::IsNull]);
    let is_equal =
        |conditions: &[Condition]| matches!(conditions, [Condition::Compare(Comparison::Equal, _)]);
    match (one.parts.as_slice(), other.parts.as_slice()) {
        ([a], [b]) => is_equal(a) && is_null(b) || is_null(a) && is_equal(b),
        _ => false,
    }
}

/// The values of a single key, NULL being none.
fn points(ranges: &KeyRanges) -> Vec<Option<&Expression>> {
    let parts = ranges.boxes.first().map_or(&[][..], |one| &one.parts);
    let value = |conditions: &'_ Vec<Condition>| {
        conditions.iter().position(|condition| {
            matches!(
                condition,
                Condition::Compare(Comparison::Equal | Comparison::NullSafeEqual, _)
            )
        })
    };
    parts
        .iter()
        .map(|conditions| match conditions.get(value(conditions)?)? {
            Condition::Compare(_, value) => Some(value),
            _ => None,
        })
        .collect()
}

/// The bytes of the first parts of a key, as MySQL counts them.
fn key_length(table: &TableSource, index: &IndexSource, parts: usize) -> u64 {
    let length = |part: &crate::catalog::IndexPartSource| {
        let column = table.columns.get(part.column)?;
        Some(u64::from(column.nullable) + column.ty.declared_bytes(part.prefix))
    };
    index.parts.iter().take(parts).filter_map(length).sum()
}

/// The step of the tree.
pub(super) fn scan_text(scan: &IndexScan, names: &dyn Names) -> String {
    let Some(index) = scan.table.indexes.get(scan.index) else {
        return String::new();
    };
    let target = format!("on {} using {}", scan.alias, index.name);
    let covering = scan.covering;
    let skips = match scan.groups {
        None => "",
        Some(_) => " for grouping/de-duplication",
    };
    let text = match (&scan.ranges, kind(scan)) {
        (None, "range") => format!("{} {target}", word(covering, "index skip scan")),
        (None, _) => format!("{} {target}", word(covering, "index scan")),
        (Some(ranges), "const" | "eq_ref" | "ref") => {
            let verb = match kind(scan) {
                "const" | "eq_ref" => "Single-row index lookup",
                _ => word(covering, "index lookup"),
            };
            let keys = points(ranges);
            let keys = keys.iter().zip(&index.parts).map(|(value, part)| {
                let value =
                    value.map_or_else(|| "NULL".to_owned(), |value| expression_text(value, names));
                format!("{} = {value}", column_name(&scan.table, part.column))
            });
            format!("{verb} {target} ({})", keys.collect::<Vec<_>>().join(", "))
        }
        (Some(ranges), _) => {
            let over = ranges_text(ranges, &scan.table, index, names);
            let verb = match scan.groups {
                None => "index range scan",
                Some(_) => "index skip scan",
            };
            format!("{} {target} over {over}", word(covering, verb))
        }
    };
    if scan.reverse {
        format!("{text}{skips} (reverse)")
    } else {
        text + skips
    }
}

fn word(covering: bool, verb: &'static str) -> &'static str {
    match (covering, verb) {
        (false, "index scan") => "Index scan",
        (true, "index scan") => "Covering index scan",
        (false, "index lookup") => "Index lookup",
        (true, "index lookup") => "Covering index lookup",
        (true, "index skip scan") => "Covering index skip scan",
        (false, "index skip scan") => "Index skip scan",
        (true, _) => "Covering index range scan",
        (false, _) => "Index range scan",
    }
}

/// The step of the tree that reads the right side of a join.
pub(super) fn lookup_text(join: &IndexLookupJoin, names: &dyn Names) -> String {
    let Some(index) = join.table.indexes.get(join.index) else {
        return String::new();
    };
    let verb = match (join.finds_one, join.covering) {
        (true, true) => "Single-row covering index lookup",
        (true, false) => "Single-row index lookup",
        (false, covering) => word(covering, "index lookup"),
    };
    let keys = lookup_conditions(join, index, names);
    format!(
        "{verb} on {} using {} ({})",
        join.alias,
        index.name,
        keys.join(", ")
    )
}

fn column_name(table: &TableSource, column: usize) -> &str {
    table
        .columns
        .get(column)
        .map_or("", |column| column.name.as_str())
}

/// `(1 < a <= 5) OR (a = 7)`: the ranges, or the conditions while their values are not known.
fn ranges_text(
    ranges: &KeyRanges,
    table: &TableSource,
    index: &IndexSource,
    names: &dyn Names,
) -> String {
    const SHOWN: usize = 2;
    let known = if ranges.is_of_values() {
        ranges.resolve(&mut |value| Ok(known_value(value, &[], SqlMode::DEFAULT)))
    } else {
        Ok(None)
    };
    let mut texts: Vec<String> = match known {
        Ok(Some(found)) => {
            if found.is_empty() {
                return "(no rows)".to_owned();
            }
            found
                .iter()
                .take(SHOWN + 1)
                .map(|range| range_text(range, ranges, table, index, names))
                .chain(found.iter().skip(SHOWN + 1).map(|_| String::new()))
                .collect()
        }
        _ => ranges
            .boxes
            .iter()
            .map(|one| {
                let parts = one.parts.iter().zip(&index.parts);
                let texts: Vec<String> = parts
                    .flat_map(|(conditions, part)| {
                        let name = column_name(table, part.column);
                        conditions
                            .iter()
                            .map(move |condition| condition_text(name, condition, names))
                    })
                    .collect();
                texts.join(" AND ")
            })
            .collect(),
    };
    let more = match texts.len() {
        count if count > SHOWN + 1 => Some(count - SHOWN),
        _ => None,
    };
    if more.is_some() {
        texts.truncate(SHOWN);
    }
    let mut text = texts
        .iter()
        .map(|text| format!("({text})"))
        .collect::<Vec<_>>()
        .join(" OR ");
    if let Some(more) = more {
        text.push_str(&format!(" OR ({more} more)"));
    }
    text
}

fn condition_text(name: &str, condition: &Condition, names: &dyn Names) -> String {
    match condition {
        Condition::Compare(comparison, value) => {
            let sign = crate::text::comparison_text(*comparison);
            format!("{name} {sign} {}", expression_text(value, names))
        }
        Condition::In(list, _) => format!("{name} in {} values", list.len()),
        Condition::IsNull => format!("{name} is null"),
        Condition::IsNotNull => format!("{name} is not null"),
        Condition::Like(pattern, _) => format!("{name} like {}", expression_text(pattern, names)),
    }
}

fn range_text(
    range: &ValueRange,
    ranges: &KeyRanges,
    table: &TableSource,
    index: &IndexSource,
    names: &dyn Names,
) -> String {
    let values = |bound: &Bound<Vec<Value>>| match bound {
        Bound::Unbounded => (Vec::new(), true),
        Bound::Included(values) => (values.clone(), true),
        Bound::Excluded(values) => (values.clone(), false),
    };
    let (start, start_included) = values(&range.start);
    let (end, end_included) = values(&range.end);
    let mut texts = Vec::new();
    for (position, part) in index.parts.iter().enumerate() {
        let name = column_name(table, part.column);
        let (low, high) = (start.get(position), end.get(position));
        if low.is_none() && high.is_none() {
            break;
        }
        let text = |value: &Value| match (value, ranges.parts.get(position)) {
            (Value::Null, _) | (_, None) => "NULL".to_owned(),
            (value, Some(part)) => {
                let literal = Expression::literal(value.clone(), part.ty.clone());
                expression_text(&literal, names)
            }
        };
        let is_last = |values: &[Value]| position + 1 == values.len();
        if low == high
            && let Some(value) = low
        {
            texts.push(format!("{name} = {}", text(value)));
            continue;
        }
        let sign = |included: bool| if included { "<=" } else { "<" };
        let (first, second) = if part.descending {
            ((high, &end, end_included), (low, &start, start_included))
        } else {
            ((low, &start, start_included), (high, &end, end_included))
        };
        let mut one = name.to_owned();
        if let (Some(value), values, included) = first {
            one = format!(
                "{} {} {one}",
                text(value),
                sign(included || !is_last(values))
            );
        }
        if let (Some(value), values, included) = second {
            one = format!(
                "{one} {} {}",
                sign(included || !is_last(values)),
                text(value)
            );
        }
        texts.push(one);
    }
    texts.join(" AND ")
}
