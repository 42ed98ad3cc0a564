//! The lines of a block as columns, for the usual case: every line has its fields and every field is
//! stored without a word. Anything else makes [`LineParser::parse`] give up the block, and the
//! statement goes through its lines one by one, with errors and warnings in their order.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, UInt64Array};
use arrow_buffer::NullBufferBuilder;
use mayfly_types::charset::{Charset, utf8};
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::{Batch, Diagnostics, PhysicalType, SqlType, TypeKind, Value};

use super::value;
use crate::builder::ColumnBuilder;
use crate::catalog::definition::ColumnDefinition;
use crate::delimited::{Format, LineEnd, Parser, Splitter, Step};
use crate::storing::Storing;

/// Where the fields of a line go.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target<'t> {
    /// To a column of the table.
    Column(&'t ColumnDefinition),
    /// To a variable: its text is kept.
    Variable,
}

/// Parses blocks.
#[derive(Debug)]
pub(super) struct LineParser<'t> {
    pub(super) format: &'t Format,
    pub(super) targets: Vec<Target<'t>>,
    pub(super) storing: &'t Storing,
    /// The type of fields as text.
    pub(super) text: SqlType,
    /// The file has no character set: its bytes need not be text.
    pub(super) is_binary: bool,
    pub(super) batch_rows: usize,
    /// Leave every block to be gone through line by line.
    pub(super) line_by_line: bool,
}

/// The whole lines of a block.
#[derive(Debug)]
pub(super) enum ParsedBlock {
    /// Their fields as columns.
    Columns {
        /// Batches of them.
        batches: Vec<Batch>,
        /// How many bytes belong to whole lines.
        end: usize,
    },
    /// Something is to be said about one of them.
    Unusual,
}

/// There is something to be said about a field.
struct Remarkable;

impl Parser for LineParser<'_> {
    type Parsed = ParsedBlock;

    fn parse(&self, bytes: &[u8], is_last: bool) -> ParsedBlock {
        if self.line_by_line {
            return ParsedBlock::Unusual;
        }
        match self.columns_of(bytes, is_last) {
            Ok((batches, end)) => ParsedBlock::Columns { batches, end },
            Err(Remarkable) => ParsedBlock::Unusual,
        }
    }
}

impl LineParser<'_> {
    fn columns_of(&self, bytes: &[u8], is_last: bool) -> Result<(Vec<Batch>, usize), Remarkable> {
        let text = TextRules {
            is_utf8: self.is_binary || std::str::from_utf8(bytes).is_ok(),
        };
        let mut splitter = Splitter::new(self.format, bytes, is_last);
        let mut columns: Vec<Column<'_>> = self
            .targets
            .iter()
            .map(|target| Column::new(*target, self))
            .collect();
        let mut batches = Vec::new();
        let mut rows = 0;
        'lines: loop {
            for (index, column) in columns.iter_mut().enumerate() {
                match splitter.field() {
                    Step::Field(field) if splitter.is_null(&field) => column.push_null()?,
                    Step::Field(field) => column.push(splitter.bytes_of(&field), text)?,
                    Step::NoField if index == 0 => break 'lines,
                    Step::NoField => return Err(Remarkable),
                    Step::Incomplete => break 'lines,
                }
            }
            match splitter.next_line() {
                LineEnd::Ended { cut: false } => rows += 1,
                LineEnd::EndOfFile => {
                    rows += 1;
                    break;
                }
                LineEnd::Ended { cut: true } => return Err(Remarkable),
                LineEnd::Incomplete => break,
            }
            if rows == self.batch_rows {
                batches.push(finish(&mut columns, rows));
                rows = 0;
            }
        }
        if rows > 0 {
            batches.push(finish(&mut columns, rows));
        }
        Ok((batches, splitter.line_begin()))
    }
}

/// The first rows of the columns; an incomplete line may have left fields behind them.
fn finish(columns: &mut [Column<'_>], rows: usize) -> Batch {
    let columns = columns.iter_mut().map(|column| {
        let array = column.finish();
        if array.len() == rows {
            array
        } else {
            array.slice(0, rows)
        }
    });
    Batch::new(columns.collect(), rows)
}

/// What is known of all texts of a block.
#[derive(Debug, Clone, Copy)]
struct TextRules {
    is_utf8: bool,
}

impl TextRules {
    /// Whether some bytes are text.
    #[inline]
    fn holds(self, bytes: &[u8]) -> bool {
        self.is_utf8 || std::str::from_utf8(bytes).is_ok()
    }
}

/// The values of a column in the making.
enum Values {
    Signed {
        values: Vec<i64>,
        least: i64,
        greatest: i64,
    },
    Unsigned {
        values: Vec<u64>,
        greatest: u64,
    },
    Double(Vec<f64>),
    Decimal {
        values: Vec<i128>,
        precision: u8,
        scale: u8,
    },
    Date(Vec<i64>),
    DateTime {
        values: Vec<i64>,
        digits: u8,
    },
    Text {
        values: BinaryViewBuilder,
        limit: usize,
        counts_characters: bool,
        /// CHAR loses its spaces at the end.
        is_char: bool,
        is_ascii_only: bool,
    },
    Bytes {
        values: BinaryViewBuilder,
        limit: usize,
    },
    Variable(BinaryViewBuilder),
    /// Any other type: value by value, by the conversions of crate `types`.
    Other(ColumnBuilder),
}

struct Column<'t> {
    values: Values,
    nulls: NullBufferBuilder,
    definition: Option<&'t ColumnDefinition>,
    parser: &'t LineParser<'t>,
}

impl<'t> Column<'t> {
    fn new(target: Target<'t>, parser: &'t LineParser<'t>) -> Self {
        let rows = parser.batch_rows;
        let (values, definition) = match target {
            Target::Variable => (Values::Variable(text_builder()), None),
            Target::Column(column) if parser.is_binary && !column.ty.is_binary_string() => {
                (Values::Other(ColumnBuilder::new(&column.ty)), Some(column))
            }
            Target::Column(column) => (Values::new(&column.ty, rows), Some(column)),
        };
        Self {
            values,
            nulls: NullBufferBuilder::new(rows),
            definition,
            parser,
        }
    }

    fn push_null(&mut self) -> Result<(), Remarkable> {
        if self
            .definition
            .is_some_and(|column| !column.nullable && !column.auto_increment)
        {
            return Err(Remarkable);
        }
        match &mut self.values {
            Values::Signed { values, .. } | Values::Date(values) => values.push(0),
            Values::DateTime { values, .. } => values.push(0),
            Values::Unsigned { values, .. } => values.push(0),
            Values::Double(values) => values.push(0.0),
            Values::Decimal { values, .. } => values.push(0),
            Values::Text { values, .. } | Values::Bytes { values, .. } => values.append_null(),
            Values::Variable(values) => values.append_null(),
            Values::Other(builder) => builder.push(&Value::Null),
        }
        self.nulls.append_null();
        Ok(())
    }

    #[inline]
    fn push(&mut self, bytes: &[u8], text: TextRules) -> Result<(), Remarkable> {
        if self.values.push_usual(bytes, text) {
            self.nulls.append_non_null();
            return Ok(());
        }
        self.push_converted(bytes, text)
    }

    /// A field that is not as MySQL itself would write it.
    #[cold]
    fn push_converted(&mut self, bytes: &[u8], text: TextRules) -> Result<(), Remarkable> {
        let Some(column) = self.definition else {
            return Err(Remarkable);
        };
        if !text.holds(bytes) {
            return Err(Remarkable);
        }
        let quiet = Diagnostics::new(0);
        let given = Value::Bytes(bytes.to_vec());
        let parser = self.parser;
        let stored = parser
            .storing
            .value(&given, &parser.text, column, 1, &quiet)
            .map_err(|_| Remarkable)?;
        if quiet.count() > 0 || !self.values.push_value(&stored) {
            return Err(Remarkable);
        }
        self.nulls.append_non_null();
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        let nulls = self.nulls.finish();
        let rows = self.parser.batch_rows;
        fn take<T>(values: &mut Vec<T>, rows: usize) -> Vec<T> {
            std::mem::replace(values, Vec::with_capacity(rows))
        }
        match &mut self.values {
            Values::Signed { values, .. }
            | Values::Date(values)
            | Values::DateTime { values, .. } => {
                Arc::new(Int64Array::new(take(values, rows).into(), nulls))
            }
            Values::Unsigned { values, .. } => {
                Arc::new(UInt64Array::new(take(values, rows).into(), nulls))
            }
            Values::Double(values) => Arc::new(Float64Array::new(take(values, rows).into(), nulls)),
            Values::Decimal { values, scale, .. } => {
                let array = Decimal128Array::new(take(values, rows).into(), nulls);
                Arc::new(array.with_data_type(PhysicalType::Decimal128(*scale).arrow()))
            }
            Values::Text { values, .. } | Values::Bytes { values, .. } => Arc::new(values.finish()),
            Values::Variable(values) => Arc::new(values.finish()),
            Values::Other(builder) => builder.finish(),
        }
    }
}

/// Large blocks: one buffer holds many rows' values.
fn text_builder() -> BinaryViewBuilder {
    BinaryViewBuilder::new().with_fixed_block_size(256 << 10)
}

impl Values {
    fn new(ty: &SqlType, rows: usize) -> Self {
        let bits = match ty.kind {
            TypeKind::TinyInt => 8,
            TypeKind::SmallInt => 16,
            TypeKind::MediumInt => 24,
            TypeKind::Int => 32,
            TypeKind::BigInt => 64,
            TypeKind::Double if ty.decimals >= DECIMALS_NOT_FIXED && !ty.unsigned => {
                return Self::Double(Vec::with_capacity(rows));
            }
            TypeKind::Decimal if !ty.unsigned => {
                return match ty.physical() {
                    PhysicalType::Decimal128(scale) => Self::Decimal {
                        values: Vec::with_capacity(rows),
                        precision: u8::try_from(ty.length).unwrap_or(u8::MAX),
                        scale,
                    },
                    _ => Self::Other(ColumnBuilder::new(ty)),
                };
            }
            TypeKind::Date => return Self::Date(Vec::with_capacity(rows)),
            TypeKind::DateTime => {
                return Self::DateTime {
                    values: Vec::with_capacity(rows),
                    digits: ty.decimals,
                };
            }
            _ if ty.is_string() => return Self::string(ty),
            _ => return Self::Other(ColumnBuilder::new(ty)),
        };
        if ty.unsigned {
            Self::Unsigned {
                values: Vec::with_capacity(rows),
                greatest: u64::MAX >> (64 - bits),
            }
        } else {
            let greatest = i64::MAX >> (64 - bits);
            Self::Signed {
                values: Vec::with_capacity(rows),
                least: -greatest - 1,
                greatest,
            }
        }
    }

    fn string(ty: &SqlType) -> Self {
        let limit = ty.length as usize;
        let charset = ty.collation.charset();
        let is_char = ty.kind == TypeKind::Char;
        match charset {
            // BINARY is filled up with zero bytes.
            Charset::Binary if is_char => Self::Other(ColumnBuilder::new(ty)),
            Charset::Binary => Self::Bytes {
                values: text_builder(),
                limit,
            },
            _ => Self::Text {
                values: text_builder(),
                limit,
                counts_characters: is_char || ty.kind == TypeKind::VarChar,
                is_char,
                is_ascii_only: charset != Charset::Utf8mb4,
            },
        }
    }

    /// Appends a field that is written as MySQL would write it.
    #[inline]
    fn push_usual(&mut self, bytes: &[u8], text: TextRules) -> bool {
        match self {
            Self::Signed {
                values,
                least,
                greatest,
            } => match value::signed(bytes) {
                Some(number) if (*least..=*greatest).contains(&number) => values.push(number),
                _ => return false,
            },
            Self::Unsigned { values, greatest } => match value::unsigned(bytes) {
                Some(number) if number <= *greatest => values.push(number),
                _ => return false,
            },
            Self::Double(values) => match value::double(bytes) {
                Some(number) => values.push(number),
                None => return false,
            },
            Self::Decimal {
                values,
                precision,
                scale,
            } => match value::decimal(bytes, *precision, *scale) {
                Some(number) => values.push(number),
                None => return false,
            },
            Self::Date(values) => match value::date(bytes) {
                Some(date) => values.push(date.pack()),
                None => return false,
            },
            Self::DateTime { values, digits } => match value::datetime(bytes, *digits) {
                Some(datetime) => values.push(datetime.pack()),
                None => return false,
            },
            Self::Text {
                values,
                limit,
                counts_characters,
                is_char,
                is_ascii_only,
            } => {
                let fits = bytes.len() <= *limit
                    || (*counts_characters && utf8::count_chars(bytes) <= *limit);
                if !fits
                    || (*is_char && bytes.last() == Some(&b' '))
                    || (*is_ascii_only && !bytes.is_ascii())
                    || !text.holds(bytes)
                {
                    return false;
                }
                values.append_value(bytes);
            }
            Self::Bytes { values, limit } => {
                if bytes.len() > *limit || !text.holds(bytes) {
                    return false;
                }
                values.append_value(bytes);
            }
            Self::Variable(values) => {
                if !text.holds(bytes) {
                    return false;
                }
                values.append_value(bytes);
            }
            Self::Other(_) => return false,
        }
        true
    }

    /// Appends a value of the column's type.
    fn push_value(&mut self, value: &Value) -> bool {
        match (self, value) {
            (
                Self::Signed { values, .. } | Self::Date(values) | Self::DateTime { values, .. },
                Value::Int(number),
            ) => values.push(*number),
            (Self::Unsigned { values, .. }, Value::UInt(number)) => values.push(*number),
            (Self::Double(values), Value::Float(number)) => values.push(*number),
            (
                Self::Decimal { values, scale, .. },
                Value::Decimal {
                    unscaled,
                    scale: of,
                },
            ) if of == scale => match unscaled.to_i128() {
                Some(number) => values.push(number),
                None => return false,
            },
            (Self::Text { values, .. } | Self::Bytes { values, .. }, Value::Bytes(bytes)) => {
                values.append_value(bytes);
            }
            (Self::Other(builder), value) => builder.push(value),
            _ => return false,
        }
        true
    }
}
