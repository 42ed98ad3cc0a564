//! The types of columns, from all of their cells, and their arrays.
//!
//! Whole numbers are BIGINT, others DOUBLE, as Excel has no others; dates are DATE, with times DATETIME; times of day and
//! intervals TIME. Cells of several kinds make a text, in which each is shown. An empty text counts as no value beside other
//! kinds, because formulas give it for none. An error is NULL, with a warning for the first one of a column.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{ArrayRef, Float64Array, Int64Array};
use mayfly_engine::{SqlType, TableFunctionContext, TypeKind, codes};

use super::cell::{Cell, fraction, is_date};
use super::place;
use super::workbook::Cells;
use crate::csv::guess::Kind;

/// The greatest number up to which a double has all whole numbers.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The kinds of a column's cells.
#[derive(Default)]
struct Kinds {
    has_bools: bool,
    has_whole: bool,
    has_fractions: bool,
    has_dates: bool,
    has_points: bool,
    has_times: bool,
    has_texts: bool,
    /// Most digits of a second's fraction.
    fraction: u8,
}

impl Kinds {
    fn add(&mut self, cell: &Cell) {
        match cell {
            Cell::Bool(_) => self.has_bools = true,
            Cell::Number(number) if number.fract() == 0.0 && number.abs() <= WHOLE_MAX => {
                self.has_whole = true;
            }
            Cell::Number(_) => self.has_fractions = true,
            Cell::Point(packed) if is_date(*packed) => self.has_dates = true,
            Cell::Point(_) => self.has_points = true,
            Cell::Time(_) => self.has_times = true,
            Cell::Text(text) => self.has_texts |= !text.is_empty(),
            Cell::Error(_) => {}
        }
        self.fraction = self.fraction.max(fraction(cell));
    }

    /// The type of a column without texts; `None` for one of several kinds or none.
    fn sql_type(&self) -> Option<SqlType> {
        let groups = [
            self.has_bools,
            self.has_whole || self.has_fractions,
            self.has_dates || self.has_points,
            self.has_times,
        ];
        let count = groups.into_iter().filter(|group| *group).count();
        if self.has_texts || count != 1 {
            return None;
        }
        Some(match self {
            _ if self.has_bools => Kind::Bool.sql_type(),
            _ if self.has_fractions => SqlType::double(),
            _ if self.has_whole => SqlType::bigint(),
            _ if self.has_points => SqlType::temporal(TypeKind::DateTime, self.fraction),
            _ if self.has_dates => SqlType::temporal(TypeKind::Date, 0),
            _ => SqlType::temporal(TypeKind::Time, self.fraction),
        })
    }
}

/// A column of a table.
pub(super) struct Column {
    ty: SqlType,
    is_text: bool,
}

impl Column {
    /// The column at a position of some sheets.
    pub(super) fn of(sheets: &[&Cells], at: usize, all_text: bool) -> Self {
        let cells = || sheets.iter().flat_map(|cells| cells.column(at));
        let mut kinds = Kinds::default();
        for (_, cell) in cells() {
            kinds.add(cell);
        }
        match kinds.sql_type().filter(|_| !all_text) {
            Some(ty) => Self { ty, is_text: false },
            None => {
                let lengths = cells().map(|(_, cell)| cell.to_text(None).len());
                let longest = u32::try_from(lengths.max().unwrap_or(0)).unwrap_or(u32::MAX);
                Self {
                    ty: Kind::Text(longest).sql_type(),
                    is_text: true,
                }
            }
        }
    }

    pub(super) fn sql_type(&self) -> SqlType {
        self.ty.clone()
    }

    /// The array of a sheet's column.
    pub(super) fn array(
        &self,
        path: &str,
        name: &str,
        cells: &Cells,
        at: usize,
        context: &TableFunctionContext,
    ) -> ArrayRef {
        let mut next = cells.column(at).peekable();
        let mut warned = false;
        let rows = (0..cells.rows()).map(|row| {
            let (place, cell) = next.next_if(|((at, _), _)| *at == row)?;
            let Cell::Error(error) = cell else {
                return Some(cell);
            };
            if !std::mem::replace(&mut warned, true) {
                let place = place::name(cells.first().0 + place.0, cells.first().1 + place.1);
                let what = format!("file '{path}': column '{name}', cell {place}: {error} is NULL");
                context
                    .diagnostics
                    .warn(codes::ER_UNKNOWN_ERROR.with(&[&what]));
            }
            None
        });
        if self.is_text {
            let mut texts = BinaryViewBuilder::with_capacity(cells.rows() as usize);
            for cell in rows {
                texts.append_option(cell.map(|cell| cell.to_text(None)));
            }
            return Arc::new(texts.finish());
        }
        if self.ty.kind == TypeKind::Double {
            let numbers = rows.map(|cell| match cell {
                Some(Cell::Number(number)) => Some(*number),
                _ => None,
            });
            return Arc::new(numbers.collect::<Float64Array>());
        }
        let numbers = rows.map(|cell| match cell {
            Some(Cell::Number(number)) => Some(*number as i64),
            Some(Cell::Bool(value)) => Some(i64::from(*value)),
            Some(Cell::Point(number) | Cell::Time(number)) => Some(*number),
            _ => None,
        });
        Arc::new(numbers.collect::<Int64Array>())
    }
}

/// Bytes of a column's array, at most.
pub(super) fn bytes_of(cells: &Cells, at: usize, rows: u32) -> u64 {
    /// A view of a text, or a number, and a NULL.
    const ROW: u64 = 17;
    /// The text of a number or a time.
    const SHOWN: u64 = 32;
    let texts = cells.column(at);
    let texts = texts.map(|(_, cell)| cell.bytes() as u64 + SHOWN);
    u64::from(rows) * ROW + texts.sum::<u64>()
}
