//! Geometries as text and as WKB: ST_ASTEXT(geometry[, options]), ST_ASWKB(geometry[, options]).

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::geometry::bytes::{Rules, append_wkb};
use mayfly_types::geometry::{systems, text};
use mayfly_types::{CollationId, Result, SqlType, TypeKind};

use super::arguments::{Geometries, Value};
use super::options::Options;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, Signature, output};

/// The most characters of a text that clients are told of.
const TEXT_CHARACTERS: u32 = 16_777_216;

pub(super) const FUNCTIONS: &[Row] = &[
    Row::new(&["st_astext", "st_aswkt"], 1..=2, text_signature, as_text).with(&[Fact::StopsAtNull]),
    Row::new(&["st_aswkb", "st_asbinary"], 1..=2, wkb_signature, as_wkb).with(&[Fact::StopsAtNull]),
];

fn text_signature(binding: &Binding<'_>) -> Result<Signature> {
    let result = SqlType {
        length: TEXT_CHARACTERS,
        ..SqlType::text(TypeKind::LongText, binding.session.collation_connection)
    };
    Ok(Signature::new(binding.texts(), result, true))
}

fn wkb_signature(binding: &Binding<'_>) -> Result<Signature> {
    let result = SqlType::text(TypeKind::LongText, CollationId::BINARY);
    Ok(Signature::new(binding.texts(), result, true))
}

/// The geometries of a call in the order of coordinates that is printed. That of an unknown system is the order of values,
/// with warning 3565.
fn printed<'a>(call: &'a Call<'a>) -> Result<impl Fn(usize) -> Result<Option<Value>> + 'a> {
    let geometries = Geometries::new(call, 0)?;
    let options = Options::new(call, 1)?;
    Ok(move |row| {
        let Some((srid, mut geometry)) = geometries.read(row, Rules::STRUCTURE)? else {
            return Ok(None);
        };
        let Some(order) = options.get(row)? else {
            return Ok(None);
        };
        match systems::system(srid) {
            Some(system) if order.swaps(system) => geometry.swap(),
            Some(_) => {}
            None => call
                .context
                .warn(codes::ER_WARN_SRS_NOT_FOUND_AXIS_ORDER.with(&[&srid])),
        }
        Ok(Some((srid, geometry)))
    })
}

fn as_text(call: &Call<'_>) -> Result<ArrayRef> {
    let printed = printed(call)?;
    output::texts(call, |row, out| {
        // Numbers that are not finite have no text.
        let value = printed(row)?.filter(|(_, geometry)| geometry.is_finite());
        if let Some((_, geometry)) = &value {
            text::append(out, geometry);
        }
        Ok(value.is_some())
    })
}

fn as_wkb(call: &Call<'_>) -> Result<ArrayRef> {
    let printed = printed(call)?;
    output::texts(call, |row, out| {
        let value = printed(row)?;
        if let Some((_, geometry)) = &value {
            append_wkb(out, geometry);
        }
        Ok(value.is_some())
    })
}
