//! Jobs: what a secondary engine is asked to compute.
//!
//! A job is a list of fragments of a plan. A fragment runs once on each partition, or once; each run reads its inputs (a
//! part of a table's copy, or rows of earlier fragments that an exchange has brought to it) and gives rows. The rows of
//! the last fragment, of all runs together, are those of the job. See Graefe, Encapsulation of Parallelism in the Volcano
//! Query Processing System, 1990, for exchanges.

use mayfly_plan::logical::visit_expression;
use mayfly_plan::physical::{Operator, OperatorNumber, Plan, QueryPlan};
use mayfly_plan::{ColumnSource, ExpressionKind, TableId, TableSource, with_stack};
use mayfly_types::{PhysicalType, Refusal, Result, SessionParameters, SqlType, Value};

use crate::encoding::bytes::malformed;
use crate::exchange::ENVELOPE;

/// Fragments with the settings of the statement.
#[derive(Debug, Clone)]
pub struct Job {
    /// Fragments; each reads only earlier ones. The last one gives the rows.
    pub fragments: Vec<Fragment>,
    /// Settings of all fragments.
    pub settings: JobSettings,
}

/// Settings of a statement, as its expressions read them.
#[derive(Debug, Clone)]
pub struct JobSettings {
    /// Settings of the session.
    pub session: SessionParameters,
    /// The instant at which the statement began: microseconds since 1970 UTC.
    pub now_utc_microseconds: i64,
    /// Values of the statement's parameters.
    pub parameters: Vec<Value>,
    /// Number of operators of the statement, whose numbers are smaller.
    pub operator_count: usize,
    /// Number of parameters that plans may read.
    pub parameter_count: usize,
    /// `max_error_count`: number of warnings that each run keeps.
    pub conditions_max: usize,
    /// `sql_notes`: whether notes are warnings.
    pub notes: bool,
    /// Which warnings are errors of the statement: it stores the rows.
    pub refusal: Refusal,
}

/// Plan of a part of the work.
#[derive(Debug, Clone)]
pub struct Fragment {
    /// Inputs.
    pub inputs: Vec<Input>,
    /// Numbers of the tables by which scans of the plan name the inputs.
    pub numbers: Vec<usize>,
    /// Plan of one run.
    pub plan: Plan,
    /// Whether it runs once, and not on each partition.
    pub once: bool,
}

/// Input of a fragment.
#[derive(Debug, Clone)]
pub enum Input {
    /// Rows of a table's copy: each run reads a part of them, and all runs together all rows once.
    Table(TableInput),
    /// Rows of an earlier fragment.
    Rows {
        /// Number of the fragment.
        fragment: usize,
        /// Distribution of its rows over the runs of this fragment.
        exchange: Exchange,
    },
}

/// Copy of a table with the columns that a fragment reads.
#[derive(Debug, Clone, PartialEq)]
pub struct TableInput {
    /// The copy.
    pub copy: TableCopy,
    /// Columns, by index in the copy.
    pub columns: Vec<usize>,
}

/// Copy of a table's rows as the secondary engine holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct TableCopy {
    /// Database and name of the table, for messages.
    pub table: String,
    /// The parts that hold its rows.
    pub parts: Vec<CopyPart>,
    /// The call that gives its rows, of a table that no part holds: each run reads its share by itself.
    pub call: Option<TableCall>,
    /// Types of its columns. TIMESTAMPs are in UTC.
    pub types: Vec<SqlType>,
}

/// Call of a table function over files, for processes that see the same files.
#[derive(Debug, Clone, PartialEq)]
pub struct TableCall {
    /// Name of the function.
    pub function: String,
    /// Paths or URLs of the files, in order.
    pub files: Vec<String>,
    /// The other arguments.
    pub options: Vec<CallOption>,
    /// Lengths and changes of the files, as the function tells: a process that finds others must not read them.
    pub version: String,
    /// Number of rows.
    pub rows: u64,
}

/// Argument of a call that has a name.
#[derive(Debug, Clone, PartialEq)]
pub struct CallOption {
    /// Name.
    pub name: String,
    /// Value.
    pub value: Value,
    /// Type of the value.
    pub ty: SqlType,
}

/// Share of a run in the pieces of a table: each `of`-th piece, from number `index` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Number of the first piece.
    pub index: usize,
    /// Number of shares.
    pub of: usize,
}

impl Share {
    /// Whether a piece belongs to the share.
    pub fn has(self, piece: usize) -> bool {
        piece % self.of.max(1) == self.index
    }
}

/// Part of a table's copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyPart {
    /// The engine's name of its place.
    pub location: String,
    /// Number of rows.
    pub rows: u64,
}

/// Distribution of the rows of a fragment over the runs of another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exchange {
    /// Rows with equal values in these columns come to the same run; without columns, all rows come to the run of
    /// partition 0.
    Hash(Vec<usize>),
    /// All rows come to each run.
    Broadcast,
    /// All rows come to the single run.
    Gather,
}

impl Job {
    /// Checks that fragments read earlier ones alone, and by columns that these have.
    pub(crate) fn check(&self) -> Result<()> {
        for (number, fragment) in self.fragments.iter().enumerate() {
            for input in &fragment.inputs {
                match input {
                    Input::Table(table) => {
                        let columns = table.copy.types.len();
                        if table.columns.iter().any(|column| *column >= columns) {
                            return Err(malformed());
                        }
                    }
                    Input::Rows {
                        fragment: from,
                        exchange,
                    } => {
                        let source = self.fragments[..number].get(*from).ok_or_else(malformed)?;
                        let columns = source.plan.output.len();
                        let is_unknown = |column: &usize| *column >= columns;
                        match exchange {
                            Exchange::Hash(keys) if keys.iter().any(is_unknown) => {
                                return Err(malformed());
                            }
                            Exchange::Gather if !fragment.once => return Err(malformed()),
                            _ => {}
                        }
                    }
                }
            }
        }
        match self.fragments.last() {
            Some(_) => Ok(()),
            None => Err(malformed()),
        }
    }

    /// The fragment that reads the rows of a fragment, the position of the input, and the exchange. A fragment has one
    /// reader; the server is that of the last one, for which there is none.
    fn reader(&self, fragment: usize) -> Option<(&Fragment, usize, &Exchange)> {
        self.fragments.iter().find_map(|reader| {
            let mut inputs = reader.inputs.iter().enumerate();
            inputs.find_map(|(position, input)| match input {
                Input::Rows {
                    fragment: from,
                    exchange,
                } if *from == fragment => Some((reader, position, exchange)),
                _ => None,
            })
        })
    }

    /// The exchange that brings a fragment's rows to their reader.
    pub fn exchange_of(&self, fragment: usize) -> &Exchange {
        let reader = self.reader(fragment);
        reader.map_or(&Exchange::Gather, |(_, _, exchange)| exchange)
    }

    /// The operator of the plan that reads the rows of a fragment. `None` where the server reads them.
    pub fn operator_of(&self, fragment: usize) -> Option<OperatorNumber> {
        let (reader, position, _) = self.reader(fragment)?;
        let number = *reader.numbers.get(position)?;
        scan_number(&reader.plan, number as u64)
    }

    /// Words of the exchange that brings a fragment's rows to their reader.
    pub fn exchange_text(&self, fragment: usize, partitions: usize) -> String {
        match self.reader(fragment) {
            None => "rows to the server".to_owned(),
            Some((_, _, Exchange::Hash(keys))) if keys.is_empty() => {
                "all rows to one partition".to_owned()
            }
            Some((_, _, Exchange::Hash(_))) => {
                format!("rows by the hash of their keys to {partitions} partitions")
            }
            Some((_, _, Exchange::Broadcast)) => "all rows to each partition".to_owned(),
            Some((_, _, Exchange::Gather)) => "all rows to one run".to_owned(),
        }
    }

    /// Types of the columns of a fragment's rows, those of the plan alone.
    pub fn output(&self, fragment: usize) -> &[SqlType] {
        &self.fragments[fragment].plan.output
    }

    /// Arrays of the rows that a fragment sends: those of the plan's columns, then those of the exchange.
    pub fn sent(&self, fragment: usize) -> Vec<PhysicalType> {
        let columns = self.output(fragment).iter().map(carried);
        columns.chain(ENVELOPE).collect()
    }

    /// Number of runs of a fragment.
    pub fn runs(&self, fragment: usize, partitions: usize) -> usize {
        if self.fragments[fragment].once {
            1
        } else {
            partitions
        }
    }

    /// Number of runs that receive the rows of a fragment.
    pub fn receivers(&self, fragment: usize, partitions: usize) -> usize {
        match self.reader(fragment) {
            Some((reader, ..)) if !reader.once => partitions,
            _ => 1,
        }
    }
}

/// The operator that scans a table of a plan, its subqueries included.
fn scan_number(plan: &Plan, id: u64) -> Option<OperatorNumber> {
    if let Operator::TableScan { table, .. } = &plan.operator {
        return (table.id.0 == id).then_some(plan.number);
    }
    let mut found = None;
    with_stack(|| {
        plan.for_each_input(&mut |input| found = found.or_else(|| scan_number(input, id)));
        plan.for_each_expression(&mut |expression| {
            visit_expression(expression, &mut |inner| {
                if let ExpressionKind::Subquery(subquery) = &inner.kind {
                    found = found.or_else(|| scan_number(&subquery.plan, id));
                }
                true
            });
        });
    });
    found
}

impl TableCopy {
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        let of_parts = || self.parts.iter().map(|part| part.rows).sum();
        self.call.as_ref().map_or_else(of_parts, |call| call.rows)
    }
}

impl Fragment {
    /// Plan of one run as a statement of its own.
    pub(crate) fn query(&self, settings: &JobSettings) -> QueryPlan {
        QueryPlan {
            root: self.plan.clone(),
            columns: Vec::new(),
            shared: Vec::new(),
            operator_count: settings.operator_count,
            parameter_count: settings.parameter_count,
            date_operands: Vec::new(),
            tables: Vec::new(),
            limit: None,
        }
    }
}

impl TableInput {
    /// Types of the columns read.
    pub fn types(&self) -> Vec<SqlType> {
        let types = self.columns.iter();
        types
            .map(|column| self.copy.types[*column].clone())
            .collect()
    }
}

/// Array between operators for a column: predicates are integers.
pub fn carried(ty: &SqlType) -> PhysicalType {
    match ty.physical() {
        PhysicalType::Bool => PhysicalType::Int64,
        physical => physical,
    }
}

/// An input as a table of a fragment's plan.
pub(crate) fn input_source(input: usize, types: &[SqlType], rows: f64) -> TableSource {
    let columns = types.iter().enumerate();
    let columns = columns.map(|(n, ty)| ColumnSource::new(&format!("#{n}"), ty.clone(), true));
    let name = format!("#{input}");
    // A saturating cast: an estimate.
    let rows = rows as u64;
    TableSource::new(TableId(input as u64), "", &name, columns.collect(), rows)
}
