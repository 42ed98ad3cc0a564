//! Estimated memory of a temporary table, from types and cardinalities.
//!
//! A row is a header of 8 bytes (with the NULL bits of 16 columns; 8 more bytes for each 64 further ones) and a cell
//! for each column: 8 bytes, 16 for a DECIMAL up to 38 digits and for a string, 32 for a larger DECIMAL. A string of
//! more than 12 bytes is stored beside the rows. String lengths come from column statistics, otherwise half of the
//! declared length, at most 64 bytes, is assumed. A table that rows are looked up in has 8 bytes for each of its slots,
//! of which at most two thirds are used, and whose number is a power of two. The first block of any allocation has 4
//! KiB.

use mayfly_types::{PhysicalType, SqlType, TypeKind};

/// Size of the first block of any allocation.
const BLOCK_BYTES: f64 = 4096.0;
/// Maximum bytes of a string that is stored inside its cell.
const INLINE_BYTES: f64 = 12.0;
/// Maximum bytes assumed for a string.
const STRING_BYTES_MAX: f64 = 64.0;
const SLOT_BYTES: f64 = 8.0;
/// Hash slots per row.
const SLOTS_OF_ROW: f64 = 1.5;

/// Estimated bytes of a temporary table of `rows` rows of these columns. `text_bytes`: bytes of a row's out-of-cell
/// strings, if known. `is_keyed`: rows are looked up in it.
pub(crate) fn table_bytes(
    columns: &[SqlType],
    text_bytes: Option<u32>,
    rows: f64,
    is_keyed: bool,
) -> u64 {
    let further = columns.len().saturating_sub(16).div_ceil(64) as f64;
    let cells: f64 = columns.iter().map(cell_bytes).sum();
    let assumed = || columns.iter().map(|ty| string_bytes(ty, None)).sum();
    let beside = text_bytes.map_or_else(assumed, f64::from);
    let rows = rows.max(0.0);
    let mut bytes = (rows * (8.0 + 8.0 * further + cells)).max(BLOCK_BYTES);
    if beside > 0.0 {
        bytes += (rows * beside).max(BLOCK_BYTES);
    }
    if is_keyed {
        let slots = (rows * SLOTS_OF_ROW).max(1.0).log2().ceil().exp2();
        bytes += (slots * SLOT_BYTES).max(BLOCK_BYTES);
    }
    // Values beyond the range of integers saturate.
    bytes.ceil() as u64
}

fn cell_bytes(ty: &SqlType) -> f64 {
    match ty.physical() {
        PhysicalType::Bool | PhysicalType::Int64 | PhysicalType::UInt64 | PhysicalType::Float64 => {
            8.0
        }
        PhysicalType::Decimal128(_) | PhysicalType::Bytes => 16.0,
        PhysicalType::Decimal256(_) => 32.0,
    }
}

/// Estimated bytes of a row of a batch.
pub(crate) fn batch_row_bytes(columns: &[SqlType]) -> f64 {
    columns.iter().map(cell_bytes).sum()
}

/// Estimated bytes of a value beside its cell; `known` is the average length of the values.
pub(crate) fn string_bytes(ty: &SqlType, known: Option<f64>) -> f64 {
    if ty.physical() != PhysicalType::Bytes {
        return 0.0;
    }
    let most = match ty.kind {
        TypeKind::Json => STRING_BYTES_MAX * 2.0,
        _ => f64::from(ty.length),
    };
    let assumed = known.unwrap_or((most / 2.0).min(STRING_BYTES_MAX));
    if assumed > INLINE_BYTES { assumed } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use mayfly_types::{CollationId, SqlType, TypeKind};

    use super::table_bytes;

    #[test]
    fn the_formula_is_that_of_the_head_of_the_module() {
        let int = || SqlType::integer(TypeKind::Int);
        let text = |length| SqlType::varchar(length, CollationId::default());
        // Blocks of 4 KiB, for rows and for slots.
        assert_eq!(table_bytes(&[int()], None, 1.0, false), 4096);
        assert_eq!(table_bytes(&[int()], None, 1.0, true), 8192);
        // 1000 rows of 8 + 8 bytes; 1500 slots become 2048.
        assert_eq!(table_bytes(&[int()], None, 1000.0, true), 16_000 + 2048 * 8);
        // A string of 12 bytes is in its cell, one of 25 beside it.
        assert_eq!(table_bytes(&[text(24)], None, 1000.0, false), 24_000);
        assert_eq!(
            table_bytes(&[text(50)], None, 1000.0, false),
            24_000 + 25_000
        );
        assert_eq!(
            table_bytes(&[text(5000)], None, 1000.0, false),
            24_000 + 64_000
        );
        // The length of strings is known: short ones are in their cells.
        assert_eq!(table_bytes(&[text(50)], Some(0), 1000.0, false), 24_000);
        assert_eq!(table_bytes(&[text(50)], Some(40), 1000.0, false), 64_000);
        // The NULL bits of the 17th column need another word.
        let wide = vec![int(); 17];
        assert_eq!(
            table_bytes(&wide, None, 1000.0, false),
            (8 + 8 + 17 * 8) * 1000
        );
        assert_eq!(table_bytes(&[], None, f64::INFINITY, false), u64::MAX);
    }
}
