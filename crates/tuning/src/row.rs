//! The table that is scanned when the user has no file: rows of fixed length as MyISAM stores them.
//!
//! ```text
//! 0  flags, 1 byte: 1 for a row that is there (0 is one that was deleted)
//! 1  i INT UNSIGNED, 4 bytes, the lowest first
//! 5  c CHAR(50), 50 bytes, padded with spaces
//! ```
//!
//! The values depend on the row's number alone.

use std::io;
use std::path::Path;

use mayfly_memory::io::IoBackend;

use crate::random::mix;

/// Bytes of a row.
pub const ROW_BYTES: usize = 55;
const FLAGS: u8 = 1;
const TEXT_AT: usize = 5;
/// Number of rows that are written at a time.
const ROWS_AT_A_TIME: u64 = 1 << 15;

/// Writes the row with a number into its [`ROW_BYTES`] bytes.
pub fn write_row(number: u64, row: &mut [u8]) {
    let value = mix(number);
    row[0] = FLAGS;
    row[1..TEXT_AT].copy_from_slice(&(value as u32).to_le_bytes());
    let text = &mut row[TEXT_AT..ROW_BYTES];
    text.fill(b' ');
    for (index, letter) in text[..40].iter_mut().enumerate() {
        let nibble = (mix(value.wrapping_add(index as u64 / 16)) >> (index % 16 * 4)) & 15;
        *letter = b"0123456789abcdef"[nibble as usize];
    }
}

/// The values of a row; `None` for bytes that are not a row.
pub fn row(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let bytes: &[u8; ROW_BYTES] = bytes.try_into().ok()?;
    let number: [u8; 4] = bytes[1..TEXT_AT].try_into().ok()?;
    let text = bytes[TEXT_AT..].trim_ascii_end();
    (bytes[0] == FLAGS).then_some((u32::from_le_bytes(number), text))
}

/// Makes a file of `rows` rows. `stop` ends it early; returns whether the file is complete. An incomplete file is
/// removed.
///
/// # Errors
/// The file cannot be made or written.
pub fn make_table(
    files: &dyn IoBackend,
    path: &Path,
    rows: u64,
    stop: &dyn Fn() -> bool,
) -> io::Result<bool> {
    let file = files.create_file(path)?;
    let mut written = Ok(true);
    let mut bytes = Vec::new();
    for first in (0..rows).step_by(ROWS_AT_A_TIME as usize) {
        let count = ROWS_AT_A_TIME.min(rows - first);
        bytes.resize(count as usize * ROW_BYTES, 0);
        for (index, row) in bytes.chunks_exact_mut(ROW_BYTES).enumerate() {
            write_row(first + index as u64, row);
        }
        written = write_all(&*file, &bytes, first * ROW_BYTES as u64).map(|()| !stop());
        if !matches!(written, Ok(true)) {
            break;
        }
    }
    if !matches!(written, Ok(true)) {
        drop(file);
        // The first error is more informative than one of removing the rest.
        let _ = files.remove_file(path);
    }
    written
}

fn write_all(
    file: &dyn mayfly_memory::io::IoFile,
    mut bytes: &[u8],
    mut offset: u64,
) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = &bytes[count..];
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_layout_that_is_described() {
        let mut bytes = [0xff; ROW_BYTES];
        write_row(0, &mut bytes);
        // mix(0) is 0, so the number is 0 and the text begins with the digits of mix(0), which are zeros too.
        assert_eq!(bytes[..5], [1, 0, 0, 0, 0]);
        assert_eq!(bytes[5..21], *b"0000000000000000");
        assert_eq!(bytes[45..], [b' '; 10]);
        let (number, text) = row(&bytes).expect("it is a row");
        assert_eq!((number, text.len()), (0, 40));
        bytes[0] = 0;
        assert_eq!(row(&bytes), None);
        assert_eq!(row(&bytes[1..]), None);
    }

    #[test]
    fn rows_differ() {
        let rows: std::collections::BTreeSet<Vec<u8>> = (0..2000)
            .map(|number| {
                let mut bytes = vec![0; ROW_BYTES];
                write_row(number, &mut bytes);
                assert_eq!(
                    row(&bytes).map(|(value, _)| value),
                    Some(mix(number) as u32)
                );
                bytes
            })
            .collect();
        assert_eq!(rows.len(), 2000);
    }
}
