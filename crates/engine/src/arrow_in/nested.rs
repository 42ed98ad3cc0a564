//! Nested Arrow values as JSON documents, and UUIDs as their texts.
//!
//! A list is an array, a struct or a map an object; keys of a map that are no texts are the texts of their values. Times and
//! dates are strings as SQL shows them, bytes are strings in base64 and numbers that JSON lacks (NaN, infinities) are the
//! strings `NaN`, `inf` and `-inf`.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BinaryViewArray, builder::BinaryViewBuilder};
use arrow_schema::DataType;
use mayfly_types::convert::text::format_value;
use mayfly_types::json::{Json, JsonObject};
use mayfly_types::{Result, SqlType, TypeKind, Value};

use crate::convert;

/// Whether values of a type consist of others.
pub(super) fn is_nested(ty: &DataType) -> bool {
    matches!(
        ty,
        DataType::List(_)
            | DataType::LargeList(_)
            | DataType::ListView(_)
            | DataType::LargeListView(_)
            | DataType::FixedSizeList(..)
            | DataType::Map(..)
            | DataType::Struct(_)
    )
}

/// Whether a type is nested, and all types in it have SQL types.
pub(super) fn is_supported(ty: &DataType) -> bool {
    let fits = |ty: &DataType| super::sql_type(ty).is_some();
    match ty {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => fits(field.data_type()),
        DataType::Struct(fields) => fields.iter().all(|field| fits(field.data_type())),
        _ => false,
    }
}

/// The documents of nested values.
pub(super) fn documents(array: &ArrayRef, name: &str) -> Result<ArrayRef> {
    let prepared = Prepared::new(array, name)?;
    let mut documents = BinaryViewBuilder::with_capacity(array.len());
    for row in 0..array.len() {
        if array.is_null(row) {
            documents.append_null()
        } else {
            documents.append_value(prepared.json(row).to_text())
        }
    }
    Ok(Arc::new(documents.finish()))
}

/// The texts of UUIDs.
pub(super) fn uuids(array: &ArrayRef) -> ArrayRef {
    let text = |bytes: &[u8]| {
        let mut text = String::with_capacity(36);
        for (index, byte) in bytes.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                text.push('-');
            }
            text += &format!("{byte:02x}");
        }
        text.into_bytes()
    };
    let texts = array.as_fixed_size_binary().iter();
    let texts: BinaryViewArray = texts.map(|bytes| bytes.map(text)).collect();
    Arc::new(texts)
}

/// An array whose values are read one by one.
enum Prepared {
    /// Values of a type, in the arrays that the engine computes on.
    Plain(ArrayRef, SqlType, DataType),
    /// Lists: each one's first and last element.
    List(ArrayRef, Vec<(usize, usize)>, Box<Self>),
    Struct(ArrayRef, Vec<(String, Self)>),
    /// Maps: each one's first and last entry.
    Map(ArrayRef, Vec<(usize, usize)>, Box<(Self, Self)>),
}

impl Prepared {
    fn new(array: &ArrayRef, name: &str) -> Result<Self> {
        let lists = |array: &ArrayRef, ranges: Vec<(usize, usize)>, values: &ArrayRef| {
            let elements = Self::new(values, name)?;
            Ok(Self::List(Arc::clone(array), ranges, Box::new(elements)))
        };
        let of_sizes = |start: i64, size: i64| {
            let start = usize::try_from(start).unwrap_or(0);
            (start, start + usize::try_from(size).unwrap_or(0))
        };
        match array.data_type() {
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                let offsets = list.value_offsets().windows(2);
                let ranges = offsets.map(|it| (it[0] as usize, it[1] as usize));
                lists(array, ranges.collect(), list.values())
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                let offsets = list.value_offsets().windows(2);
                let ranges = offsets.map(|it| (it[0] as usize, it[1] as usize));
                lists(array, ranges.collect(), list.values())
            }
            DataType::ListView(_) => {
                let list = array.as_list_view::<i32>();
                let ranges = list.value_offsets().iter().zip(list.value_sizes());
                let ranges = ranges.map(|(start, size)| of_sizes((*start).into(), (*size).into()));
                lists(array, ranges.collect(), list.values())
            }
            DataType::LargeListView(_) => {
                let list = array.as_list_view::<i64>();
                let ranges = list.value_offsets().iter().zip(list.value_sizes());
                let ranges = ranges.map(|(start, size)| of_sizes(*start, *size));
                lists(array, ranges.collect(), list.values())
            }
            DataType::FixedSizeList(..) => {
                let list = array.as_fixed_size_list();
                let size = usize::try_from(list.value_length()).unwrap_or(0);
                let ranges = (0..list.len()).map(|row| (row * size, (row + 1) * size));
                lists(array, ranges.collect(), list.values())
            }
            DataType::Map(..) => {
                let map = array.as_map();
                let offsets = map.value_offsets().windows(2);
                let ranges = offsets.map(|it| (it[0] as usize, it[1] as usize)).collect();
                let keys = Self::new(map.keys(), name)?;
                let values = Self::new(map.values(), name)?;
                Ok(Self::Map(
                    Arc::clone(array),
                    ranges,
                    Box::new((keys, values)),
                ))
            }
            DataType::Struct(fields) => {
                let columns = fields.iter().zip(array.as_struct().columns());
                let columns = columns
                    .map(|(field, column)| Ok((field.name().clone(), Self::new(column, name)?)));
                let columns = columns.collect::<Result<_>>()?;
                Ok(Self::Struct(Arc::clone(array), columns))
            }
            ty => {
                let sql_type = super::sql_type(ty).unwrap_or_else(SqlType::null);
                let values = super::stored(array, name)?;
                Ok(Self::Plain(values, sql_type, ty.clone()))
            }
        }
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Plain(array, ..)
            | Self::List(array, ..)
            | Self::Struct(array, _)
            | Self::Map(array, ..) => array.is_null(row),
        }
    }

    fn json(&self, row: usize) -> Json {
        if self.is_null(row) {
            return Json::Null;
        }
        match self {
            Self::Plain(array, ty, arrow) => plain(array, ty, arrow, row),
            Self::List(_, ranges, elements) => {
                let (start, end) = ranges.get(row).copied().unwrap_or_default();
                Json::Array((start..end).map(|at| elements.json(at)).collect())
            }
            Self::Struct(_, columns) => {
                let members = columns.iter();
                let members = members.map(|(name, column)| (name.clone(), column.json(row)));
                Json::Object(JsonObject::of(members.collect()))
            }
            Self::Map(_, ranges, entries) => {
                let (keys, values) = &**entries;
                let (start, end) = ranges.get(row).copied().unwrap_or_default();
                let key = |at| match keys.json(at) {
                    Json::String(text) => text,
                    other => String::from_utf8_lossy(&other.to_text()).into_owned(),
                };
                let members = (start..end).map(|at| (key(at), values.json(at)));
                Json::Object(JsonObject::of(members.collect()))
            }
        }
    }
}

/// A value that is not NULL.
fn plain(array: &ArrayRef, ty: &SqlType, arrow: &DataType, row: usize) -> Json {
    match (ty.kind, array.data_type()) {
        (TypeKind::TinyInt, _) if *arrow == DataType::Boolean => {
            Json::Bool(array.as_primitive::<Int64Type>().value(row) != 0)
        }
        (TypeKind::Float | TypeKind::Double, _) => {
            let number = array.as_primitive::<Float64Type>().value(row);
            if number.is_finite() {
                Json::Double(number)
            } else {
                Json::String(number.to_string())
            }
        }
        (TypeKind::Date | TypeKind::DateTime | TypeKind::Time, _) => {
            let value = convert::value_at(array, row);
            let text = format_value(&value, ty).unwrap_or_default();
            Json::String(String::from_utf8_lossy(&text).into_owned())
        }
        (_, DataType::Int64) => Json::Int(array.as_primitive::<Int64Type>().value(row)),
        (_, DataType::UInt64) => Json::UInt(array.as_primitive::<UInt64Type>().value(row)),
        (_, DataType::BinaryView) => {
            let bytes = array.as_binary_view().value(row);
            match std::str::from_utf8(bytes) {
                Ok(text) if !ty.is_binary_string() => Json::String(text.to_owned()),
                _ => Json::String(data_encoding::BASE64.encode(bytes)),
            }
        }
        _ => match convert::value_at(array, row) {
            Value::Decimal { unscaled, scale } => {
                Json::Decimal(mayfly_types::Decimal::new(unscaled, scale))
            }
            _ => Json::Null,
        },
    }
}
