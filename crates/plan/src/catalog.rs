//! What the planner may know of tables.

use std::any::Any;
use std::fmt::{self, Debug};
use std::ops::Bound;
use std::sync::{Arc, OnceLock};

use mayfly_syntax::ast::{Expr, Query};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType, Stage, Value};

use crate::statistics::ColumnStatistics;
use crate::trace::Trace;

/// Names a table for as long as a plan may live. A table that is dropped and made again, or
/// altered, gets a new one, so that a plan for the old shape can never read the new table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TableId(pub u64);

/// A column as the planner sees it.
#[derive(Debug, Clone)]
pub struct ColumnSource {
    /// Its name, in the case of its definition.
    pub name: String,
    /// Its type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// Left out of `*`.
    pub invisible: bool,
    /// No name means it: it holds the values of an expression that an index is over.
    pub hidden: bool,
    /// What it is computed of, when an index is over it.
    pub generated: Option<Arc<Expr>>,
    /// What `DEFAULT(column)` gives.
    pub default: DefaultSource,
    /// What is reported to clients of its keys and of how it gets values.
    pub traits: ColumnTraits,
}

impl ColumnSource {
    /// A visible column without a default.
    pub fn new(name: &str, ty: SqlType, nullable: bool) -> Self {
        Self {
            name: name.to_owned(),
            ty,
            nullable,
            invisible: false,
            hidden: false,
            generated: None,
            default: DefaultSource::None,
            traits: ColumnTraits::default(),
        }
    }
}

/// What is reported to clients of a table's column besides its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColumnTraits {
    /// The column is a part of the primary key.
    pub primary_key: bool,
    /// The column is a unique key by itself.
    pub unique_key: bool,
    /// The column is the first part of another key.
    pub multiple_key: bool,
    /// The column is a part of some key.
    pub key_part: bool,
    /// AUTO_INCREMENT
    pub auto_increment: bool,
    /// A row must name a value for it.
    pub no_default: bool,
    /// DEFAULT CURRENT_TIMESTAMP or ON UPDATE CURRENT_TIMESTAMP of a TIMESTAMP.
    pub timestamp: bool,
    /// ON UPDATE CURRENT_TIMESTAMP
    pub on_update_now: bool,
}

impl ColumnTraits {
    /// What is left of them in a temporary table that the column was copied into.
    pub fn copied(self) -> Self {
        Self {
            no_default: self.no_default,
            ..Self::default()
        }
    }
}

/// The default of a column, as far as `DEFAULT(column)` is concerned.
#[derive(Debug, Clone, Default)]
pub enum DefaultSource {
    /// A column that may not be NULL and for which none was written: error 1364.
    #[default]
    None,
    /// A value of the column's type.
    Value(Value),
    /// DEFAULT (expression): error 3773.
    Expression,
}

/// A table as the planner sees it: its shape and a few statistics.
#[derive(Debug, Clone)]
pub struct TableSource {
    /// Which table the executor will open.
    pub id: TableId,
    /// The database that it is in.
    pub database: String,
    /// Its name.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<ColumnSource>,
    /// Sets of columns (by index) in which no two rows are equal: PRIMARY KEY and UNIQUE NOT NULL.
    /// Functional dependence under ONLY_FULL_GROUP_BY rests on them.
    pub unique_keys: Vec<Vec<usize>>,
    /// Its indexes, unique ones first, the primary key before all.
    pub indexes: Vec<IndexSource>,
    /// How many rows it is thought to have.
    pub row_count: u64,
    /// CREATE TEMPORARY TABLE.
    pub temporary: bool,
    /// The table was created with PARTITION BY.
    pub partitioned: bool,
    /// What an index of it holds.
    pub index_content: IndexContent,
}

/// What an index of a table holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexContent {
    /// The table can have no index.
    Unavailable,
    /// Keys that lead to rows, and are not read themselves.
    Keys,
    /// Rows of its own columns and the primary key's.
    Rows,
}

/// As one statement sees it: the same table found twice may have changed meanwhile.
impl PartialEq for TableSource {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl TableSource {
    /// A table without indexes.
    pub fn new(
        id: TableId,
        database: &str,
        name: &str,
        columns: Vec<ColumnSource>,
        row_count: u64,
    ) -> Self {
        Self {
            id,
            database: database.to_owned(),
            name: name.to_owned(),
            columns,
            unique_keys: Vec::new(),
            indexes: Vec::new(),
            row_count,
            temporary: false,
            partitioned: false,
            index_content: IndexContent::Unavailable,
        }
    }
}

/// What refuses `PARTITION (…)` behind the name of a table: rows are not kept by partitions, so that
/// a statement about some of them would be one about all.
pub fn refuse_partitions(partitioned: bool) -> Error {
    if partitioned {
        codes::ER_NOT_SUPPORTED_YET.with(&[&"PARTITION (…)"])
    } else {
        codes::ER_PARTITION_CLAUSE_ON_NONPARTITIONED.error()
    }
}

/// An index as the planner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexSource {
    /// Its position among the indexes of the stored table; none when the store keeps nothing that rows
    /// could be found by (FULLTEXT, SPATIAL, expressions).
    pub id: Option<usize>,
    /// Its name; `PRIMARY` for the primary key.
    pub name: String,
    /// What its rows are found by.
    pub parts: Vec<IndexPartSource>,
    /// PRIMARY or UNIQUE.
    pub unique: bool,
    /// The rows themselves are in its order: to read it is to read the table.
    pub clustered: bool,
    /// HASH: finds equal keys only.
    pub hash: bool,
    /// Not INVISIBLE.
    pub visible: bool,
    /// The columns that can be read without going to the row (all of them when `clustered`).
    pub covers: Vec<usize>,
}

/// A part of an index's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexPartSource {
    /// Which column of the table.
    pub column: usize,
    /// Prefix length: only the first `n` characters (bytes of a binary string) are in the index.
    pub prefix: Option<u32>,
    /// DESC
    pub descending: bool,
    /// Its order is only about that of the column's values: a range of it may hold rows outside of
    /// the range of values, so that it finds rows which are then checked, and nothing else.
    pub approximate: bool,
}

/// Keys of an index between two bounds, in its order: values for its first parts. Of fewer values
/// than parts, all keys that begin with them are meant.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueRange {
    /// Where it begins.
    pub start: Bound<Vec<Value>>,
    /// Where it ends.
    pub end: Bound<Vec<Value>>,
}

/// What the planner may ask of a table's contents.
pub trait TableStatistics: Debug + Send + Sync {
    /// How many different keys the first `parts` parts of an index have, about.
    fn distinct_keys(&self, index: usize, parts: usize) -> u64;

    /// How many rows lie in a range of an index, about.
    fn rows_in_range(&self, index: usize, range: &ValueRange) -> u64;

    /// What is known of the values of a column.
    fn column(&self, column: usize) -> Option<Arc<ColumnStatistics>> {
        let _ = column;
        None
    }
}

/// The statistics of a table as one statement asks them.
pub(crate) struct AskedStatistics {
    statistics: Arc<dyn TableStatistics>,
    /// What they have said, in a form that only the estimates know.
    answers: OnceLock<Box<dyn Any + Send + Sync>>,
}

impl AskedStatistics {
    /// Of which nothing was asked yet.
    pub(crate) fn new(statistics: Arc<dyn TableStatistics>) -> Self {
        Self {
            statistics,
            answers: OnceLock::new(),
        }
    }

    /// What is asked.
    pub(crate) fn statistics(&self) -> &Arc<dyn TableStatistics> {
        &self.statistics
    }

    /// What was answered so far. All who ask keep it in the same form.
    pub(crate) fn answers<T: Any + Default + Send + Sync>(&self) -> &T {
        let answers = self.answers.get_or_init(|| Box::new(T::default()));
        answers.downcast_ref().expect("one form of answers")
    }
}

/// Subqueries are compared by how they are written down: what was asked of a table is no part of them, nor are its values.
/// As a statement asks them: only what was asked in one place is the same.
impl PartialEq for AskedStatistics {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Debug for AskedStatistics {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AskedStatistics")
    }
}

/// A view as the planner sees it.
#[derive(Debug, Clone)]
pub struct ViewSource {
    /// The database that it is in.
    pub database: String,
    /// Its name.
    pub name: String,
    /// Its columns' names, those of the query in order.
    pub columns: Vec<String>,
    /// Its query, in which every table is named with its database.
    pub query: Box<Query>,
    /// ALGORITHM = TEMPTABLE: never a part of the query that reads it.
    pub materialized: bool,
    /// WITH CHECK OPTION: whether it cascades.
    pub check_option: Option<bool>,
    /// The account whose rights hold below it; `None`: whose hold around it.
    pub definer: Option<(String, String)>,
}

/// What a statement does with a table or column that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// Reads it.
    Read,
    /// Reads all columns without naming them.
    ReadAll,
    /// Reads a table, and perhaps changes rows of it.
    ReadOrUpdate,
    /// Names the table that it removes rows from.
    ReadOrDelete,
    /// Changes values.
    Update,
    /// Adds rows.
    Insert,
    /// Removes rows.
    Delete,
}

/// What is found out about a statement while it is planned.
#[derive(Debug, Clone, Default)]
pub struct Explanation {
    /// What a query is rewritten to.
    pub rewritten: String,
    /// What would remove each of its temporary tables.
    pub removals: Vec<Option<String>>,
}

/// What a `?` is where it stands, which says how a value of another type is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterPlace {
    /// An operand or an argument: the value is converted to the type of the place.
    Operand,
    /// An operand of a comparison: a date may be one that no calendar has.
    Comparison,
    /// An operand of an operator that takes the type of what is around it, as far as nothing around it has one.
    Context,
    /// What is assigned to a column: the column converts the value when it stores it.
    Assignment,
    /// A number of rows, as of LIMIT: a text is the integer that it begins with.
    Count,
}

/// The planner's only way to tables.
pub trait Catalog {
    /// The planner begins with a part of its work.
    fn enters(&self, stage: Stage) {
        let _ = stage;
    }

    /// The database of unqualified names, if one is selected.
    fn current_database(&self) -> Option<&str>;

    /// The table of that name: 1046, 1049 or 1146 when there is none.
    fn table(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>>;

    /// What may be asked of the contents of a table that [`Self::table`] gave; nothing, if it has neither
    /// an index nor rows that could be looked at.
    fn statistics(&self, id: TableId) -> Option<Arc<dyn TableStatistics>>;

    /// The table of that name, for a statement that calls it `alias`.
    fn table_as(
        &self,
        database: Option<&str>,
        name: &str,
        alias: &str,
    ) -> Result<Arc<TableSource>> {
        let _ = alias;
        self.table(database, name)
    }

    /// The base table of that name, for a view: a temporary table of its name is another one.
    fn table_of_view(&self, database: Option<&str>, name: &str) -> Result<Arc<TableSource>> {
        self.table(database, name)
    }

    /// The view of that name, if there is one.
    fn view(&self, database: Option<&str>, name: &str) -> Result<Option<Arc<ViewSource>>> {
        let _ = (database, name);
        Ok(None)
    }

    /// The value and type of a system variable, for `@@name`. `scope` is as written.
    fn system_variable(&self, scope: Option<VariableScope>, name: &str)
    -> Result<(Value, SqlType)>;

    /// The type of the user variable's current value (a NULL string when it was never set).
    fn user_variable_type(&self, name: &str) -> SqlType;

    /// The value of a `?`, when it is known and decides about the plan: that of LIMIT, or one whose
    /// digits say how it is compared.
    fn parameter_value(&self, index: usize) -> Option<Value> {
        let _ = index;
        None
    }

    /// Takes the type that a `?` of unknown type has from where it stands, and what it is there.
    fn parameter_meets(&self, index: usize, ty: &SqlType, place: ParameterPlace) {
        let _ = (index, ty, place);
    }

    /// Takes a warning that binding raises.
    fn warn(&self, warning: Error);

    /// Whether what is bound is only described, so that its constants are not looked at.
    fn describes(&self) -> bool {
        false
    }

    /// Whether [`Self::explain`] is to be told about the statement.
    fn explains(&self) -> bool {
        false
    }

    /// Takes what was found out about the statement.
    fn explain(&self, explanation: Explanation) {
        let _ = explanation;
    }

    /// Who is told what the planner decides; none unless the session traces the optimizer.
    fn trace(&self) -> Option<&Trace> {
        None
    }

    /// Whether the statement may name a table or view so; what it does with single columns is asked
    /// when these are named.
    fn check_table(&self, database: Option<&str>, name: &str, usage: Usage) -> Result<()> {
        let _ = (database, name, usage);
        Ok(())
    }

    /// Whether columns that are read are to be asked for.
    fn checks_columns(&self) -> bool {
        false
    }

    /// The number of the rights that hold now.
    fn current_rights(&self) -> usize {
        0
    }

    /// Whether these rights allow a column to be read or changed.
    fn check_column(
        &self,
        rights: usize,
        table: (&str, &str),
        column: &str,
        usage: Usage,
    ) -> Result<()> {
        let _ = (rights, table, column, usage);
        Ok(())
    }

    /// Whether these rights allow rows to be added to a table or removed from it.
    fn check_change(&self, rights: usize, table: (&str, &str), usage: Usage) -> Result<()> {
        let _ = (rights, table, usage);
        Ok(())
    }

    /// What follows is below a view, until [`Self::leave_view`].
    fn enter_view(&self, view: &ViewSource) -> Result<()> {
        let _ = view;
        Ok(())
    }

    /// The end of that.
    fn leave_view(&self) {}
}

/// How a system variable was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableScope {
    /// `@@global.name`
    Global,
    /// `@@session.name` or `@@local.name`
    Session,
}
