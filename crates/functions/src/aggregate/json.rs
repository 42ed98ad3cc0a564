//! JSON_ARRAYAGG(value) and JSON_OBJECTAGG(key, value): the rows of a group as one document; NULL
//! for a group without rows.

use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::json::{Json, JsonObject};
use mayfly_types::{Result, SqlType, Value};

use super::state;
use crate::scalar::json::arguments::{self, Values};
use crate::{
    Accumulator, AggregateFunction, AggregateSignature, Argument, EvaluationContext,
    SignatureContext, derive, input, output,
};

/// JSON_ARRAYAGG()
#[derive(Debug)]
pub(crate) struct JsonArrayAgg;

impl AggregateFunction for JsonArrayAgg {
    fn names(&self) -> &'static [&'static str] {
        &["json_arrayagg"]
    }

    fn arity(&self) -> RangeInclusive<usize> {
        1..=1
    }

    fn is_order_sensitive(&self) -> bool {
        true
    }

    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<AggregateSignature> {
        Ok(AggregateSignature {
            arguments: vec![arguments::value_type(&arguments[0])],
            state: Vec::new(),
            result: SqlType::json(),
            nullable: true,
        })
    }

    fn accumulator(
        &self,
        signature: &AggregateSignature,
        _options: &[Value],
        _context: &SignatureContext,
    ) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Arrays {
            ty: signature.arguments[0].clone(),
            groups: Vec::new(),
            bytes: 0,
        }))
    }
}

/// An array for each group, without its closing bracket.
struct Arrays {
    ty: SqlType,
    groups: Vec<Vec<u8>>,
    bytes: usize,
}

impl Accumulator for Arrays {
    fn resize(&mut self, group_count: usize) {
        let group_count = group_count.max(self.groups.len());
        self.groups.resize(group_count, Vec::new());
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
        let values = Values::new(&column, &self.ty)?;
        for (row, group) in groups.iter().enumerate() {
            let text = &mut self.groups[*group as usize];
            let before = text.len();
            text.extend_from_slice(if text.is_empty() { b"[" } else { b", " });
            values.append(row, text);
            self.bytes += text.len() - before;
        }
        Ok(())
    }

    fn take_result(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        let mut groups = std::mem::take(&mut self.groups);
        self.bytes = 0;
        output::documents(groups.len(), "json_arrayagg", context, |group, out| {
            *out = std::mem::take(&mut groups[group]);
            if out.is_empty() {
                return Ok(false);
            }
            out.push(b']');
            Ok(true)
        })
    }

    fn memory_bytes(&self) -> usize {
        self.bytes + self.groups.capacity() * size_of::<Vec<u8>>()
    }
}

/// JSON_OBJECTAGG()
#[derive(Debug)]
pub(crate) struct JsonObjectAgg;

impl AggregateFunction for JsonObjectAgg {
    fn names(&self) -> &'static [&'static str] {
        &["json_objectagg"]
    }

    fn arity(&self) -> RangeInclusive<usize> {
        2..=2
    }

    fn is_order_sensitive(&self) -> bool {
        // The last of equal keys stays.
        true
    }

    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<AggregateSignature> {
        Ok(AggregateSignature {
            arguments: vec![
                derive::text_of(&arguments[0], context),
                arguments::value_type(&arguments[1]),
            ],
            state: Vec::new(),
            result: SqlType::json(),
            nullable: true,
        })
    }

    fn accumulator(
        &self,
        signature: &AggregateSignature,
        _options: &[Value],
        _context: &SignatureContext,
    ) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Objects {
            ty: signature.arguments[1].clone(),
            groups: Vec::new(),
            bytes: 0,
        }))
    }
}

/// The members of each group's object, in the order of rows.
struct Objects {
    ty: SqlType,
    groups: Vec<Vec<(String, Json)>>,
    bytes: usize,
}

impl Accumulator for Objects {
    fn resize(&mut self, group_count: usize) {
        let group_count = group_count.max(self.groups.len());
        self.groups.resize(group_count, Vec::new());
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
        let values = Values::new(&columns[1], &self.ty)?;
        for (row, group) in groups.iter().enumerate() {
            let key = keys
                .get(row)
                .ok_or_else(|| codes::ER_JSON_DOCUMENT_NULL_KEY.error())?;
            let value_bytes = values.document(row).map_or(0, |value| value.len());
            self.bytes += key.len() + value_bytes + size_of::<(String, Json)>();
            let key = String::from_utf8_lossy(key).into_owned();
            self.groups[*group as usize].push((key, values.tree(row)));
        }
        Ok(())
    }

    fn take_result(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        let mut groups = std::mem::take(&mut self.groups);
        self.bytes = 0;
        output::documents(groups.len(), "json_objectagg", context, |group, out| {
            let members = std::mem::take(&mut groups[group]);
            if members.is_empty() {
                return Ok(false);
            }
            Json::Object(JsonObject::of(members)).append_to(out);
            Ok(true)
        })
    }

    fn memory_bytes(&self) -> usize {
        self.bytes + self.groups.capacity() * size_of::<Vec<(String, Json)>>()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, BinaryViewArray};
    use mayfly_types::{CollationId, SqlType};

    use crate::testing::{context, show, signature_context};
    use crate::{AggregateFunction, Argument, Coercibility};

    fn texts(values: &[Option<&str>]) -> ArrayRef {
        let values = values.iter().map(|value| value.map(str::as_bytes));
        Arc::new(values.collect::<BinaryViewArray>())
    }

    /// The results of groups 0 and 1; the second has no rows.
    fn aggregate(function: &dyn AggregateFunction, arguments: &[ArrayRef]) -> [String; 2] {
        let ty = SqlType::varchar(10, CollationId::default());
        let argument = Argument {
            ty: &ty,
            nullable: true,
            constant: None,
            coercibility: Coercibility::Implicit,
        };
        let known = vec![argument; arguments.len()];
        let signature = function.signature(&known, &signature_context()).unwrap();
        let accumulator = function.accumulator(&signature, &[], &signature_context());
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
        let [array, none] = aggregate(&super::JsonArrayAgg, &[values]);
        assert_eq!(array, r#"["a", null, "\""]"#);
        assert_eq!(none, "NULL");
    }

    #[test]
    fn objects() {
        let keys = texts(&[Some("long"), Some("b"), Some("b")]);
        let values = texts(&[Some("1"), Some("2"), None]);
        let [object, none] = aggregate(&super::JsonObjectAgg, &[keys, values]);
        assert_eq!(object, r#"{"b": null, "long": "1"}"#);
        assert_eq!(none, "NULL");
    }
}
