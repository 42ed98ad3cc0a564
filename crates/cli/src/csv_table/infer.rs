//! The shape of a CSV file: delimiter, header, and a type for each column that holds every value.

use std::fs::File;
use std::io::Read;

use mayfly_engine::WorkerPool;
use mayfly_engine::delimited::{
    self, Block, Blocks, Format, LineEnd, Parser, Splitter, Step, Taker,
};

use crate::statements::BYTE_ORDER_MARK;

/// Text columns up to this many characters become VARCHAR(255), longer ones LONGTEXT.
const VARCHAR_CHARACTERS: usize = 255;
/// What MySQL's DECIMAL can hold.
const DECIMAL_DIGITS_MAX: usize = 65;
const DECIMAL_SCALE_MAX: usize = 30;
/// The head of the file from which delimiter and line ends are guessed.
const HEAD_BYTES: usize = 1 << 16;

/// What a file looks like.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) columns: Vec<Column>,
    pub(super) delimiter: u8,
    pub(super) has_header: bool,
    pub(super) carriage_returns: bool,
    pub(super) has_byte_order_mark: bool,
}

/// A column of the file.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) ty: ColumnType,
    /// Whether a field is empty: NULL, unless the column is text.
    pub(super) has_empty: bool,
}

/// The narrowest type that holds every value seen so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    /// No value yet but empty ones.
    Unknown,
    /// Least and greatest value.
    Integer(i128, i128),
    /// Digits before and behind the point.
    Decimal(usize, usize),
    Double,
    Date,
    /// Digits of the fraction of a second.
    DateTime(usize),
    /// The same.
    Time(usize),
    /// The most characters of a value.
    Text(usize),
}

impl ColumnType {
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::Unknown)
    }

    /// The type in SQL.
    pub(super) fn sql(self) -> String {
        match self {
            Self::Integer(min, max) if min >= i32::MIN.into() && max <= i32::MAX.into() => {
                "INT".to_owned()
            }
            Self::Integer(_, max) if max > i64::MAX.into() => "BIGINT UNSIGNED".to_owned(),
            Self::Integer(..) => "BIGINT".to_owned(),
            Self::Decimal(digits, scale) => {
                format!("DECIMAL({}, {scale})", (digits + scale).max(1))
            }
            Self::Double => "DOUBLE".to_owned(),
            Self::Date => "DATE".to_owned(),
            Self::DateTime(0) => "DATETIME".to_owned(),
            Self::DateTime(digits) => format!("DATETIME({digits})"),
            Self::Time(0) => "TIME".to_owned(),
            Self::Time(digits) => format!("TIME({digits})"),
            Self::Text(characters) if characters > VARCHAR_CHARACTERS => "LONGTEXT".to_owned(),
            Self::Text(_) | Self::Unknown => format!("VARCHAR({VARCHAR_CHARACTERS})"),
        }
    }

    /// The narrowest type of one value that is not empty.
    fn of(text: &str) -> Self {
        number(text)
            .or_else(|| temporal(text.as_bytes()))
            .unwrap_or_else(|| Self::Text(text.chars().count()))
    }

    /// The narrowest type that holds what both hold. Text keeps its length only roughly: a column
    /// that turns into text was shorter than any limit that matters.
    fn join(self, other: Self) -> Self {
        use ColumnType::{Date, DateTime, Decimal, Double, Integer, Text, Time, Unknown};
        match (self, other) {
            (Unknown, any) | (any, Unknown) => any,
            (Text(a), Text(b)) => Text(a.max(b)),
            (Text(characters), _) | (_, Text(characters)) => Text(characters),
            (Integer(a, b), Integer(c, d)) => integers(a.min(c), b.max(d)),
            (Decimal(a, b), Decimal(c, d)) => decimals(a.max(c), b.max(d)),
            (Decimal(digits, scale), Integer(min, max))
            | (Integer(min, max), Decimal(digits, scale)) => {
                decimals(digits.max(digits_of(min, max)), scale)
            }
            (Double, Double | Integer(..) | Decimal(..)) | (Integer(..) | Decimal(..), Double) => {
                Double
            }
            (Date, Date) => Date,
            (Date, DateTime(fraction)) | (DateTime(fraction), Date) => DateTime(fraction),
            (DateTime(a), DateTime(b)) => DateTime(a.max(b)),
            (Time(a), Time(b)) => Time(a.max(b)),
            _ => Text(0),
        }
    }
}

fn digits_of(min: i128, max: i128) -> usize {
    let digits = |n: i128| {
        n.unsigned_abs()
            .checked_ilog10()
            .map_or(1, |log| log as usize + 1)
    };
    digits(min).max(digits(max))
}

fn integers(min: i128, max: i128) -> ColumnType {
    let signed = min >= i64::MIN.into() && max <= i64::MAX.into();
    if signed || (min >= 0 && max <= u64::MAX.into()) {
        ColumnType::Integer(min, max)
    } else {
        decimals(digits_of(min, max), 0)
    }
}

fn decimals(digits: usize, scale: usize) -> ColumnType {
    if scale > DECIMAL_SCALE_MAX || digits + scale > DECIMAL_DIGITS_MAX {
        ColumnType::Double
    } else {
        ColumnType::Decimal(digits, scale)
    }
}

/// `007` and `+1` stay text: as numbers they would not come back as they were.
fn number(text: &str) -> Option<ColumnType> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |s: &str| s.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = integer.len() > 1 && integer.starts_with('0');
    if integer.is_empty() || leading_zero || !all_digits(integer) || !all_digits(fraction) {
        return None;
    }
    if let Some(exponent) = exponent {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let sound = !digits.is_empty() && all_digits(digits);
        let finite = || text.parse::<f64>().is_ok_and(f64::is_finite);
        return (sound && finite()).then_some(ColumnType::Double);
    }
    if mantissa.contains('.') {
        return Some(decimals(integer.len(), fraction.len()));
    }
    match text.parse::<i128>() {
        Ok(value) => Some(integers(value, value)),
        Err(_) => Some(decimals(integer.len(), 0)),
    }
}

/// `2024-02-29`, `2024-02-29 23:59:59.5` (or with `T`), `23:59:59`.
fn temporal(bytes: &[u8]) -> Option<ColumnType> {
    if let Some(fraction) = time(bytes) {
        return Some(ColumnType::Time(fraction));
    }
    let (day, rest) = bytes.split_at_checked(10)?;
    let [y1, y2, y3, y4, b'-', m1, m2, b'-', d1, d2] = day else {
        return None;
    };
    let year = pair(*y1, *y2)? * 100 + pair(*y3, *y4)?;
    let month = pair(*m1, *m2)?;
    let day_of_month = pair(*d1, *d2)?;
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if year == 0 || !(1..=days).contains(&day_of_month) {
        return None;
    }
    match rest {
        [] => Some(ColumnType::Date),
        [b' ' | b'T', clock @ ..] => time(clock).map(ColumnType::DateTime),
        _ => None,
    }
}

/// The fractional digits of `hh:mm:ss[.ffffff]`, if it is that.
fn time(bytes: &[u8]) -> Option<usize> {
    let (clock, fraction) = bytes.split_at_checked(8)?;
    let [h1, h2, b':', m1, m2, b':', s1, s2] = clock else {
        return None;
    };
    if pair(*h1, *h2)? > 23 || pair(*m1, *m2)? > 59 || pair(*s1, *s2)? > 59 {
        return None;
    }
    match fraction {
        [] => Some(0),
        [b'.', digits @ ..] => {
            let sound = (1..=6).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
            sound.then_some(digits.len())
        }
        _ => None,
    }
}

fn pair(tens: u8, ones: u8) -> Option<u32> {
    let digit = |byte: u8| byte.is_ascii_digit().then(|| u32::from(byte - b'0'));
    Some(digit(tens)? * 10 + digit(ones)?)
}

/// How the files are written: fields may stand in double quotes, which are doubled inside.
pub(super) fn format(delimiter: u8, carriage_returns: bool) -> Format {
    let line_end: &[u8] = if carriage_returns { b"\r\n" } else { b"\n" };
    Format {
        field_end: vec![delimiter],
        enclosed: Some(b'"'),
        optionally_enclosed: true,
        escape: None,
        line_end: line_end.to_vec(),
        ..Format::default()
    }
}

/// Reads the whole file, so many bytes at a time.
pub(super) fn infer(path: &str, read_bytes: u64) -> Result<Shape, String> {
    let failed = |e: std::io::Error| format!("{path}: {e}");
    let mut head = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(HEAD_BYTES as u64)
        .read_to_end(&mut head)
        .map_err(failed)?;
    let has_byte_order_mark = head.starts_with(BYTE_ORDER_MARK);
    let marked = usize::from(has_byte_order_mark) * BYTE_ORDER_MARK.len();
    head.drain(..marked);
    if head.is_empty() {
        return Err(format!("{path}: the file is empty"));
    }
    let first_line = head.split(|&byte| byte == b'\n').next().unwrap_or(&[]);
    let delimiter = guess_delimiter(first_line);
    let carriage_returns = first_line.ends_with(b"\r");
    let format = format(delimiter, carriage_returns);
    let (first, first_end) = first_row(path, &format, &head)?;

    let file = File::open(path).map_err(failed)?;
    let mut blocks = Blocks::new(file, path, &format).reading(read_bytes);
    blocks
        .skip_bytes(marked + first_end)
        .map_err(|e| format!("{path}: {e}"))?;
    let reader = TypeReader {
        format: &format,
        width: first.len(),
    };
    let mut found = Found::nothing(first.len());
    found.rows = 1;
    found.lines = line_ends(&head, first_end);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let workers = WorkerPool::new(threads);
    delimited::read(blocks, threads, &workers, &reader, &mut found)
        .map_err(|e| format!("{path}: {e}"))?;
    if let Some((line, complaint)) = found.wrong {
        return Err(format!("{path}: line {line}, {complaint}"));
    }
    let mut types = found.types;
    let has_header = looks_like_header(&first, &types, found.rows);
    if !has_header {
        for (column, field) in types.iter_mut().zip(&first) {
            widen(column, field);
        }
    }
    let columns = first.iter().zip(types).zip(1..);
    let columns = columns.map(|((name, (ty, has_empty)), number)| Column {
        name: if has_header {
            name.trim().to_owned()
        } else {
            format!("column{number}")
        },
        ty,
        has_empty,
    });
    Ok(Shape {
        columns: columns.collect(),
        delimiter,
        has_header,
        carriage_returns,
        has_byte_order_mark,
    })
}

/// The fields of the first row, and how many bytes it has.
fn first_row(path: &str, format: &Format, head: &[u8]) -> Result<(Vec<String>, usize), String> {
    let is_whole = head.len() < HEAD_BYTES;
    let mut splitter = Splitter::new(format, head, is_whole);
    let mut fields = Vec::new();
    loop {
        match splitter.field() {
            Step::Field(field) => match std::str::from_utf8(splitter.bytes_of(&field)) {
                Ok(text) => fields.push(text.to_owned()),
                Err(e) => {
                    let column = fields.len() + 1;
                    return Err(format!("{path}: line 1, column {column}: {e}"));
                }
            },
            Step::NoField => break,
            Step::Incomplete => return Err(format!("{path}: the first line is too long")),
        }
    }
    splitter.next_line();
    Ok((fields, splitter.line_begin()))
}

/// Finds the types of a block's rows.
struct TypeReader<'f> {
    format: &'f Format,
    width: usize,
}

/// What was found in some rows.
struct Found {
    types: Vec<(ColumnType, bool)>,
    rows: u64,
    /// The ends of lines in them.
    lines: usize,
    /// The line of the first row that cannot be read, and what is wrong with it.
    wrong: Option<(usize, String)>,
}

impl Found {
    fn nothing(width: usize) -> Self {
        Self {
            types: vec![(ColumnType::Unknown, false); width],
            rows: 0,
            lines: 0,
            wrong: None,
        }
    }
}

impl Parser for TypeReader<'_> {
    type Parsed = (Found, usize);

    fn parse(&self, bytes: &[u8], is_last: bool) -> (Found, usize) {
        let mut splitter = Splitter::new(self.format, bytes, is_last);
        let mut found = Found::nothing(self.width);
        // A line that the block cuts is read again with the next one, to the same effect.
        loop {
            let mut fields = 0;
            let mut complaint = None;
            let is_incomplete = loop {
                let field = match splitter.field() {
                    Step::Field(field) => field,
                    Step::NoField => break false,
                    Step::Incomplete => break true,
                };
                fields += 1;
                let Some(column) = found.types.get_mut(fields - 1) else {
                    continue;
                };
                match std::str::from_utf8(splitter.bytes_of(&field)) {
                    Ok(text) => widen(column, text),
                    Err(error) => {
                        complaint = Some(format!("column {fields}: {error}"));
                        break false;
                    }
                }
            };
            if is_incomplete || fields == 0 {
                break;
            }
            let width = self.width;
            if fields != width && complaint.is_none() {
                let column = fields.min(width) + 1;
                complaint = Some(format!(
                    "column {column}: the row has {fields} columns, the first one has {width}"
                ));
            }
            if let Some(complaint) = complaint {
                let line = line_ends(bytes, splitter.line_begin()) + 1;
                found.wrong = Some((line, complaint));
                break;
            }
            found.rows += 1;
            match splitter.next_line() {
                LineEnd::Ended { .. } => {}
                LineEnd::EndOfFile | LineEnd::Incomplete => break,
            }
        }
        let end = splitter.line_begin();
        found.lines = line_ends(bytes, end);
        (found, end)
    }
}

fn line_ends(bytes: &[u8], end: usize) -> usize {
    let before = bytes.iter().take(end);
    before.filter(|&&byte| byte == b'\n').count()
}

impl Taker<(Found, usize)> for Found {
    fn take(
        &mut self,
        block: &Block,
        (found, end): (Found, usize),
    ) -> Result<usize, mayfly_engine::Error> {
        if self.wrong.is_some() {
            return Ok(block.bytes.len());
        }
        for ((ty, has_empty), (new, new_empty)) in self.types.iter_mut().zip(found.types) {
            *ty = ty.join(new);
            *has_empty |= new_empty;
        }
        self.rows += found.rows;
        self.wrong = found
            .wrong
            .map(|(line, complaint)| (self.lines + line, complaint));
        self.lines += found.lines;
        Ok(end)
    }
}

/// Joins a value into its column: the type, and whether a field is empty. A column that is text already
/// only takes the length.
fn widen((ty, has_empty): &mut (ColumnType, bool), field: &str) {
    if field.is_empty() {
        *has_empty = true;
        return;
    }
    let text = ColumnType::Text(field.chars().count());
    if !matches!(ty, ColumnType::Text(_)) {
        *ty = ty.join(ColumnType::of(field));
    }
    if matches!(ty, ColumnType::Text(_)) {
        *ty = ty.join(text);
    }
}

/// The one of `,`, tab, `;` and `|` that is in the first line most often.
fn guess_delimiter(first_line: &[u8]) -> u8 {
    let count = |delimiter: u8| first_line.iter().filter(|&&byte| byte == delimiter).count();
    // Of several that are there as often, the last is taken.
    let best = [b'|', b';', b'\t', b',']
        .into_iter()
        .max_by_key(|it| count(*it));
    best.unwrap_or(b',')
}

/// A header names every column once, in words, and stands over something that looks different or,
/// when all is text, has at least the look of identifiers.
fn looks_like_header(first: &[String], types: &[(ColumnType, bool)], rows: u64) -> bool {
    let mut names: Vec<String> = first.iter().map(|name| name.to_lowercase()).collect();
    names.sort_unstable();
    names.dedup();
    let words = first
        .iter()
        .all(|name| matches!(ColumnType::of(name), ColumnType::Text(_)));
    if names.len() != first.len() || !words || first.iter().any(String::is_empty) || rows < 2 {
        return false;
    }
    let over_other = types.iter().any(|(ty, _)| !ty.is_text());
    let identifier = |name: &String| {
        name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "_ -.".contains(c))
    };
    over_other || first.iter().all(identifier)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Result<Shape, String> {
        let mut file = tempfile::NamedTempFile::new().expect("a file for the test");
        std::io::Write::write_all(&mut file, text.as_bytes()).expect("it is written");
        infer(file.path().to_str().expect("a plain path"), 8192)
    }

    fn types(text: &str) -> Vec<String> {
        let shape = shape(text).expect("a readable file");
        shape
            .columns
            .iter()
            .map(|column| format!("{} {}", column.name, column.ty.sql()))
            .collect()
    }

    #[test]
    fn every_type() {
        let text = "a,b,c,d,e,f,g,h,zip\n\
                    1,3000000000,1.5,1e3,2024-02-29,2024-02-29 10:00:00,10:00:00,x,01234\n\
                    -7,18446744073709551615,22.25,2,2024-03-01,2024-03-01T10:00:00.123,10:00:01,y,99999\n";
        assert_eq!(
            types(text),
            [
                "a INT",
                "b BIGINT UNSIGNED",
                "c DECIMAL(4, 2)",
                "d DOUBLE",
                "e DATE",
                "f DATETIME(3)",
                "g TIME",
                "h VARCHAR(255)",
                "zip VARCHAR(255)"
            ]
        );
    }

    #[test]
    fn mixed_values_widen() {
        assert_eq!(types("n\n1\n2.5\n"), ["n DECIMAL(2, 1)"]);
        assert_eq!(types("n\n1\nx\n"), ["n VARCHAR(255)"]);
        assert_eq!(
            types("n\n2024-01-01\n2024-01-01 00:00:01\n"),
            ["n DATETIME"]
        );
        assert_eq!(types("n\n2023-02-29\n"), ["n VARCHAR(255)"]);
        assert_eq!(types("n\n-1\n18446744073709551615\n"), ["n DECIMAL(20, 0)"]);
    }

    #[test]
    fn headers() {
        assert!(shape("id,name\n1,x\n").expect("readable").has_header);
        assert!(!shape("1,x\n2,y\n").expect("readable").has_header);
        assert!(shape("first;last\nA;B\n").expect("readable").has_header);
        assert!(!shape("a,a\n1,2\n").expect("readable").has_header);
        assert_eq!(types("1,x\n2,y\n"), ["column1 INT", "column2 VARCHAR(255)"]);
    }

    #[test]
    fn unreadable_rows_are_named() {
        let error = shape("a,b\n1,2\n3\n").expect_err("a short row");
        assert!(error.contains("line 3, column 2"), "{error}");
        let error = shape("").expect_err("nothing there");
        assert!(error.contains("empty"), "{error}");
    }

    #[test]
    fn empty_fields_make_a_column_nullable() {
        let shape = shape("a,b\n1,\n,2\n").expect("readable");
        assert!(shape.columns.iter().all(|column| column.has_empty));
        assert_eq!(shape.columns[0].ty.sql(), "INT");
    }
}
