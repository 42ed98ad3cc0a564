//! Range analysis: the ranges of an index that conditions on a table's rows leave (the manual, "Range Optimization").
//!
//! Each conjunct is brought into a disjunction of boxes, which are conjunctions of conditions on the first key parts. A
//! conjunct is covered when every row in the ranges meets it and every row outside does not, so that nothing is left to
//! check; an inexact condition (LIKE, prefixes, conditions behind a range) only narrows the search.
//!
//! A multi-valued index is searched for the elements that MEMBER OF(), JSON_CONTAINS() and JSON_OVERLAPS() compare with
//! those of the document in the index's expression. Each of these conditions leaves a set of elements of which an array
//! must have one, so that two of them cannot be intersected: only the first narrows the search, and all are checked.

use std::sync::Arc;

use mayfly_functions::scalar::Fact;
use mayfly_types::collation::POINT_WEIGHTS;
use mayfly_types::{IndexMethod, PhysicalType, SqlMode, SqlType, TypeKind, Value};

use super::constant::known_value;
use crate::access::key_ranges::{
    Analysis, Condition, KeyBox, KeyRanges, RangePart, SoughtElements, has_many_beginnings,
    is_rounded,
};
use crate::catalog::{IndexSource, TableSource};
use crate::tree::expression::{Comparison, Expression, ExpressionKind, same_expression};
use crate::tree::logical::{ColumnId, Computed, expression_is_volatile, with_stack};

/// Maximum number of boxes of a product; larger products are not multiplied out.
const PRODUCT_MAX: usize = 128;
/// Maximum number of boxes collected from one OR.
const BOXES_MAX: usize = 8192;
/// Maximum number of ranges: a further key part that would exceed it is not used.
const RANGES_MAX: usize = 16_384;

/// Number of elements that is assumed of a document which is not known.
const ELEMENTS_ASSUMED: usize = 3;

/// Analyses `predicates`, all of which must hold, for the keys of an index; `first` is the number of the table's first
/// column, `generated` are the expressions of its generated columns. `None` if they leave the whole index.
pub(crate) fn analyse(
    predicates: &[Expression],
    table: &TableSource,
    first: ColumnId,
    index: &IndexSource,
    generated: &[Computed],
) -> Option<Analysis> {
    let parts = index
        .parts
        .iter()
        .map(|part| {
            let column = table.columns.get(part.column)?;
            let id = first + part.column;
            let mut computed = generated.iter().filter(|computed| computed.id == id);
            Some(Part {
                id,
                ty: part.elements.as_ref().unwrap_or(&column.ty),
                array: part.elements.is_some(),
                document: part
                    .elements
                    .as_ref()
                    .and(computed.next())
                    .and_then(document_of),
                nullable: column.nullable,
                prefix: part.prefix,
                exact: part.prefix.is_none() && !part.approximate,
                approximate: part.approximate,
                descending: part.descending,
            })
        })
        .collect::<Option<Vec<_>>>()?;
    let array = parts.iter().position(|part| part.array);
    let reader = Reader {
        parts: &parts,
        array,
        columns: first..first + table.columns.len(),
    };
    let mut all = vec![Draft::default()];
    let mut exact = vec![false; predicates.len()];
    let mut counted = exact.clone();
    for (conjunct, predicate) in predicates.iter().enumerate() {
        let Some(drafts) = reader.drafts(predicate, conjunct) else {
            continue;
        };
        if multiply(&mut all, &drafts.boxes, array) {
            exact[conjunct] = drafts.exact;
            let is_whole = !matches!(
                predicate.kind,
                ExpressionKind::And(_) | ExpressionKind::Or(_)
            );
            counted[conjunct] = drafts.exact || is_whole || array.is_some();
        }
    }
    let mut covered = exact;
    let mut boxes = Vec::with_capacity(all.len());
    // The conjuncts that narrow each box of a multi-valued index.
    let mut used: Vec<Vec<usize>> = Vec::new();
    for draft in all {
        let reached = draft.reached(&parts, index.method == IndexMethod::Hash);
        // Only entries with an element are those of all rows that have it.
        if reached <= array.unwrap_or(0) {
            return None;
        }
        for atom in draft.parts.iter().skip(reached).flatten() {
            covered[atom.conjunct] = false;
            counted[atom.conjunct] = false;
        }
        // Some of the prefixes of a text may be exact: the ranges hold all of their keys.
        let checked = draft
            .parts
            .iter()
            .zip(&parts)
            .position(|(atoms, part)| part.has_many_beginnings(atoms));
        if let Some(position) = checked {
            for atom in draft.parts.iter().skip(position + 1).flatten() {
                covered[atom.conjunct] = false;
            }
        }
        if array.is_some() {
            let atoms = draft.parts.iter().take(reached).flatten();
            used.push(atoms.map(|atom| atom.conjunct).collect::<Vec<_>>());
        }
        let conditions = draft.parts.into_iter().take(reached);
        boxes.push(KeyBox {
            parts: conditions
                .map(|atoms| atoms.into_iter().map(|atom| atom.condition).collect())
                .collect(),
        });
    }
    if array.is_some() {
        for (conjunct, counted) in counted.iter_mut().enumerate() {
            *counted &= used.iter().all(|used| used.contains(&conjunct));
        }
        // A row has other elements than that of its entry, and the store may read the table instead.
        covered.fill(false);
    }
    let ranges = KeyRanges {
        parts: parts
            .iter()
            .map(|part| RangePart {
                ty: part.ty.clone(),
                prefix: part.prefix,
                descending: part.descending,
            })
            .collect(),
        boxes,
    };
    Some(Analysis {
        ranges,
        covered,
        counted,
    })
}

/// The document whose elements a generated column holds.
fn document_of(computed: &Computed) -> Option<&Expression> {
    match &computed.expression.kind {
        ExpressionKind::Call { arguments, .. } => arguments.first(),
        _ => None,
    }
}

/// Whether two expressions give the same document. The collation of a path, which is that of the connection, does not
/// matter.
fn same_document(a: &Expression, b: &Expression) -> bool {
    let same_path = |a: &Expression, b: &Expression| {
        let paths = a.as_literal().zip(b.as_literal());
        paths.is_some_and(|(x, y)| x == y && a.ty.is_string() && b.ty.is_string())
    };
    same_expression(a, b)
        || match (&a.kind, &b.kind) {
            (
                ExpressionKind::Call {
                    function: f,
                    arguments: a_arguments,
                    ..
                },
                ExpressionKind::Call {
                    function: g,
                    arguments: b_arguments,
                    ..
                },
            ) if a.ty.kind == TypeKind::Json && b.ty.kind == TypeKind::Json => {
                let mut pairs = a_arguments.iter().zip(b_arguments);
                f == g
                    && a_arguments.len() == b_arguments.len()
                    && pairs.all(|(a, b)| same_document(a, b) || same_path(a, b))
            }
            _ => false,
        }
}

/// The column that an expression is, seen through conversions that keep order, if it is among the `columns` columns
/// from `first` on.
pub(crate) fn key_column(expression: &Expression) -> Option<ColumnId> {
    match &expression.kind {
        ExpressionKind::Column(id) => Some(*id),
        ExpressionKind::Cast(inner, _) => match inner.kind {
            ExpressionKind::Column(id) if keeps_order(&inner.ty, &expression.ty) => Some(id),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a conversion of numbers keeps their order and loses nothing (but the last digits of large integers, as
/// doubles).
fn keeps_order(from: &SqlType, to: &SqlType) -> bool {
    let integer_digits = |ty: &SqlType| ty.length.saturating_sub(ty.decimals.into());
    match (from.kind, to.kind) {
        (TypeKind::Enum | TypeKind::Set, TypeKind::BigInt) => to.unsigned,
        (TypeKind::Float, TypeKind::Double) => true,
        _ if !from.is_integer() && from.kind != TypeKind::Decimal => false,
        (TypeKind::Decimal, TypeKind::Decimal) => {
            from.decimals <= to.decimals && integer_digits(from) <= integer_digits(to)
        }
        (TypeKind::Decimal, _) => false,
        (_, TypeKind::Double) => true,
        (_, TypeKind::Decimal) => integer_digits(to) >= 20 || from.kind != TypeKind::BigInt,
        (_, TypeKind::BigInt) => from.physical() == to.physical(),
        _ => false,
    }
}

/// A key part.
struct Part<'t> {
    id: ColumnId,
    ty: &'t SqlType,
    nullable: bool,
    prefix: Option<u32>,
    exact: bool,
    approximate: bool,
    descending: bool,
    /// Whether the column holds arrays of `ty`.
    array: bool,
    /// The document whose elements these are.
    document: Option<&'t Expression>,
}

impl Part<'_> {
    /// Whether a condition leaves single keys.
    fn is_points(&self, condition: &Condition) -> bool {
        let in_one_place = !has_many_beginnings(self.ty, self.prefix)
            || self.ty.collation.has_one_level()
            || matches!(condition, Condition::IsNull);
        !self.approximate && in_one_place && condition.is_points(self.ty)
    }

    /// Whether a text may have several keys, or ranges of keys.
    fn has_many_beginnings(&self, atoms: &[Atom]) -> bool {
        let is_null = |atom: &Atom| matches!(atom.condition, Condition::IsNull);
        has_many_beginnings(self.ty, self.prefix) && !atoms.iter().any(is_null)
    }

    /// Approximate number of keys that such a condition leaves at most.
    fn point_count(&self, condition: &Condition) -> usize {
        let beginnings = match self.prefix {
            Some(prefix) if has_many_beginnings(self.ty, self.prefix) => {
                (prefix as usize).min(POINT_WEIGHTS) + 2
            }
            _ => 1,
        };
        condition.point_count().saturating_mul(beginnings)
    }
}

#[derive(Debug, Clone)]
struct Atom {
    condition: Condition,
    conjunct: usize,
}

/// A box: conditions on key parts, all of which hold.
#[derive(Debug, Clone, Default)]
struct Draft {
    parts: Vec<Vec<Atom>>,
}

impl Draft {
    fn one(part: usize, atom: Atom) -> Self {
        let mut parts = vec![Vec::new(); part + 1];
        parts[part].push(atom);
        Self { parts }
    }

    /// Intersects the box with another, but for conditions on the array at part `array`.
    fn restrict(&mut self, other: &Self, array: Option<usize>) {
        if self.parts.len() < other.parts.len() {
            self.parts.resize(other.parts.len(), Vec::new());
        }
        for (part, (into, more)) in self.parts.iter_mut().zip(&other.parts).enumerate() {
            if array != Some(part) || into.is_empty() {
                into.extend(more.iter().cloned());
            }
        }
    }

    /// Number of leading parts that can be used: up to the first that is not a set of points.
    fn reached(&self, parts: &[Part<'_>], hash: bool) -> usize {
        let mut ranges = 1_usize;
        for (position, (atoms, part)) in self.parts.iter().zip(parts).enumerate() {
            if atoms.is_empty() {
                return if hash { 0 } else { position };
            }
            let points = atoms
                .iter()
                .filter(|atom| part.is_points(&atom.condition))
                .map(|atom| part.point_count(&atom.condition))
                .min();
            match points {
                Some(points) => {
                    ranges = ranges.saturating_mul(points.max(1));
                    if ranges > RANGES_MAX && position > 0 {
                        return if hash { 0 } else { position };
                    }
                }
                None => return if hash { 0 } else { position + 1 },
            }
        }
        let all = self.parts.len().min(parts.len());
        // A hash index finds whole keys only.
        if hash && all < parts.len() { 0 } else { all }
    }
}

/// Boxes of a condition.
struct Drafts {
    /// The boxes, one of which holds.
    boxes: Vec<Draft>,
    /// Whether the boxes are equivalent to the condition.
    exact: bool,
}

/// Intersects boxes with `others` in all combinations; false if there are too many.
fn multiply(boxes: &mut Vec<Draft>, others: &[Draft], array: Option<usize>) -> bool {
    match others {
        // In place: with thousands of conjuncts of one box each, copying would be quadratic.
        [only] => boxes
            .iter_mut()
            .for_each(|draft| draft.restrict(only, array)),
        // A single box with a long list of others is not a product.
        _ if boxes.len() > 1 && boxes.len().saturating_mul(others.len()) > PRODUCT_MAX => {
            return false;
        }
        _ => {
            let restricted = |(draft, other): (&Draft, &Draft)| {
                let mut draft = draft.clone();
                draft.restrict(other, array);
                draft
            };
            let pairs = boxes
                .iter()
                .flat_map(|draft| others.iter().map(move |other| (draft, other)));
            *boxes = pairs.map(restricted).collect();
        }
    }
    true
}

struct Reader<'a, 't> {
    parts: &'a [Part<'t>],
    /// The part that holds arrays.
    array: Option<usize>,
    /// Numbers of the table's columns.
    columns: std::ops::Range<ColumnId>,
}

impl Reader<'_, '_> {
    fn drafts(&self, predicate: &Expression, conjunct: usize) -> Option<Drafts> {
        with_stack(|| self.drafts_of(predicate, conjunct))
    }

    fn drafts_of(&self, predicate: &Expression, conjunct: usize) -> Option<Drafts> {
        match &predicate.kind {
            ExpressionKind::Literal(Value::Int(0) | Value::Null) => Some(Drafts {
                boxes: Vec::new(),
                exact: true,
            }),
            ExpressionKind::And(operands) => {
                let mut all: Option<Vec<Draft>> = None;
                let mut exact = true;
                for operand in operands {
                    let Some(drafts) = self.drafts(operand, conjunct) else {
                        exact = false;
                        continue;
                    };
                    exact &= drafts.exact;
                    match &mut all {
                        None => all = Some(drafts.boxes),
                        Some(known) => exact &= multiply(known, &drafts.boxes, self.array),
                    }
                }
                all.map(|boxes| Drafts { boxes, exact })
            }
            ExpressionKind::Or(operands) => {
                let mut boxes = Vec::new();
                let mut exact = true;
                for operand in operands {
                    let drafts = self.drafts(operand, conjunct)?;
                    exact &= drafts.exact;
                    boxes.extend(drafts.boxes);
                    if boxes.len() > BOXES_MAX {
                        return None;
                    }
                }
                Some(Drafts { boxes, exact })
            }
            ExpressionKind::Compare {
                comparison,
                left,
                right,
            } => self
                .comparison(left, *comparison, right, conjunct)
                .or_else(|| self.comparison(right, comparison.mirrored(), left, conjunct)),
            ExpressionKind::InList {
                operand,
                list,
                negated,
            } => self.in_list(operand, list, *negated, conjunct),
            ExpressionKind::IsNull(operand) => {
                let part = self.part_of(operand)?;
                if !self.parts[part].nullable {
                    return Some(Drafts {
                        boxes: Vec::new(),
                        exact: true,
                    });
                }
                Some(self.atom(part, Condition::IsNull, conjunct))
            }
            ExpressionKind::Not(inner) => match &inner.kind {
                ExpressionKind::IsNull(operand) => {
                    let part = self.part_of(operand)?;
                    Some(self.atom(part, Condition::IsNotNull, conjunct))
                }
                _ => None,
            },
            ExpressionKind::Call {
                function,
                arguments,
                signature,
            } if function.has(Fact::Like) => {
                let (value, pattern) = (arguments.first()?, arguments.get(1)?);
                let escape = match arguments.get(2) {
                    None => None,
                    Some(escape) => match escape.as_literal()? {
                        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok()?.chars().next(),
                        _ => return None,
                    },
                };
                let ExpressionKind::Column(id) = value.kind else {
                    return None;
                };
                let part = self.parts.iter().position(|part| part.id == id)?;
                let ty = self.parts[part].ty;
                let collation = signature.arguments.first()?.collation;
                let begins = match pattern.as_literal() {
                    Some(Value::Bytes(text)) => !matches!(text.first(), Some(b'%' | b'_') | None),
                    Some(_) => false,
                    None => true,
                };
                if !begins
                    || !ty.is_string()
                    || collation != ty.collation
                    || !self.is_constant(pattern)
                {
                    return None;
                }
                Some(Drafts {
                    exact: false,
                    ..self.atom(part, Condition::Like(pattern.clone(), escape), conjunct)
                })
            }
            ExpressionKind::Call {
                function,
                arguments,
                ..
            } => {
                let [a, b] = arguments.as_slice() else {
                    return None;
                };
                if function.has(Fact::MemberOf) {
                    self.elements(b, a, true, conjunct)
                } else if function.has(Fact::JsonContains) {
                    self.elements(a, b, false, conjunct)
                } else if function.has(Fact::JsonOverlaps) {
                    let either = self.elements(a, b, false, conjunct);
                    either.or_else(|| self.elements(b, a, false, conjunct))
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// The elements of a constant that a document must have.
    fn elements(
        &self,
        document: &Expression,
        value: &Expression,
        is_element: bool,
        conjunct: usize,
    ) -> Option<Drafts> {
        let part = self.array?;
        let own = self.parts[part].document?;
        if !same_document(own, document) || !self.is_constant(value) {
            return None;
        }
        let mut sought = SoughtElements {
            value: value.clone(),
            is_element,
            count: if is_element { 1 } else { ELEMENTS_ASSUMED },
        };
        if let Some(known) = known_value(value, &[], SqlMode::DEFAULT) {
            let keys = sought.keys(&known, self.parts[part].ty)?;
            sought.count = keys.len();
        }
        Some(Drafts {
            exact: false,
            ..self.atom(part, Condition::Elements(sought), conjunct)
        })
    }

    fn atom(&self, part: usize, condition: Condition, conjunct: usize) -> Drafts {
        // NULL can be tested on any part, a prefix included.
        let whole = matches!(condition, Condition::IsNull | Condition::IsNotNull);
        let rounded = match &condition {
            Condition::Compare(_, value) => is_rounded(self.parts[part].ty, &value.ty),
            Condition::In(_, ty) => is_rounded(self.parts[part].ty, ty),
            _ => false,
        };
        Drafts {
            exact: (whole || self.parts[part].exact) && !rounded,
            boxes: vec![Draft::one(
                part,
                Atom {
                    condition,
                    conjunct,
                },
            )],
        }
    }

    fn comparison(
        &self,
        column: &Expression,
        comparison: Comparison,
        value: &Expression,
        conjunct: usize,
    ) -> Option<Drafts> {
        let points = matches!(comparison, Comparison::Equal | Comparison::NullSafeEqual);
        let part = self.compared_part(column, points)?;
        if !self.is_constant(value) {
            return None;
        }
        Some(self.atom(
            part,
            Condition::Compare(comparison, value.clone()),
            conjunct,
        ))
    }

    fn in_list(
        &self,
        operand: &Expression,
        list: &Arc<[Value]>,
        negated: bool,
        conjunct: usize,
    ) -> Option<Drafts> {
        const EXCLUDED_MAX: usize = 100;
        let part = self.compared_part(operand, !negated)?;
        if !negated {
            let condition = Condition::In(Arc::clone(list), operand.ty.clone());
            return Some(self.atom(part, condition, conjunct));
        }
        if list.len() > EXCLUDED_MAX {
            return None;
        }
        let mut draft = Draft::default();
        let mut exact = true;
        for value in list.iter() {
            let value = Expression::literal(value.clone(), operand.ty.clone());
            let condition = Condition::Compare(Comparison::NotEqual, value);
            let drafts = self.atom(part, condition, conjunct);
            exact &= drafts.exact;
            draft.restrict(drafts.boxes.first()?, None);
        }
        Some(Drafts {
            boxes: vec![draft],
            exact,
        })
    }

    /// The key part of a column: compared in its own order, or, with `points`, only for equality.
    fn compared_part(&self, column: &Expression, points: bool) -> Option<usize> {
        if let Some(id) = key_column(column) {
            let part = self.parts.iter().position(|part| part.id == id)?;
            let ty = self.parts[part].ty;
            let same_order = match ty.physical() {
                PhysicalType::Bytes => {
                    ty.is_string() && column.ty.is_string() && ty.collation == column.ty.collation
                }
                _ => !column.ty.is_string(),
            };
            return same_order.then_some(part);
        }
        // The text of an ENUM member.
        match &column.kind {
            ExpressionKind::Cast(inner, _)
                if points && inner.ty.kind == TypeKind::Enum && column.ty.is_string() =>
            {
                let ExpressionKind::Column(id) = inner.kind else {
                    return None;
                };
                self.parts.iter().position(|part| part.id == id)
            }
            _ => None,
        }
    }

    fn part_of(&self, operand: &Expression) -> Option<usize> {
        let ExpressionKind::Column(id) = operand.kind else {
            return None;
        };
        self.parts.iter().position(|part| part.id == id)
    }

    /// Whether an expression has one value as long as the table is read.
    fn is_constant(&self, value: &Expression) -> bool {
        let mut constant = true;
        crate::tree::logical::visit_expression(value, &mut |inner| {
            constant &= match &inner.kind {
                ExpressionKind::Column(id) => !self.columns.contains(id),
                ExpressionKind::Local(_)
                | ExpressionKind::Let { .. }
                | ExpressionKind::Subquery(_)
                | ExpressionKind::LogicalSubquery(_) => false,
                _ => true,
            };
            constant
        });
        constant && !expression_is_volatile(value)
    }
}
