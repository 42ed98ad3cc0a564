//! Plans of point statements: they read or change one row by a unique key, without operators and batches, or all rows of a
//! key, by the plan of the statement.

use std::sync::{Arc, Weak};

use mayfly_storage::IndexId;
use mayfly_types::{SqlType, Value};

use crate::catalog::BaseTable;
use crate::result::ResultColumn;
use crate::storing::Storing;

/// Plan of a point statement.
#[derive(Debug)]
pub(crate) struct PointPlan {
    /// Weak: a cached plan must not keep a dropped table alive.
    pub(crate) table: Weak<BaseTable>,
    pub(crate) access: RowAccess,
    /// Whether it is of one row, which is accessed without the statement's plan.
    pub(crate) is_direct: bool,
}

#[derive(Debug)]
pub(crate) enum RowAccess {
    Read {
        key: Key,
        columns: Vec<usize>,
        shown: Arc<[ResultColumn]>,
    },
    Insert {
        sources: Vec<Source>,
        /// Conversion settings with the date of planning: `recognize` leaves out values whose conversion reads it.
        storing: Storing,
        number: Option<AutoNumber>,
    },
    Update {
        key: Key,
        /// The columns from which new values are computed.
        read: Vec<usize>,
        columns: Vec<usize>,
        sources: Vec<Source>,
        storing: Storing,
    },
    Delete {
        key: Key,
    },
}

/// Key of the row: its index, and the sources of its values.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) index: IndexId,
    pub(crate) parts: Vec<Source>,
}

/// Source of a value.
#[derive(Debug)]
pub(crate) enum Source {
    /// A `?`.
    Parameter(usize),
    /// A literal and its type.
    Literal(Value, SqlType),
    /// A value as its column stores it.
    Stored(Value),
    /// The current time: when the statement began.
    Now,
    /// An integer column of the row, by its position, plus or minus another value.
    Sum {
        old: usize,
        subtracts: bool,
        other: Box<Source>,
        ty: SqlType,
    },
}

/// The AUTO_INCREMENT column of a point INSERT.
#[derive(Debug)]
pub(crate) struct AutoNumber {
    pub(crate) column: usize,
    pub(crate) ty: SqlType,
}
