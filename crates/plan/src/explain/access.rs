//! Index access in EXPLAIN: type, key, key_len, ref, and the texts of the tree.

use std::ops::Bound;

use mayfly_types::{SqlMode, Value};

use super::names::Columns;
use crate::access::constant::known_value;
use crate::access::key_ranges::{Condition, KeyRanges};
use crate::catalog::{IndexSource, TableSource, ValueRange};
use crate::document::{Document, Members};
use crate::text::{Names, expression_text};
use crate::tree::expression::{Comparison, Expression, ExpressionKind};
use crate::tree::physical::{IndexLookupJoin, IndexMerge, IndexScan, MergeKind};

/// Columns of the traditional format for an index.
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
    /// used_key_parts
    pub(super) parts: Vec<String>,
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
                .into_iter()
                .map(reference)
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
        parts: key_parts(&scan.table, index, parts),
    }
}

fn reference(value: Option<&Expression>) -> &'static str {
    match value {
        Some(value) if is_outer(value) => "func",
        _ => "const",
    }
}

/// Columns of the traditional format for an index merge. A multi-valued index is shown as if it were read alone.
pub(super) fn of_merge(merge: &IndexMerge) -> KeyColumns {
    let mut parts: Vec<KeyColumns> = merge.parts().map(of_scan).collect();
    if merge.kind == MergeKind::Elements {
        return parts.pop().unwrap_or_default();
    }
    let names = parts.iter().filter_map(|part| part.key.clone());
    let lengths = parts.iter().filter_map(|part| part.length.clone());
    KeyColumns {
        access: "index_merge",
        key: Some(names.collect::<Vec<_>>().join(",")),
        length: Some(lengths.collect::<Vec<_>>().join(",")),
        reference: None,
        parts: Vec::new(),
    }
}

/// `Using union(a,b)`; none for a single index.
pub(super) fn merge_note(merge: &IndexMerge) -> Option<String> {
    let kind = match merge.kind {
        MergeKind::Union => "union",
        MergeKind::SortUnion => "sort_union",
        MergeKind::Intersection => "intersect",
        MergeKind::Elements => return None,
    };
    let names = of_merge(merge).key.unwrap_or_default();
    Some(format!("Using {kind}({names})"))
}

/// (text of the tree's step, access type); none for a single index.
pub(super) fn merge_step(merge: &IndexMerge) -> Option<(&'static str, &'static str)> {
    Some(match merge.kind {
        MergeKind::Union => ("Deduplicate rows sorted by row ID", "rowid_union"),
        MergeKind::SortUnion => ("Sort-deduplicate by row ID", "index_merge"),
        MergeKind::Intersection => ("Intersect rows sorted by row ID", "rowid_intersection"),
        MergeKind::Elements => return None,
    })
}

pub(super) fn of_lookup(join: &IndexLookupJoin, left: &Columns) -> KeyColumns {
    let Some(index) = join.table.indexes.get(join.index) else {
        return KeyColumns::default();
    };
    let keys = join.keys.iter();
    let references: Vec<String> = keys
        .map(|key| left.reference(unconverted(&key.value)))
        .collect();
    let parts = join.keys.len();
    KeyColumns {
        access: if join.finds_one { "eq_ref" } else { "ref" },
        key: Some(index.name.clone()),
        length: Some(key_length(&join.table, index, parts).to_string()),
        reference: Some(references.join(",")),
        parts: key_parts(&join.table, index, parts),
    }
}

/// A value without the conversion of a number to the comparison type.
fn unconverted(value: &Expression) -> &Expression {
    match &value.kind {
        ExpressionKind::Cast(inner, _) if inner.ty.is_numeric() && value.ty.is_numeric() => inner,
        _ => value,
    }
}

/// Whether the values of the ranges are known, and the ranges are empty.
pub(super) fn is_impossible(scan: &IndexScan) -> bool {
    let Some(ranges) = &scan.ranges else {
        return false;
    };
    let known = ranges.resolve(&mut |value| Ok(known_value(value, &[], SqlMode::DEFAULT)));
    matches!(known, Ok(Some(found)) if found.is_empty())
}

/// Whether the ranges depend on rows of an outer query.
pub(super) fn is_dependent(scan: &IndexScan) -> bool {
    let mut dependent = false;
    if let Some(ranges) = &scan.ranges {
        ranges.for_each_expression(&mut |value| dependent |= is_outer(value));
    }
    dependent
}

/// JSON members (FORMAT=JSON version 2) of an index scan.
pub(super) fn scan_members(scan: &IndexScan, names: &Columns) -> Members {
    let Some(index) = scan.table.indexes.get(scan.index) else {
        return Vec::new();
    };
    let access = kind(scan);
    let (how, parts) = match (&scan.groups, &scan.ranges, access) {
        (Some(groups), _, _) => ("group_index_skip_scan", Some(groups.parts)),
        (None, None, _) => ("index_scan", None),
        (None, Some(ranges), "const" | "eq_ref" | "ref") => {
            ("index_lookup", Some(ranges.part_count()))
        }
        (None, Some(ranges), _) => ("index_range_scan", Some(ranges.part_count())),
    };
    let mut members = index_members(&scan.table, index, how, parts);
    members.push(("covering", Document::from(scan.covering)));
    match (&scan.ranges, how) {
        (Some(ranges), "index_lookup") => {
            members.push((
                "lookup_condition",
                Document::from(point_texts(scan, index, ranges, &names.plain()).join(", ")),
            ));
            let references = points(ranges).into_iter().map(reference);
            members.push(("lookup_references", references.collect()));
        }
        (Some(ranges), _) => {
            let texts = range_texts(ranges, &scan.table, index, &names.plain());
            members.push(("ranges", texts.into_iter().collect()));
        }
        (None, "group_index_skip_scan") => members.push(("ranges", Document::List(Vec::new()))),
        (None, _) => {}
    }
    if scan.reverse {
        members.push(("reverse", Document::from(true)));
    }
    members
}

/// JSON members (FORMAT=JSON version 2) of the right side of an index lookup join.
pub(super) fn lookup_members(join: &IndexLookupJoin, left: &Columns) -> Members {
    let Some(index) = join.table.indexes.get(join.index) else {
        return Vec::new();
    };
    let parts = join.keys.len();
    let mut members = index_members(&join.table, index, "index_lookup", Some(parts));
    members.push(("covering", Document::from(join.covering)));
    let conditions = lookup_conditions(join, index, &left.plain()).join(", ");
    members.push(("lookup_condition", Document::from(conditions)));
    let keys = join.keys.iter();
    let references = keys.map(|key| left.reference(unconverted(&key.value)));
    members.push(("lookup_references", references.collect()));
    members
}

fn index_members(
    table: &TableSource,
    index: &IndexSource,
    how: &'static str,
    parts: Option<usize>,
) -> Members {
    let mut members: Members = vec![
        ("index_name", Document::from(index.name.as_str())),
        ("index_access_type", Document::from(how)),
    ];
    if let Some(parts) = parts {
        let columns = key_parts(table, index, parts);
        members.push(("key_columns", columns.into_iter().collect()));
    }
    members
}

/// Names of the first parts of a key.
pub(super) fn key_parts(table: &TableSource, index: &IndexSource, parts: usize) -> Vec<String> {
    let columns = index.parts.iter().take(parts);
    let columns = columns.map(|part| column_name(table, part.column).to_owned());
    columns.collect()
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

/// Type of access.
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

/// Whether a value comes from an outer query's row.
fn is_outer(value: &Expression) -> bool {
    let mut outer = false;
    crate::tree::logical::visit_expression(value, &mut |inner| {
        outer |= matches!(inner.kind, ExpressionKind::Parameter(_));
        !outer
    });
    outer
}

/// Whether the ranges are of the form `a = 1 OR a IS NULL`.
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

/// Values of a single key; `None` stands for NULL.
fn points(ranges: &KeyRanges) -> Vec<Option<&Expression>> {
    let parts = ranges.boxes.first().map_or(&[][..], |one| &one.parts);
    let value = |conditions: &'_ Vec<Condition>| {
        conditions.iter().position(|condition| {
            matches!(
                condition,
                Condition::Compare(Comparison::Equal | Comparison::NullSafeEqual, _)
                    | Condition::Elements(_)
            )
        })
    };
    parts
        .iter()
        .map(|conditions| match conditions.get(value(conditions)?)? {
            Condition::Compare(_, value) => Some(value),
            Condition::Elements(sought) => Some(&sought.value),
            _ => None,
        })
        .collect()
}

/// Bytes of the first parts of a key, as MySQL counts them.
fn key_length(table: &TableSource, index: &IndexSource, parts: usize) -> u64 {
    let length = |part: &crate::catalog::IndexPartSource| {
        let column = table.columns.get(part.column)?;
        let ty = part.elements.as_ref().unwrap_or(&column.ty);
        Some(u64::from(column.nullable) + ty.declared_bytes(part.prefix))
    };
    index.parts.iter().take(parts).filter_map(length).sum()
}

/// Text of the tree's step for an index scan.
pub(super) fn scan_text(scan: &IndexScan, names: &dyn Names) -> String {
    let Some(index) = scan.table.indexes.get(scan.index) else {
        return String::new();
    };
    // The ends of each group, or any row of it.
    let skips = match scan.groups {
        None => "",
        Some(groups) if groups.least || groups.greatest => "for grouping ",
        Some(_) => "for deduplication ",
    };
    let target = format!("{skips}on {} using {}", scan.alias, index.name);
    let covering = scan.covering;
    let text = match (&scan.ranges, kind(scan)) {
        (None, "range") => format!("{} {target}", word(covering, "index skip scan")),
        (None, _) => format!("{} {target}", word(covering, "index scan")),
        (Some(ranges), "const" | "eq_ref" | "ref") => {
            let verb = match kind(scan) {
                "const" | "eq_ref" => "Single-row index lookup",
                _ => word(covering, "index lookup"),
            };
            let keys = point_texts(scan, index, ranges, names);
            format!("{verb} {target} ({})", keys.join(", "))
        }
        (Some(ranges), _) => {
            let over = range_texts(ranges, &scan.table, index, names).join(" OR ");
            let verb = match scan.groups {
                None => "index range scan",
                Some(_) => "index skip scan",
            };
            format!("{} {target} over {over}", word(covering, verb))
        }
    };
    if scan.reverse {
        format!("{text} (reverse)")
    } else {
        text
    }
}

/// Text of a point: `a = 1`.
fn point_texts(
    scan: &IndexScan,
    index: &IndexSource,
    ranges: &KeyRanges,
    names: &dyn Names,
) -> Vec<String> {
    let keys = points(ranges).into_iter().zip(&index.parts);
    let text = |(value, part): (Option<&Expression>, &crate::catalog::IndexPartSource)| {
        let value = value.map_or_else(|| "NULL".to_owned(), |value| expression_text(value, names));
        format!("{} = {value}", column_name(&scan.table, part.column))
    };
    keys.map(text).collect()
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

/// Text of the tree's step for the right side of an index lookup join.
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

pub(crate) fn column_name(table: &TableSource, column: usize) -> &str {
    table
        .columns
        .get(column)
        .map_or("", |column| column.name.as_str())
}

/// Texts of ranges, `(1 < a <= 5)`, `(a = 7)`; or of the conditions while their values are not known.
pub(crate) fn range_texts(
    ranges: &KeyRanges,
    table: &TableSource,
    index: &IndexSource,
    names: &dyn Names,
) -> Vec<String> {
    const SHOWN: usize = 2;
    let known = if ranges.is_of_values() {
        ranges.resolve(&mut |value| Ok(known_value(value, &[], SqlMode::DEFAULT)))
    } else {
        Ok(None)
    };
    let mut texts: Vec<String> = match known {
        Ok(Some(found)) => {
            if found.is_empty() {
                return vec!["(no rows)".to_owned()];
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
    let mut texts: Vec<String> = texts.iter().map(|text| format!("({text})")).collect();
    texts.extend(more.map(|more| format!("({more} more)")));
    texts
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
        Condition::Elements(sought) => {
            let value = expression_text(&sought.value, names);
            match sought.is_element {
                true => element_text(name, &value),
                false => format!("json_overlaps({name}, {value})"),
            }
        }
    }
}

/// `value MEMBER OF (document)`, given the text of the column that holds the document's elements.
fn element_text(column: &str, value: &str) -> String {
    let cast = column.strip_prefix("cast(");
    let document = cast.and_then(|cast| cast.rsplit_once(" as "));
    let document = document.map_or(column, |(document, _)| document);
    format!("{value} MEMBER OF ({document})")
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
            texts.push(match part.elements {
                Some(_) => element_text(name, &text(value)),
                None => format!("{name} = {}", text(value)),
            });
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
