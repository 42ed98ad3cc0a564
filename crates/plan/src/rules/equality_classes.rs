//! Equivalence classes of columns that are equal in all rows, by equality conditions.
//!
//! Columns are in one class only when `=` compares them in the same way: values of one type, texts by one collation.
//! Then equality is transitive, and a condition on one column applies to the others. A text that is compared by two
//! collations is in two classes, and `text = number` makes none at all.

use mayfly_types::{CollationId, PhysicalType, SqlType, TypeKind};

use crate::tree::expression::{Expression, ExpressionKind, same_expression};
use crate::tree::logical::{ColumnId, expression_is_volatile, has_subquery};

/// Domain of comparison of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Domain {
    Number(PhysicalType),
    /// DATE, DATETIME and TIMESTAMP, which have one time line.
    Instant,
    Time,
    Text(CollationId),
}

impl Domain {
    /// Domain of a type; `None` if its equality is not transitive.
    fn of(ty: &SqlType) -> Option<Self> {
        match ty.kind {
            TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Decimal
            | TypeKind::Float
            | TypeKind::Double => Some(Self::Number(ty.physical())),
            TypeKind::Date | TypeKind::DateTime | TypeKind::Timestamp => Some(Self::Instant),
            TypeKind::Time => Some(Self::Time),
            // BINARY(n) is padded to its length.
            TypeKind::Char if ty.is_binary_string() => None,
            _ => ty.is_string().then_some(Self::Text(ty.collation)),
        }
    }
}

/// Whether values of two types are compared without conversion, so that equality with one of several equal values
/// implies equality with all.
pub(super) fn compare_alike(a: &SqlType, b: &SqlType) -> bool {
    let domain = Domain::of(a);
    domain.is_some() && domain == Domain::of(b)
}

/// Whether equal values of two types are identical: not texts, where 'a' equals 'A', nor numbers with a negative zero.
pub(super) fn is_exact(a: &SqlType, b: &SqlType) -> bool {
    match Domain::of(a) {
        None | Some(Domain::Text(_) | Domain::Number(PhysicalType::Float64)) => false,
        domain => domain == Domain::of(b),
    }
}

/// A class of equal columns.
#[derive(Debug, Clone)]
pub(super) struct EqualityClass {
    domain: Domain,
    /// Columns, with the types that they are compared in.
    members: Vec<(ColumnId, SqlType)>,
    /// Constant that all of them equal.
    pub(super) constant: Option<Expression>,
    /// Whether conditions fix some of them to one value and some to another.
    is_torn: bool,
}

impl EqualityClass {
    /// Whether its columns are equal because each of them is fixed to one constant.
    pub(super) fn is_constant(&self) -> bool {
        self.constant.is_some() && !self.is_torn
    }

    fn fix(&mut self, value: Expression) {
        match &self.constant {
            None => self.constant = Some(value),
            Some(known) => self.is_torn |= !same_expression(known, &value),
        }
    }

    /// Its columns, in the form in which they are compared.
    pub(super) fn columns(&self) -> impl Iterator<Item = (ColumnId, Expression)> + '_ {
        let column =
            |(id, ty): &(ColumnId, SqlType)| (*id, Expression::column(*id, ty.clone(), true));
        self.members.iter().map(column)
    }
}

/// The classes that the conditions of some rows make.
#[derive(Debug, Clone, Default)]
pub(super) struct EqualityClasses {
    classes: Vec<EqualityClass>,
}

impl EqualityClasses {
    pub(super) fn iter(&self) -> impl Iterator<Item = &EqualityClass> {
        self.classes.iter()
    }

    /// Adds a condition that holds for all rows.
    pub(super) fn learn(&mut self, predicate: &Expression) {
        if let Some((a, b)) = column_pair(predicate) {
            self.merge(a, b);
        }
        let Some((column, value)) = fixed(predicate) else {
            return;
        };
        if let Some(class) = self.class_of(column) {
            self.classes[class].fix(value.clone());
        }
    }

    /// The class of two columns that a condition equates, if they are of one class.
    pub(super) fn holding(&self, predicate: &Expression) -> Option<&EqualityClass> {
        self.classes.get(self.number_of(predicate)?)
    }

    /// Number of the class of two columns that the predicate equates, if they are of one class.
    pub(super) fn number_of(&self, predicate: &Expression) -> Option<usize> {
        let (a, b) = column_pair(predicate)?;
        let class = self.known(a)?;
        (self.known(b) == Some(class)).then_some(class)
    }

    fn known(&self, column: &Expression) -> Option<usize> {
        let (ExpressionKind::Column(id), domain) = (&column.kind, Domain::of(&column.ty)?) else {
            return None;
        };
        self.classes.iter().position(|class| {
            class.domain == domain && class.members.iter().any(|(known, _)| known == id)
        })
    }

    /// Class of a column; created if needed.
    fn class_of(&mut self, column: &Expression) -> Option<usize> {
        if let Some(known) = self.known(column) {
            return Some(known);
        }
        let ExpressionKind::Column(id) = column.kind else {
            return None;
        };
        self.classes.push(EqualityClass {
            domain: Domain::of(&column.ty)?,
            members: vec![(id, column.ty.clone())],
            constant: None,
            is_torn: false,
        });
        Some(self.classes.len() - 1)
    }

    fn merge(&mut self, a: &Expression, b: &Expression) {
        let (Some(into), Some(from)) = (self.class_of(a), self.class_of(b)) else {
            return;
        };
        if into == from {
            return;
        }
        let merged = self.classes.swap_remove(into.max(from));
        let class = &mut self.classes[into.min(from)];
        class.members.extend(merged.members);
        class.is_torn |= merged.is_torn;
        if let Some(value) = merged.constant {
            class.fix(value);
        }
    }
}

/// The two columns that a condition equates.
pub(super) fn column_pair(predicate: &Expression) -> Option<(&Expression, &Expression)> {
    let (left, right) = sides(predicate)?;
    let is_column = |side: &Expression| side.as_column().is_some();
    (is_column(left) && is_column(right)).then_some((left, right))
}

/// The column and the constant that a condition equates.
pub(super) fn fixed(predicate: &Expression) -> Option<(&Expression, &Expression)> {
    let (left, right) = sides(predicate)?;
    let is_column = |side: &Expression| side.as_column().is_some();
    if is_column(left) && is_constant(right) {
        Some((left, right))
    } else if is_column(right) && is_constant(left) {
        Some((right, left))
    } else {
        None
    }
}

/// Both sides of an equality that compares them in one domain.
fn sides(predicate: &Expression) -> Option<(&Expression, &Expression)> {
    let (left, right) = predicate.as_equality()?;
    compare_alike(&left.ty, &right.ty).then_some((left, right))
}

/// Whether an expression has one value, other than the constant NULL, as long as the statement runs.
fn is_constant(expression: &Expression) -> bool {
    match &expression.kind {
        ExpressionKind::Literal(value) => !value.is_null(),
        ExpressionKind::Column(_) | ExpressionKind::Local(_) => false,
        _ => {
            expression.columns().is_empty()
                && !has_subquery(expression)
                && !expression_is_volatile(expression)
        }
    }
}
