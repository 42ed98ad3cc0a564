//! The options argument, `axis-order=…`: the order of coordinates in texts and WKB.

use mayfly_types::Result;
use mayfly_types::error::codes;
use mayfly_types::geometry::systems::SpatialReferenceSystem;

use crate::Call;
use crate::input::Texts;

/// The one option.
const AXIS_ORDER: &str = "axis-order";

/// An order of coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AxisOrder {
    /// As the system defines.
    OfSystem,
    /// The latitude first.
    LatitudeFirst,
    /// The longitude first.
    LongitudeFirst,
}

impl AxisOrder {
    /// Whether coordinates are exchanged between values and texts.
    pub(super) fn swaps(self, system: SpatialReferenceSystem) -> bool {
        match self {
            Self::OfSystem => system.is_latitude_first(),
            Self::LatitudeFirst => system.is_geographic(),
            Self::LongitudeFirst => false,
        }
    }
}

/// The options of a call, if they are given.
pub(super) struct Options<'a> {
    texts: Option<Texts<'a>>,
    function: &'static str,
}

impl<'a> Options<'a> {
    pub(super) fn new(call: &Call<'a>, index: usize) -> Result<Self> {
        Ok(Self {
            texts: call.optional(index, crate::input::texts)?,
            function: call.name,
        })
    }

    /// The order of a row; `None` if its options are NULL.
    pub(super) fn get(&self, row: usize) -> Result<Option<AxisOrder>> {
        let Some(texts) = &self.texts else {
            return Ok(Some(AxisOrder::OfSystem));
        };
        let text = texts.get(row).map(String::from_utf8_lossy);
        text.map(|text| parse(&text, self.function)).transpose()
    }
}

/// Whether a character separates keys and values.
fn is_separator(character: char) -> bool {
    matches!(character, ',' | '=')
}

fn parse(text: &str, function: &str) -> Result<AxisOrder> {
    let text = text.trim();
    let mut order = None;
    if text.is_empty() {
        return Ok(AxisOrder::OfSystem);
    }
    if let Some(first) = text.chars().next().filter(|it| is_separator(*it)) {
        return Err(codes::ER_INVALID_OPTION_START_CHARACTER.with(&[&function, &first]));
    }
    if let Some(last) = text.chars().last().filter(|it| is_separator(*it)) {
        return Err(codes::ER_INVALID_OPTION_END_CHARACTER.with(&[&function, &last]));
    }
    let mut pairs = text.as_bytes().windows(2);
    if let Some(pair) = pairs.find(|pair| pair.iter().all(|it| is_separator((*it).into()))) {
        let pair = String::from_utf8_lossy(pair);
        return Err(codes::ER_INVALID_OPTION_CHARACTERS.with(&[&function, &pair]));
    }
    for option in text.split(',') {
        let Some((key, value)) = option.split_once('=') else {
            let option = option.trim();
            return Err(codes::ER_INVALID_OPTION_KEY_VALUE_PAIR.with(&[&option, &function]));
        };
        let (key, value) = (key.trim(), value.trim());
        if !key.eq_ignore_ascii_case(AXIS_ORDER) {
            return Err(codes::ER_INVALID_OPTION_KEY.with(&[&key, &function]));
        }
        if order.is_some() {
            return Err(codes::ER_DUPLICATE_OPTION_KEY.with(&[&key, &function]));
        }
        order = Some(match value.to_ascii_lowercase().as_str() {
            "srid-defined" => AxisOrder::OfSystem,
            "lat-long" => AxisOrder::LatitudeFirst,
            "long-lat" => AxisOrder::LongitudeFirst,
            _ => {
                let wrong = codes::ER_INVALID_OPTION_VALUE;
                return Err(wrong.with(&[&value, &key, &function]));
            }
        });
    }
    Ok(order.unwrap_or(AxisOrder::OfSystem))
}
