//! The definition of a result's column.

use mayfly_engine::{ResultColumn, ResultEncoder, ResultOrigin};

use super::{append_bytes, append_measured};

/// Length of the fixed fields behind the texts.
const NUMBERS: u8 = 12;

/// Appends the definition. See the protocol documentation, "Column Definition".
pub(crate) fn append_definition(out: &mut Vec<u8>, column: &ResultColumn, encoder: &ResultEncoder) {
    let origin = column.origin.as_ref();
    let name = |part: fn(&ResultOrigin) -> &String| origin.map_or("", |origin| part(origin));
    append_bytes(out, b"def");
    for text in [
        name(|origin| &origin.database),
        name(|origin| &origin.alias),
        name(|origin| &origin.table),
        &column.name,
        name(|origin| &origin.column),
    ] {
        append_measured(out, |out| encoder.append_text(text, out));
    }
    let field = encoder.field(column);
    out.push(NUMBERS);
    out.extend_from_slice(&field.collation.0.to_le_bytes());
    out.extend_from_slice(&field.length.to_le_bytes());
    out.push(field.field_type as u8);
    out.extend_from_slice(&field.flags.0.to_le_bytes());
    out.push(field.decimals);
    out.extend_from_slice(&[0; 2]);
}
