//! What a workbook takes in memory, found out before its reader is called: the parts of its archive may be much larger
//! decompressed (a "zip bomb"), and a cell of OpenDocument may say that it stands a million times. The content of an
//! OpenDocument must be well-formed as well, because the reader looks for the ends of its elements for ever.

use std::io::{BufReader, Cursor, Read};

use mayfly_engine::{Reservation, Result, TableFunctionContext};
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use crate::guard::damaged;

/// The bytes of a file. Cloning shares them.
pub(super) type Bytes = std::sync::Arc<[u8]>;

/// The kind of a workbook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BookKind {
    Xlsx,
    Xlsb,
    Ods,
}

/// Memory that grows with what is found.
pub(super) struct Growing<'c> {
    context: &'c TableFunctionContext,
    held: Option<Reservation>,
    bytes: u64,
}

impl<'c> Growing<'c> {
    pub(super) fn new(context: &'c TableFunctionContext) -> Self {
        Self {
            context,
            held: None,
            bytes: 0,
        }
    }

    /// What is held.
    pub(super) fn into_held(self) -> Option<Reservation> {
        self.held
    }

    /// Takes more bytes: 1105 beyond a limit, with its name.
    pub(super) fn add(&mut self, bytes: u64) -> Result<()> {
        /// Taken at once.
        const STEP: u64 = 1 << 20;
        self.bytes = self.bytes.saturating_add(bytes);
        let known = self.held.as_ref().map_or(0, Reservation::bytes);
        if self.bytes > known {
            self.context.interrupt.check()?;
            self.held = None;
            // Beyond all limits anyway.
            let bytes = self.bytes.min(1 << 50).next_multiple_of(STEP);
            self.held = Some(self.context.memory.reserve(bytes)?);
        }
        Ok(())
    }
}

/// The kind of a workbook; its reader will take no more than `memory` then has.
pub(super) fn inspect(path: &str, bytes: &Bytes, memory: &mut Growing<'_>) -> Result<BookKind> {
    /// Bytes of a text in memory for one of the file: an empty shared string is `<si/>`.
    const TEXT: u64 = 5;
    let failed = |error: zip::result::ZipError| damaged(path, error);
    let mut archive = ZipArchive::new(Cursor::new(Bytes::clone(bytes))).map_err(failed)?;
    let (mut is_xlsb, mut is_ods) = (false, false);
    for index in 0..archive.len() {
        let mut part = archive.by_index(index).map_err(failed)?;
        let name = part.name().map_err(failed)?.to_ascii_lowercase();
        is_xlsb |= name == "xl/workbook.bin";
        is_ods |= name == "content.xml";
        // Rows of a sheet are read one after another.
        let factor = match name.contains("worksheets/") {
            true => 1,
            false => TEXT,
        };
        let mut buffer = [0; 16 << 10];
        loop {
            let read = part.read(&mut buffer);
            match read.map_err(|error| damaged(path, error))? {
                0 => break,
                read => memory.add(read as u64 * factor)?,
            }
        }
    }
    if is_ods {
        let content = archive.by_name("content.xml").map_err(failed)?;
        repetitions(path, content, memory)?;
        return Ok(BookKind::Ods);
    }
    Ok(if is_xlsb {
        BookKind::Xlsb
    } else {
        BookKind::Xlsx
    })
}

/// Takes the memory of the cells of an OpenDocument's sheets, repeated as they say.
fn repetitions(path: &str, content: impl Read, memory: &mut Growing<'_>) -> Result<()> {
    /// A cell and its formula, in the rows and in the rectangle that they become.
    const CELL: u64 = 128;
    const ROWS_MAX: u64 = 1_048_576;
    const COLUMNS_MAX: u64 = 16_384;
    let mut reader = quick_xml::Reader::from_reader(BufReader::new(content));
    let config = reader.config_mut();
    config.expand_empty_elements = true;
    let mut buffer = Vec::new();
    // Of a row: how often it stands, its cells up to the last one with content, and the bytes of their content.
    let (mut row_repeats, mut row_cells, mut row_used, mut row_bytes) = (1, 0_u64, 0_u64, 0_u64);
    // Of a cell: how often it stands, and the bytes of its content.
    let (mut cell_repeats, mut cell_bytes) = (1_u64, 0_u64);
    let (mut rows, mut width) = (0_u64, 0_u64);
    let mut depth = 0_u64;
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer);
        let event = event.map_err(|error| damaged(path, error))?;
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            // The reader would look for the end for ever.
            Event::Eof if depth > 0 => return Err(damaged(path, "its content ends early")),
            _ => {}
        }
        match event {
            Event::Start(element) => match element.name().into_inner() {
                "table:table" => (rows, width) = (0, 0),
                "table:table-row" => {
                    row_repeats = number(&element, "table:number-rows-repeated").min(ROWS_MAX);
                    (row_cells, row_used, row_bytes) = (0, 0, 0);
                }
                "table:table-cell" | "table:covered-table-cell" => {
                    cell_repeats = number(&element, "table:number-columns-repeated");
                    cell_repeats = cell_repeats.min(COLUMNS_MAX);
                    let is_empty = element.try_get_attribute("office:value-type");
                    let is_empty = is_empty.is_ok_and(|it| it.is_none());
                    cell_bytes = if is_empty { 0 } else { element.len() as u64 };
                }
                "text:s" => {
                    let spaces = number(&element, "text:c");
                    cell_bytes = cell_bytes.saturating_add(spaces);
                    memory.add(spaces)?;
                }
                _ => {}
            },
            Event::Text(text) => cell_bytes += text.len() as u64,
            Event::GeneralRef(_) => cell_bytes += 4,
            Event::End(element) => match element.name().into_inner() {
                "table:table-cell" | "table:covered-table-cell" => {
                    row_cells = (row_cells + cell_repeats).min(COLUMNS_MAX);
                    memory.add(cell_repeats * CELL)?;
                    if cell_bytes > 0 {
                        row_used = row_cells;
                        row_bytes =
                            row_bytes.saturating_add(cell_repeats.saturating_mul(cell_bytes));
                        memory.add(cell_repeats.saturating_mul(cell_bytes))?;
                    }
                    cell_bytes = 0;
                }
                "table:table-row" => {
                    let before = rows * width;
                    rows = (rows + row_repeats).min(ROWS_MAX);
                    if row_used > 0 {
                        width = width.max(row_used);
                        memory.add((rows * width).saturating_sub(before).saturating_mul(CELL))?;
                        memory.add(row_repeats.saturating_mul(row_bytes))?;
                    }
                }
                _ => {}
            },
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

/// A number of times; 1 where none is given.
fn number(element: &BytesStart<'_>, name: &str) -> u64 {
    let attribute = element.try_get_attribute(name).ok().flatten();
    let number = attribute.and_then(|it| it.value.trim().parse().ok());
    number.unwrap_or(1)
}
