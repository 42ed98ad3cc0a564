//! JSON_ARRAYAGG(value) and JSON_OBJECTAGG(key, value): the rows of a group as one document; NULL
//! for a group without rows.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::{Json, JsonObject};
use mayfly_types::{Result, SqlType};

use super::state;
use crate::scalar::json::arguments::{self, Values};
use crate::{Accumulator, AggregateSignature, Binding, EvaluationContext, input, output};

fn signature(arguments: Vec<SqlType>) -> AggregateSignature {
    AggregateSignature {
        arguments,
        state: Vec::new(),
        result: SqlType::json(),
        nullable: true,
    }
}

pub(super) fn array_signature(binding: &Binding<'_>) -> Result<AggregateSignature> {
    Ok(signature(binding.each(arguments::value_type)))
}

pub(super) fn arrays(signature: &AggregateSignature) -> Result<Box<dyn Accumulator>> {
    Ok(Box::new(Arrays(Collected::new(&signature.arguments[0]))))
}

/// Values of a type that are collected for each group, as lists of `T`.
struct Collected<T> {
    ty: SqlType,
    groups: Vec<Vec<T>>,
    /// Bytes of the lists.
    bytes: usize,
}

impl<T> Collected<T> {
    fn new(ty: &SqlType) -> Self {
        Self {
            ty: ty.clone(),
            groups: Vec::new(),
            bytes: 0,
        }
    }

    fn resize(&mut self, group_count: usize) {
        let group_count = group_count.max(self.groups.len());
        self.groups.resize_with(group_count, Vec::new);
    }

    fn take(&mut self) -> Vec<Vec<T>> {
        self.bytes = 0;
        std::mem::take(&mut self.groups)
    }

    fn memory_bytes(&self) -> usize {
        self.bytes + self.groups.capacity() * size_of::<Vec<T>>()
    }
}

/// An array for each group, without its closing bracket.
struct Arrays(Collected<u8>);

impl Accumulator for Arrays {
    fn resize(&mut self, group_count: usize) {
        self.0.resize(group_count);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let [array] = arguments else {
            return Err(super::mismatch("json_arrayagg"));
        };
        let column = state::column(array);
        let values = Values::of_column(&column, &self.0.ty)?;
        for (row, group) in groups.iter().enumerate() {
            let text = &mut self.0.groups[*group as usize];
            let before = text.len();
            text.extend_from_slice(if text.is_empty() { b"[" } else { b", " });
            values.append(row, text);
            self.0.bytes += text.len() - before;
        }
        Ok(())
    }

    fn take_result(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        let mut groups = self.0.take();
        output::group_documents(groups.len(), "json_arrayagg", context, |group, out| {
            *out = std::mem::take(&mut groups[group]);
            if out.is_empty() {
                return Ok(false);
            }
            out.push(b']');
            Ok(true)
        })
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

pub(super) fn object_signature(binding: &Binding<'_>) -> Result<AggregateSignature> {
    let value = arguments::value_type(&binding.arguments[1]);
    Ok(signature(vec![binding.text(0), value]))
}

pub(super) fn objects(signature: &AggregateSignature) -> Result<Box<dyn Accumulator>> {
    Ok(Box::new(Objects(Collected::new(&signature.arguments[1]))))
}

/// The members of each group's object, in the order of rows.
struct Objects(Collected<(String, Json)>);

impl Accumulator for Objects {
    fn resize(&mut self, group_count: usize) {
        self.0.resize(group_count);
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        _context: &EvaluationContext,
    ) -> Result<()> {
        let [keys, values] = arguments else {
            return Err(super::mismatch("json_objectagg"));
        };
        let columns = [state::column(keys), state::column(values)];
        let keys = input::texts(&columns[0])?;
        let values = Values::of_column(&columns[1], &self.0.ty)?;
        for (row, group) in groups.iter().enumerate() {
            let key = keys
                .get(row)
                .ok_or_else(|| codes::ER_JSON_DOCUMENT_NULL_KEY.error())?;
            let value_bytes = values.document(row).map_or(0, |value| value.len());
            self.0.bytes += key.len() + value_bytes + size_of::<(String, Json)>();
            let key = String::from_utf8_lossy(key).into_owned();
            self.0.groups[*group as usize].push((key, values.tree(row)));
        }
        Ok(())
    }

    fn take_result(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        let mut groups = self.0.take();
        output::group_documents(groups.len(), "json_objectagg", context, |group, out| {
            let members = std::mem::take(&mut groups[group]);
            if members.is_empty() {
                return Ok(false);
            }
            Json::Object(JsonObject::of(members)).append_to(out);
            Ok(true)
        })
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BinaryViewArray};
    use mayfly_types::{CollationId, SqlType};

    use crate::aggregate::by_name;
    use crate::testing::{context, session, show};
    use crate::{Argument, Coercibility};

    fn texts(values: &[Option<&str>]) -> ArrayRef {
        let values = values.iter().map(|value| value.map(str::as_bytes));
        Arc::new(values.collect::<BinaryViewArray>())
    }

    /// The results of groups 0 and 1; the second has no rows.
    fn aggregate(name: &str, arguments: &[ArrayRef]) -> [String; 2] {
        let ty = SqlType::varchar(10, CollationId::default());
        let argument = Argument {
            ty: &ty,
            nullable: true,
            constant: None,
            coercibility: Coercibility::Implicit,
            mixes_integers: false,
        };
        let known = vec![argument; arguments.len()];
        let function = by_name(name).unwrap();
        let signature = function.signature(&known, &session()).unwrap();
        let accumulator = function.accumulator(&signature, &[]);
        let mut accumulator = accumulator.unwrap();
        accumulator.resize(2);
        let groups = vec![0; arguments[0].len()];
        accumulator.update(&groups, arguments, &context()).unwrap();
        assert!(accumulator.memory_bytes() > 0);
        let result = accumulator.take_result(&context()).unwrap();
        [0, 1].map(|row| show(&result, &signature.result, row))
    }

    #[test]
    fn arrays() {
        let values = texts(&[Some("a"), None, Some("\"")]);
        let [array, none] = aggregate("json_arrayagg", &[values]);
        assert_eq!(array, r#"["a", null, "\""]"#);
        assert_eq!(none, "NULL");
    }

    #[test]
    fn objects() {
        let keys = texts(&[Some("long"), Some("b"), Some("b")]);
        let values = texts(&[Some("1"), Some("2"), None]);
        let [object, none] = aggregate("json_objectagg", &[keys, values]);
        assert_eq!(object, r#"{"b": null, "long": "1"}"#);
        assert_eq!(none, "NULL");
    }
}
