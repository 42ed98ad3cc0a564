//! Scopes: the visible names of an expression, and their meaning.

use std::ops::Range;
use std::sync::Arc;

use mayfly_functions::Coercibility;
use mayfly_functions::aggregate::Kind;
use mayfly_types::error::codes;
use mayfly_types::{Error, Result, SqlType, TypeKind};

use crate::bind::block::{BlockColumn, same_name};
use crate::bind::buffered::Buffered;
use crate::bind::scalar_names::ScalarColumn;
use crate::bind::window_scope::Windows;
use crate::catalog::{DefaultSource, TableId, TableSource};
use crate::predicates::and;
use crate::tree::access::HintPurpose;
use crate::tree::expression::{Expression, ExpressionKind};
use crate::tree::logical::{ColumnId, Scan};
use crate::tree::physical::{AggregateCall, ClientType, ColumnOrigin};

/// A view that is merged into the statement's query.
#[derive(Debug, Clone)]
pub(crate) struct ViewParts {
    pub(crate) database: String,
    pub(crate) name: String,
    /// The derived table is merged: each of its rows has a row of each of its tables.
    pub(crate) merged: bool,
    /// Position columns of its tables.
    pub(crate) scans: Vec<ColumnId>,
    /// Whether no rows can be added or removed through it, because its tables are in outer joins.
    pub(crate) fixed: bool,
    /// Tables that its subqueries read, no row of which can be changed through it.
    pub(crate) subqueries: Vec<TableId>,
    /// WITH CHECK OPTION conditions for its rows, its own or those of views below it.
    pub(crate) checks: Vec<Expression>,
}

impl ViewParts {
    /// Whether its subqueries read a table.
    pub(super) fn reads(&self, scan: &Scan) -> bool {
        self.subqueries.contains(&scan.table.id)
    }

    /// The WITH CHECK OPTION condition.
    pub(super) fn check(&self) -> Option<Expression> {
        (!self.checks.is_empty()).then(|| and(self.checks.clone()))
    }
}

/// A hint `MERGE` or `NO_MERGE`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MergeHint {
    /// Whether derived tables are merged.
    pub(crate) merges: bool,
    /// Alias of the derived table; `None` for all of the block.
    pub(crate) table: Option<String>,
    /// Whether a table of the name exists.
    pub(crate) used: bool,
}

/// An index hint in a comment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IndexHint {
    pub(super) name: &'static str,
    pub(super) purposes: &'static [HintPurpose],
    pub(super) negated: bool,
    /// Query block that it applies to, if not its own.
    pub(super) block: Option<String>,
    pub(super) table: String,
    /// Names of the indexes; empty: all.
    pub(super) indexes: Vec<String>,
    /// Whether the table of the hint exists.
    pub(super) used: bool,
}

/// Clause of a query block. Decides which names an expression sees and how errors call the clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clause {
    FieldList,
    /// Values outside of a select list: rows of VALUES, assignments, definitions.
    Values,
    From,
    On,
    Where,
    GroupBy,
    Having,
    OrderBy,
    /// PARTITION BY of a window.
    WindowPartition,
    /// ORDER BY of a window.
    WindowOrder,
}

impl Clause {
    /// Name of the clause in errors 1054 and 1052.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::FieldList | Self::Values => "field list",
            Self::From => "from clause",
            Self::On => "on clause",
            Self::Where => "where clause",
            Self::GroupBy => "group statement",
            Self::Having => "having clause",
            Self::OrderBy => "order clause",
            Self::WindowPartition => "window partition by",
            Self::WindowOrder => "window order by",
        }
    }

    /// Error 1054 for an unknown column in the clause.
    pub(crate) fn unknown(self, name: &dyn std::fmt::Display) -> Error {
        codes::ER_BAD_FIELD_ERROR.with(&[name, &self.text()])
    }

    /// Whether aggregates of the query block are allowed in the clause.
    pub(crate) fn allows_aggregates(self) -> bool {
        matches!(
            self,
            Self::FieldList
                | Self::Having
                | Self::OrderBy
                | Self::WindowPartition
                | Self::WindowOrder
        )
    }
}

/// Columns of a table in FROM.
#[derive(Debug)]
pub(crate) enum ScopeColumns {
    /// A base table; column `i` has the number `first + i`.
    Base {
        table: Arc<TableSource>,
        first: ColumnId,
    },
    /// A derived table, a common table expression, or the columns of a scalar expression.
    Derived(Vec<BlockColumn>),
}

/// A table in FROM.
#[derive(Debug)]
pub(crate) struct ScopeTable {
    pub(crate) database: Option<String>,
    pub(crate) alias: String,
    pub(crate) columns: ScopeColumns,
    /// Whether the table is on the inner side of an outer join: every column may be NULL.
    pub(crate) null_extended: bool,
    /// The table is on the left of a RIGHT JOIN whose right side is being bound.
    pub(crate) unseen: bool,
    /// Sets of columns in which no two rows are equal.
    pub(crate) unique_keys: Vec<Vec<usize>>,
    /// Whether it is a derived table that MySQL merges, so that its columns are expressions.
    pub(crate) merged: bool,
}

impl ScopeTable {
    /// A table of these columns without a database.
    pub(crate) fn derived(alias: String, columns: Vec<BlockColumn>) -> Self {
        Self {
            database: None,
            alias,
            columns: ScopeColumns::Derived(columns),
            null_extended: false,
            unseen: false,
            unique_keys: Vec::new(),
            merged: false,
        }
    }

    /// Whether a qualifier refers to this table.
    pub(crate) fn is_called(&self, database: Option<&str>, table: &str) -> bool {
        self.alias == table
            && database
                .is_none_or(|written| self.database.as_deref().is_some_and(|own| own == written))
    }

    /// Whether the qualifiers of a name, if any, refer to this table.
    fn is_meant_by(&self, name: Name<'_>) -> bool {
        !self.unseen
            && name
                .table
                .is_none_or(|written| self.is_called(name.database, written))
    }

    pub(crate) fn len(&self) -> usize {
        match &self.columns {
            ScopeColumns::Base { table, .. } => table.columns.len(),
            ScopeColumns::Derived(columns) => columns.len(),
        }
    }

    /// Whether the table was created with PARTITION BY.
    pub(crate) fn is_partitioned(&self) -> bool {
        matches!(&self.columns, ScopeColumns::Base { table, .. } if table.partitioned)
    }

    pub(crate) fn name(&self, index: usize) -> &str {
        match &self.columns {
            ScopeColumns::Base { table, .. } => &table.columns[index].name,
            ScopeColumns::Derived(columns) => &columns[index].name,
        }
    }

    pub(crate) fn id(&self, index: usize) -> ColumnId {
        match &self.columns {
            ScopeColumns::Base { first, .. } => first + index,
            ScopeColumns::Derived(columns) => columns[index].id,
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        match &self.columns {
            ScopeColumns::Base { table, .. } => table
                .columns
                .iter()
                .position(|column| !column.hidden && same_name(&column.name, name)),
            ScopeColumns::Derived(columns) => columns
                .iter()
                .position(|column| same_name(&column.name, name)),
        }
    }

    fn is_invisible(&self, index: usize) -> bool {
        match &self.columns {
            ScopeColumns::Base { table, .. } => table.columns[index].invisible,
            ScopeColumns::Derived(_) => false,
        }
    }

    /// Whether a column cannot be named.
    pub(crate) fn is_hidden(&self, index: usize) -> bool {
        matches!(&self.columns, ScopeColumns::Base { table, .. } if table.columns[index].hidden)
    }

    /// Column that `_rowid` refers to: the first key without NULLs, if it is a single integer column.
    fn row_id(&self) -> Option<usize> {
        let ScopeColumns::Base { table, .. } = &self.columns else {
            return None;
        };
        match table.unique_keys.first()?.as_slice() {
            [column] if table.columns[*column].ty.is_integer() => Some(*column),
            _ => None,
        }
    }

    /// Coercibility of a column, if not that of table columns.
    pub(crate) fn claim(&self, index: usize) -> Option<Coercibility> {
        match &self.columns {
            ScopeColumns::Base { .. } => None,
            ScopeColumns::Derived(columns) => columns[index].claim,
        }
    }

    fn ty(&self, index: usize) -> &SqlType {
        match &self.columns {
            ScopeColumns::Base { table, .. } => &table.columns[index].ty,
            ScopeColumns::Derived(columns) => &columns[index].ty,
        }
    }

    fn nullable(&self, index: usize) -> bool {
        self.null_extended
            || match &self.columns {
                ScopeColumns::Base { table, .. } => table.columns[index].nullable,
                ScopeColumns::Derived(columns) => columns[index].nullable,
            }
    }

    fn origin(&self, index: usize) -> Option<ColumnOrigin> {
        match &self.columns {
            ScopeColumns::Base { table, .. } => Some(ColumnOrigin {
                database: table.database.clone(),
                table: table.name.clone(),
                alias: self.alias.clone(),
                column: table.columns[index].name.clone(),
                traits: table.columns[index].traits,
                view: None,
                is_merged: false,
            }),
            ScopeColumns::Derived(columns) => {
                let column = columns.get(index)?;
                let origin = column.origin.clone();
                let origin = origin.unwrap_or_else(|| ColumnOrigin::computed(&column.name));
                Some(ColumnOrigin {
                    alias: self.alias.clone(),
                    ..origin
                })
            }
        }
    }
}

/// A select item.
#[derive(Debug)]
pub(crate) struct Item {
    /// Name of the result column.
    pub(crate) name: String,
    pub(crate) expression: Expression,
    /// Slot of the column, if the item is only a column of this query block.
    pub(crate) column: Option<ColumnSlot>,
    pub(crate) origin: Option<ColumnOrigin>,
    pub(crate) client_type: ClientType,
    /// Coercibility of the item, if not that of table columns.
    pub(crate) claim: Option<Coercibility>,
}

/// (table, column) of a column of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnSlot {
    pub(crate) table: usize,
    pub(crate) column: usize,
}

/// Names of one query block.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) tables: Vec<ScopeTable>,
    /// After a NATURAL or USING join: columns that `*` and unqualified names refer to, in order.
    pub(crate) visible: Option<Vec<ColumnSlot>>,
    /// While an ON clause is bound: the visible tables.
    pub(crate) on_range: Option<Range<usize>>,
    /// While a derived table of its FROM is bound: names inside are not resolved in this scope.
    pub(crate) hidden: bool,
    pub(crate) clause: Clause,
    /// Select list, after it is bound.
    pub(crate) items: Vec<Item>,
    /// Keys of GROUP BY, after they are bound.
    pub(crate) group_keys: Vec<Expression>,
    pub(crate) aggregates: Vec<(ColumnId, AggregateCall)>,
    /// Number of aggregate calls that enclose the expression being bound.
    pub(crate) inside_aggregate: usize,
    /// GROUP BY … WITH ROLLUP: every column may be NULL above it.
    pub(crate) rollup: bool,
    /// Whether all rows are one group: if there are no rows, every column is NULL above it.
    pub(crate) one_group: bool,
    /// GROUPING() calls, each with its keys.
    pub(crate) groupings: Vec<(ColumnId, Vec<Expression>)>,
    /// Windows and their functions.
    pub(crate) windows: Windows,
    pub(crate) select_id: usize,
    /// Views among the tables.
    pub(crate) views: Vec<(usize, ViewParts)>,
    /// Outside of a query: tables that are in the catalog, with their databases.
    pub(crate) lasting: Vec<(usize, String)>,
    /// Index hints of its comment.
    pub(crate) index_hints: Vec<IndexHint>,
    /// Hints of its comment about derived tables.
    pub(crate) merge_hints: Vec<MergeHint>,
}

/// Meaning of a name in a scope.
#[derive(Debug)]
pub(crate) enum Found {
    Column(ColumnSlot),
    Item(usize),
    /// A GROUP BY key that is a column.
    Key {
        index: usize,
        /// Whether the select list has another item of that name.
        hides_item: bool,
    },
}

/// A possibly qualified name, as written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Name<'n> {
    pub(crate) database: Option<&'n str>,
    pub(crate) table: Option<&'n str>,
    pub(crate) column: &'n str,
}

impl<'n> Name<'n> {
    /// An unqualified column name.
    pub(crate) fn unqualified(column: &'n str) -> Self {
        Self {
            database: None,
            table: None,
            column,
        }
    }
}

impl std::fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(database) = self.database {
            write!(f, "{database}.")?;
        }
        if let Some(table) = self.table {
            write!(f, "{table}.")?;
        }
        f.write_str(self.column)
    }
}

impl Scope {
    /// Whether an expression is a DATE or DATETIME column that is declared NOT NULL.
    pub(crate) fn is_never_null_date(&self, expression: &Expression) -> bool {
        let ExpressionKind::Column(id) = expression.kind else {
            return false;
        };
        let is_date = matches!(expression.ty.kind, TypeKind::Date | TypeKind::DateTime);
        is_date
            && self.tables.iter().any(|table| match &table.columns {
                ScopeColumns::Base { table, first } => {
                    let column = id.checked_sub(*first).and_then(|at| table.columns.get(at));
                    column.is_some_and(|column| !column.nullable)
                }
                ScopeColumns::Derived(_) => false,
            })
    }

    pub(crate) fn new(clause: Clause, select_id: usize) -> Self {
        Self {
            tables: Vec::new(),
            visible: None,
            on_range: None,
            hidden: false,
            clause,
            items: Vec::new(),
            group_keys: Vec::new(),
            aggregates: Vec::new(),
            inside_aggregate: 0,
            rollup: false,
            one_group: false,
            groupings: Vec::new(),
            windows: Windows::default(),
            select_id,
            views: Vec::new(),
            lasting: Vec::new(),
            index_hints: Vec::new(),
            merge_hints: Vec::new(),
        }
    }

    /// Adds columns whose numbers are their positions.
    pub(crate) fn add_scalar_columns(&mut self, columns: &[ScalarColumn<'_>]) {
        for (id, column) in columns.iter().enumerate() {
            let (name, ty) = (column.name.to_owned(), column.ty.clone());
            let block_column = BlockColumn::new(id, name, ty, column.nullable);
            if let Some(database) = column.database
                && self
                    .tables
                    .last()
                    .is_none_or(|last| last.alias != column.table)
            {
                self.lasting.push((self.tables.len(), database.to_owned()));
            }
            match self.tables.last_mut() {
                Some(ScopeTable {
                    alias,
                    columns: ScopeColumns::Derived(columns),
                    ..
                }) if alias == column.table => columns.push(block_column),
                _ => {
                    let table = ScopeTable::derived(column.table.to_owned(), vec![block_column]);
                    self.tables.push(table);
                }
            }
        }
    }

    /// Column at a slot.
    pub(crate) fn column(&self, slot: ColumnSlot) -> Expression {
        let table = &self.tables[slot.table];
        let is_of_groups = self.rollup || self.one_group && self.inside_aggregate == 0;
        let nullable = is_of_groups || table.nullable(slot.column);
        Expression::column(
            table.id(slot.column),
            table.ty(slot.column).clone(),
            nullable,
        )
    }

    /// Names a column of an information_schema view as in the view, whatever the case in the statement.
    pub(crate) fn name_item_of_system_view(&mut self) {
        let Some(slot) = self.items.last().and_then(|item| item.column) else {
            return;
        };
        let table = &self.tables[slot.table];
        let database = table.database.as_deref().unwrap_or_default();
        if database.eq_ignore_ascii_case("information_schema") {
            let name = table.name(slot.column).to_owned();
            if let Some(item) = self.items.last_mut() {
                item.name = name;
            }
        }
    }

    /// Value of DEFAULT for the column at a slot, if this scope knows it.
    pub(crate) fn default_of(&self, slot: ColumnSlot) -> Option<&DefaultSource> {
        match &self.tables[slot.table].columns {
            ScopeColumns::Base { table, .. } => Some(&table.columns[slot.column].default),
            ScopeColumns::Derived(_) => None,
        }
    }

    /// Origin of the column at a slot.
    pub(crate) fn origin(&self, slot: ColumnSlot) -> Option<ColumnOrigin> {
        self.tables[slot.table].origin(slot.column)
    }

    /// Slot of a column number, if it is of this scope.
    pub(crate) fn slot_of(&self, id: ColumnId) -> Option<ColumnSlot> {
        for (index, table) in self.tables.iter().enumerate() {
            let column = match &table.columns {
                ScopeColumns::Base { table, first } => {
                    (id >= *first && id - first < table.columns.len()).then(|| id - first)
                }
                ScopeColumns::Derived(columns) => columns.iter().position(|column| column.id == id),
            };
            if let Some(column) = column {
                return Some(ColumnSlot {
                    table: index,
                    column,
                });
            }
        }
        None
    }

    pub(super) fn id(&self, slot: ColumnSlot) -> ColumnId {
        self.tables[slot.table].id(slot.column)
    }

    /// The columns of the tables that a name may refer to. A merged derived table may have one column under several
    /// names.
    pub(super) fn named(&self, name: Name<'_>) -> impl Iterator<Item = ColumnId> {
        self.tables.iter().filter_map(move |table| {
            let column = table.is_meant_by(name).then(|| table.find(name.column))?;
            Some(table.id(column?))
        })
    }

    /// `database.table.column`, as in errors about GROUP BY.
    pub(crate) fn full_name(&self, slot: ColumnSlot) -> String {
        let table = &self.tables[slot.table];
        let column = table.name(slot.column);
        match &table.database {
            Some(database) => format!("{database}.{}.{column}", table.alias),
            None => format!("{}.{column}", table.alias),
        }
    }

    /// `` `database`.`table`.`column` ``, as in errors about values.
    pub(crate) fn quoted_name(&self, slot: ColumnSlot) -> String {
        let table = &self.tables[slot.table];
        let column = table.name(slot.column);
        match &table.database {
            Some(database) => format!("`{database}`.`{}`.`{column}`", table.alias),
            None => format!("`{}`.`{column}`", table.alias),
        }
    }

    /// Columns that `*` stands for.
    pub(crate) fn wildcard(&self) -> Vec<ColumnSlot> {
        let shown = |slot: &ColumnSlot| !self.tables[slot.table].is_invisible(slot.column);
        match &self.visible {
            Some(visible) => visible.iter().copied().filter(shown).collect(),
            None => self.slots(0..self.tables.len()).filter(shown).collect(),
        }
    }

    /// All columns of a range of tables.
    pub(crate) fn slots(&self, tables: Range<usize>) -> impl Iterator<Item = ColumnSlot> + '_ {
        tables.flat_map(|table| {
            (0..self.tables[table].len()).map(move |column| ColumnSlot { table, column })
        })
    }

    /// Columns of `table.*`; `None` if there is no such table.
    pub(crate) fn table_wildcard(
        &self,
        database: Option<&str>,
        table: &str,
    ) -> Option<Vec<ColumnSlot>> {
        let at = self
            .tables
            .iter()
            .position(|candidate| candidate.is_called(database, table))?;
        Some(
            self.slots(at..at + 1)
                .filter(|slot| !self.tables[at].is_invisible(slot.column))
                .collect(),
        )
    }

    /// Column of a temporary table for a column of a table.
    pub(super) fn buffered_at(&self, slot: ColumnSlot) -> Buffered {
        match &self.tables[slot.table].columns {
            ScopeColumns::Derived(columns) => columns[slot.column].buffered,
            ScopeColumns::Base { .. } => Buffered::Unchanged,
        }
    }

    /// Client type of a column of a table: whether a column of a derived table is computed.
    pub(crate) fn client_type_at(&self, slot: ColumnSlot) -> ClientType {
        match &self.tables[slot.table].columns {
            ScopeColumns::Derived(columns) => columns[slot.column].client_type,
            ScopeColumns::Base { .. } => ClientType::Plain,
        }
    }

    /// Whether a column is one of a merged derived table.
    pub(super) fn is_merged(&self, id: ColumnId) -> bool {
        let slot = self.slot_of(id);
        slot.is_some_and(|slot| self.tables[slot.table].merged)
    }

    /// Type of an argument in which a temporary table keeps it. An integer that a derived table has computed is a
    /// column with room for all numbers of its type.
    pub(crate) fn kept_argument(&self, argument: &Expression, ty: SqlType) -> SqlType {
        let slot = argument.as_column().and_then(|id| self.slot_of(id));
        let is_derived = slot.is_some_and(|slot| {
            let table = &self.tables[slot.table];
            !table.merged && matches!(table.columns, ScopeColumns::Derived(_))
        });
        match ty.kind {
            TypeKind::Int | TypeKind::BigInt if is_derived => SqlType {
                unsigned: ty.unsigned,
                ..SqlType::integer(ty.kind)
            },
            _ => ty,
        }
    }

    /// Value of a column of a merged derived table that has one in all rows.
    pub(crate) fn constant(&self, id: ColumnId) -> Option<&Expression> {
        let slot = self.slot_of(id)?;
        let table = &self.tables[slot.table];
        match &table.columns {
            ScopeColumns::Derived(columns) if !table.null_extended => {
                columns[slot.column].constant.as_deref()
            }
            _ => None,
        }
    }

    /// Client type of a column of this query block, which may be an aggregate's.
    pub(crate) fn client_type(&self, id: ColumnId) -> ClientType {
        let called = self.aggregates.iter().find(|(known, _)| *known == id);
        match (called, self.slot_of(id)) {
            (Some((_, call)), _) => {
                super::types::client_type_of_aggregate(call, &|id| self.client_type(id))
            }
            (None, Some(slot)) => self.client_type_at(slot),
            (None, None) => self.windows.client_type(id).unwrap_or_default(),
        }
    }

    /// Whether an aggregate makes groups: ANY_VALUE() makes none by itself.
    pub(crate) fn makes_groups(&self) -> bool {
        let mut aggregates = self.aggregates.iter();
        aggregates.any(|(_, call)| call.function.kind() != Kind::AnyValue)
    }

    /// Whether an expression reads the result of an aggregate of this query block.
    pub(crate) fn reads_aggregate(&self, expression: &Expression) -> bool {
        let mut found = false;
        crate::tree::logical::visit_expression(expression, &mut |inner| {
            if let ExpressionKind::Column(id) = &inner.kind {
                found |= self.aggregates.iter().any(|(known, _)| known == id);
            }
            !found
        });
        found
    }

    /// Whether an expression or a subquery in it reads the result of an aggregate or a window function of this query
    /// block: GROUP BY cannot name it.
    pub(crate) fn is_made_after_grouping(&self, expression: &Expression) -> bool {
        let columns = expression.columns();
        let mut aggregates = self.aggregates.iter();
        aggregates.any(|(id, _)| columns.contains(*id)) || self.reads_window(expression)
    }

    /// Whether an expression reads the result of a window function of this query block.
    pub(crate) fn reads_window(&self, expression: &Expression) -> bool {
        let columns = expression.columns();
        columns.iter().any(|id| self.windows.makes(id))
    }

    /// Looks a name up among the tables.
    pub(crate) fn find_column(&self, name: Name<'_>) -> Result<Option<ColumnSlot>> {
        let range = self.on_range.clone().unwrap_or(0..self.tables.len());
        let found = match (name.table, &self.visible) {
            (None, Some(visible)) => {
                let is_named = |slot: &ColumnSlot| {
                    let column = self.tables[slot.table].name(slot.column);
                    let table = &self.tables[slot.table];
                    range.contains(&slot.table) && !table.unseen && same_name(column, name.column)
                };
                self.only(name, visible.iter().copied().filter(is_named))?
            }
            _ => self.only_of(name, range.clone(), |table| table.find(name.column))?,
        };
        // `_rowid` refers to a key column unless a column has the name.
        if found.is_none() && name.column.eq_ignore_ascii_case("_rowid") {
            return self.only_of(name, range, ScopeTable::row_id);
        }
        Ok(found)
    }

    /// The only column that `find` finds in the tables that the qualifiers of a name refer to.
    fn only_of(
        &self,
        name: Name<'_>,
        tables: Range<usize>,
        find: impl Fn(&ScopeTable) -> Option<usize>,
    ) -> Result<Option<ColumnSlot>> {
        let tables = tables.filter(|table| self.tables[*table].is_meant_by(name));
        let slots = tables.filter_map(|table| {
            let column = find(&self.tables[table])?;
            Some(ColumnSlot { table, column })
        });
        self.only(name, slots)
    }

    /// The only column among those that a name may refer to: error 1052 if there are several.
    pub(crate) fn only(
        &self,
        name: Name<'_>,
        mut columns: impl Iterator<Item = ColumnSlot>,
    ) -> Result<Option<ColumnSlot>> {
        let first = columns.next();
        match columns.next() {
            Some(_) => Err(self.ambiguous(name)),
            None => Ok(first),
        }
    }

    pub(crate) fn ambiguous(&self, name: Name<'_>) -> Error {
        codes::ER_NON_UNIQ_ERROR.with(&[&name, &self.clause.text()])
    }

    /// Looks a name up in the select list: aliases first, then columns behind another alias. The first matching item
    /// that is not a column takes precedence, also over columns.
    pub(crate) fn find_item(&self, name: Name<'_>) -> Result<Option<usize>> {
        let mut by_alias: Option<usize> = None;
        let mut behind_alias: Option<usize> = None;
        let mut behind_alias_twice = false;
        // Looked up once, and not for each item.
        let named: Vec<ColumnId> = self.named(name).collect();
        for (index, item) in self.items.iter().enumerate() {
            let same_as =
                |other: usize| item.column.is_some() && self.items[other].column == item.column;
            if name.table.is_some() {
                let Some(slot) = item.column else { continue };
                if named.contains(&self.id(slot)) {
                    return Ok(Some(index));
                }
                continue;
            }
            if same_name(&item.name, name.column) {
                if item.column.is_none() {
                    return Ok(Some(index));
                }
                match by_alias {
                    None => by_alias = Some(index),
                    Some(other) if same_as(other) => {}
                    Some(_) => return Err(self.ambiguous(name)),
                }
            } else if let Some(slot) = item.column
                && named.contains(&self.id(slot))
            {
                match behind_alias {
                    None => behind_alias = Some(index),
                    Some(other) if same_as(other) => {}
                    Some(_) => behind_alias_twice = true,
                }
            }
        }
        if by_alias.is_none() && behind_alias_twice {
            return Err(self.ambiguous(name));
        }
        // An item with another alias matches only if the name refers to one column.
        if by_alias.is_none() && matches!(self.clause, Clause::GroupBy | Clause::OrderBy) {
            self.find_column(name)?;
        }
        Ok(by_alias.or(behind_alias))
    }

    /// Looks a name up by the rules of the clause that is being bound, or by those of an aggregate's argument.
    pub(crate) fn find(&self, name: Name<'_>, in_aggregate: bool) -> Result<Option<Found>> {
        if self.clause == Clause::Having && !in_aggregate {
            return self.find_in_having(name);
        }
        if let Some(slot) = self.find_column(name)? {
            return Ok(Some(Found::Column(slot)));
        }
        if matches!(
            self.clause,
            Clause::GroupBy | Clause::OrderBy | Clause::Having
        ) && let Some(item) = self.find_item(name)?
        {
            return Ok(Some(Found::Item(item)));
        }
        Ok(None)
    }
}
