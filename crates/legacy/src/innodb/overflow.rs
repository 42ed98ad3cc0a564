//! Overflow pages: values outside their rows, in chains of pages.

use super::page::{self, HEADER, NO_PAGE, PAGE_BYTES};
use super::tablespace::TablePages;
use crate::refusal::Outcome;
use crate::row::External;

/// Bytes of a value on a page.
const PART: usize = PAGE_BYTES - HEADER;

/// Writes a value; returns its location.
pub(super) fn write_value(pages: &mut TablePages, value: &[u8]) -> Outcome<External> {
    let first = pages.take()?;
    let mut number = first;
    let mut parts = value.chunks(PART).peekable();
    while let Some(part) = parts.next() {
        let next = match parts.peek() {
            Some(_) => pages.take()?,
            None => NO_PAGE,
        };
        let mut pool = pages.lock();
        let bytes = pool.new_page(pages.id(number))?;
        page::clear(bytes, 0);
        page::set_next(bytes, next);
        bytes[HEADER..HEADER + part.len()].copy_from_slice(part);
        number = next;
    }
    Ok(External {
        page: first,
        length: value.len() as u64,
    })
}

/// Appends a value to `out`.
pub(super) fn read_value(pages: &TablePages, value: External, out: &mut Vec<u8>) -> Outcome<()> {
    let mut number = value.page;
    let mut left = value.length as usize;
    while left > 0 {
        if number == NO_PAGE {
            return Err(pages.corrupt(value.page, left).into());
        }
        let mut pool = pages.lock();
        let bytes = pool.page(pages.id(number))?;
        let part = left.min(PART);
        out.extend_from_slice(&bytes[HEADER..HEADER + part]);
        number = page::next(bytes);
        left -= part;
    }
    Ok(())
}

/// Frees the pages of a value.
pub(super) fn free_value(pages: &mut TablePages, value: External) -> Outcome<()> {
    let mut number = value.page;
    let mut left = value.length as usize;
    while left > 0 && number != NO_PAGE {
        let next = page::next(pages.lock().page(pages.id(number))?);
        pages.give(number);
        number = next;
        left = left.saturating_sub(PART);
    }
    Ok(())
}
