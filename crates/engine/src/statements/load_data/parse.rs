//! The lines of a block as columns, for the usual case: every line has its fields and every field is stored without
//! an error or a warning. For any other block [`LineParser::parse`] fails, and the statement processes its lines one
//! by one, with errors and warnings in their order.

use std::sync::Arc;

use arrow_array::builder::BinaryViewBuilder;
use arrow_array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, UInt64Array};
use arrow_buffer::NullBufferBuilder;
use mayfly_types::charset::{Charset, utf8};
use mayfly_types::sql_type::DECIMALS_NOT_FIXED;
use mayfly_types::temporal::DateTime;
use mayfly_types::{Batch, Diagnostics, PhysicalType, SqlType, TypeKind, Value};

use super::value;
use crate::builder::ColumnBuilder;
use crate::catalog::definition::ColumnDefinition;
use crate::delimited::{Format, LineEnd, Parser, Splitter, Step};
use crate::storing::Storing;

/// Parser of blocks.
#[derive(Debug)]
pub(super) struct LineParser<'t> {
    pub(super) format: &'t Format,
    /// The columns that the fields of a line go to; `None` for a variable, which gets the text.
    pub(super) targets: Vec<Option<&'t ColumnDefinition>>,
    pub(super) storing: &'t Storing,
    /// The type of fields as text.
    pub(super) text: SqlType,
    /// Whether the file has no character set: its bytes need not be valid text.
    pub(super) is_binary: bool,
    pub(super) batch_rows: usize,
    /// Whether every block is left to be processed line by line.
    pub(super) line_by_line: bool,
}

/// The fields of a block's whole lines as columns, in batches, and how many bytes the lines have; `None` if a
/// line needs an error or a warning.
pub(super) type ParsedBlock = Option<(Vec<Batch>, usize)>;

impl Parser for LineParser<'_> {
    type Parsed = ParsedBlock;

    fn parse(&self, bytes: &[u8], is_last: bool) -> ParsedBlock {
        if self.line_by_line {
            return None;
        }
        let text = TextRules {
            is_utf8: self.is_binary || std::str::from_utf8(bytes).is_ok(),
        };
        let mut splitter = Splitter::new(self.format, bytes, is_last);
        let columns = self.targets.iter();
        let mut columns: Vec<Column<'_>> = columns.map(|it| Column::new(*it, self)).collect();
        let mut batches = Vec::new();
        let mut rows = 0;
        'lines: loop {
            for (index, column) in columns.iter_mut().enumerate() {
                match splitter.field() {
                    Step::Field(field) if splitter.is_null(&field) => column.push_null()?,
                    Step::Field(field) => column.push(splitter.bytes_of(&field), text)?,
                    Step::NoField if index == 0 => break 'lines,
                    Step::NoField => return None,
                    Step::Incomplete => break 'lines,
                }
            }
            match splitter.next_line() {
                LineEnd::Ended { cut: false } => rows += 1,
                LineEnd::EndOfFile => {
                    rows += 1;
                    break;
                }
                LineEnd::Ended { cut: true } => return None,
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
        Some((batches, splitter.line_begin()))
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

/// Properties of all texts of a block.
#[derive(Debug, Clone, Copy)]
struct TextRules {
    is_utf8: bool,
}

impl TextRules {
    /// Whether bytes are valid text.
    #[inline]
    fn holds(self, bytes: &[u8]) -> bool {
        self.is_utf8 || std::str::from_utf8(bytes).is_ok()
    }
}

/// Values of a column under construction.
enum Values {
    Signed(Vec<i64>, SignedForm),
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
    /// Strings, and the texts of variables.
    Bytes(BinaryViewBuilder, StringRules),
    /// Any other type: value by value, by the conversions of crate `types`.
    Other(ColumnBuilder),
}

/// Forms of a field that is stored as a signed number.
#[derive(Clone, Copy)]
enum SignedForm {
    Integer {
        least: i64,
        greatest: i64,
    },
    Date,
    /// Fractional digits at most.
    DateTime(u8),
}

impl SignedForm {
    #[inline]
    fn parse(self, bytes: &[u8]) -> Option<i64> {
        match self {
            Self::Integer { least, greatest } => {
                value::integer(bytes).filter(|number| (least..=greatest).contains(number))
            }
            Self::Date => value::date(bytes).map(DateTime::pack),
            Self::DateTime(digits) => value::datetime(bytes, digits).map(DateTime::pack),
        }
    }
}

/// Limits within which a column takes strings unchanged.
#[derive(Clone, Copy)]
struct StringRules {
    limit: usize,
    counts_characters: bool,
    /// CHAR: trailing spaces are removed.
    is_char: bool,
    is_ascii_only: bool,
}

impl StringRules {
    /// Any bytes, up to `limit` of them.
    const fn bytes(limit: usize) -> Self {
        Self {
            limit,
            counts_characters: false,
            is_char: false,
            is_ascii_only: false,
        }
    }

    #[inline]
    fn take(self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= self.limit
            || (self.counts_characters && utf8::count_chars(bytes) <= self.limit);
        fits && !(self.is_char && bytes.last() == Some(&b' '))
            && (!self.is_ascii_only || bytes.is_ascii())
    }
}

struct Column<'t> {
    values: Values,
    nulls: NullBufferBuilder,
    definition: Option<&'t ColumnDefinition>,
    parser: &'t LineParser<'t>,
}

impl<'t> Column<'t> {
    fn new(definition: Option<&'t ColumnDefinition>, parser: &'t LineParser<'t>) -> Self {
        let rows = parser.batch_rows;
        let values = match definition {
            None => Values::Bytes(text_builder(), StringRules::bytes(usize::MAX)),
            Some(column) if parser.is_binary && !column.ty.is_binary_string() => {
                Values::Other(ColumnBuilder::new(&column.ty))
            }
            Some(column) => Values::new(&column.ty, rows),
        };
        Self {
            values,
            nulls: NullBufferBuilder::new(rows),
            definition,
            parser,
        }
    }

    fn push_null(&mut self) -> Option<()> {
        let refuses = |column: &ColumnDefinition| !column.nullable && !column.auto_increment;
        if self.definition.is_some_and(refuses) {
            return None;
        }
        match &mut self.values {
            Values::Signed(values, _) => values.push(0),
            Values::Unsigned { values, .. } => values.push(0),
            Values::Double(values) => values.push(0.0),
            Values::Decimal { values, .. } => values.push(0),
            Values::Bytes(values, _) => values.append_null(),
            Values::Other(builder) => builder.push(&Value::Null),
        }
        self.nulls.append_null();
        Some(())
    }

    #[inline]
    fn push(&mut self, bytes: &[u8], text: TextRules) -> Option<()> {
        if !self.values.push_usual(bytes, text) {
            self.push_converted(bytes, text)?;
        }
        self.nulls.append_non_null();
        Some(())
    }

    /// Converts a field that is not written as MySQL itself would write it.
    #[cold]
    fn push_converted(&mut self, bytes: &[u8], text: TextRules) -> Option<()> {
        let column = self.definition.filter(|_| text.holds(bytes))?;
        let quiet = Diagnostics::new(0);
        let given = Value::Bytes(bytes.to_vec());
        let LineParser {
            storing, text: ty, ..
        } = self.parser;
        let stored = storing.value(&given, ty, column, 1, &quiet).ok()?;
        (quiet.count() == 0 && self.values.push_value(&stored)).then_some(())
    }

    fn finish(&mut self) -> ArrayRef {
        let nulls = self.nulls.finish();
        let rows = self.parser.batch_rows;
        fn take<T>(values: &mut Vec<T>, rows: usize) -> Vec<T> {
            std::mem::replace(values, Vec::with_capacity(rows))
        }
        match &mut self.values {
            Values::Signed(values, _) => {
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
            Values::Bytes(values, _) => Arc::new(values.finish()),
            Values::Other(builder) => builder.finish(),
        }
    }
}

/// A builder with large blocks: one buffer holds many rows' values.
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
            TypeKind::Date => return Self::Signed(Vec::with_capacity(rows), SignedForm::Date),
            TypeKind::DateTime => {
                let form = SignedForm::DateTime(ty.decimals);
                return Self::Signed(Vec::with_capacity(rows), form);
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
            let least = -greatest - 1;
            let form = SignedForm::Integer { least, greatest };
            Self::Signed(Vec::with_capacity(rows), form)
        }
    }

    fn string(ty: &SqlType) -> Self {
        let limit = ty.length as usize;
        let charset = ty.collation.charset();
        let is_char = ty.kind == TypeKind::Char;
        let rules = match charset {
            // BINARY is padded with zero bytes.
            Charset::Binary if is_char => return Self::Other(ColumnBuilder::new(ty)),
            Charset::Binary => StringRules::bytes(limit),
            _ => StringRules {
                limit,
                counts_characters: is_char || ty.kind == TypeKind::VarChar,
                is_char,
                is_ascii_only: charset != Charset::Utf8mb4,
            },
        };
        Self::Bytes(text_builder(), rules)
    }

    /// Appends a field that is written as MySQL would write it.
    #[inline]
    fn push_usual(&mut self, bytes: &[u8], text: TextRules) -> bool {
        fn push<T>(values: &mut Vec<T>, value: Option<T>) -> bool {
            match value {
                Some(value) => values.push(value),
                None => return false,
            }
            true
        }
        match self {
            Self::Signed(values, form) => push(values, form.parse(bytes)),
            Self::Unsigned { values, greatest } => {
                let number = value::integer(bytes);
                push(values, number.filter(|number| *number <= *greatest))
            }
            Self::Double(values) => push(values, value::double(bytes)),
            Self::Decimal {
                values,
                precision,
                scale,
            } => push(values, value::decimal(bytes, *precision, *scale)),
            Self::Bytes(values, rules) => {
                let is_usual = rules.take(bytes) && text.holds(bytes);
                if is_usual {
                    values.append_value(bytes);
                }
                is_usual
            }
            Self::Other(_) => false,
        }
    }

    /// Appends a value of the column's type.
    fn push_value(&mut self, value: &Value) -> bool {
        match (self, value) {
            (Self::Signed(values, _), Value::Int(number)) => values.push(*number),
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
            (Self::Bytes(values, _), Value::Bytes(bytes)) => values.append_value(bytes),
            (Self::Other(builder), value) => builder.push(value),
            _ => return false,
        }
        true
    }
}
