//! GROUP_CONCAT(x, …): the texts of the group's rows, separated; cut off at `group_concat_max_len`
//! bytes with warning 1260. Order and DISTINCT are the operator's work.

use std::ops::RangeInclusive;

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use super::state;
use crate::{
    Accumulator, AggregateFunction, AggregateSignature, Argument, EvaluationContext,
    SignatureContext, derive, input, output,
};

/// GROUP_CONCAT(); the option is its separator.
#[derive(Debug)]
pub(crate) struct GroupConcat;

/// Up to this `group_concat_max_len` the result is a VARCHAR.
const SHORT_BYTES_MAX: u64 = 512;

/// The TEXT that holds so many bytes.
fn text_kind(bytes: u64) -> TypeKind {
    match bytes {
        ..=0xFFFF => TypeKind::Text,
        0x1_0000..=0xFF_FFFF => TypeKind::MediumText,
        _ => TypeKind::LongText,
    }
}

/// How many characters MySQL foresees where there may be so many bytes.
fn foreseen_characters(bytes: u64, collation: CollationId) -> u32 {
    let characters = bytes.saturating_mul(derive::bytes_per_character(collation));
    u32::try_from(characters).unwrap_or(u32::MAX)
}

impl AggregateFunction for GroupConcat {
    fn names(&self) -> &'static [&'static str] {
        &["group_concat"]
    }

    fn arity(&self) -> RangeInclusive<usize> {
        1..=usize::MAX
    }

    fn is_order_sensitive(&self) -> bool {
        true
    }

    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<AggregateSignature> {
        let (collation, _) = derive::aggregate_collation(arguments, context, "group_concat")?;
        let bytes = context.group_concat_max_len;
        let ty = |argument: &Argument<'_>| {
            derive::with_collation(&derive::text_of(argument, context), collation)
        };
        Ok(AggregateSignature {
            arguments: arguments.iter().map(ty).collect(),
            state: Vec::new(),
            result: match u32::try_from(bytes) {
                Ok(characters) if bytes <= SHORT_BYTES_MAX => {
                    SqlType::varchar(characters, collation)
                }
                _ => SqlType {
                    length: foreseen_characters(bytes, collation),
                    ..SqlType::text(text_kind(bytes), collation)
                },
            },
            nullable: true,
        })
    }

    fn accumulator(
        &self,
        signature: &AggregateSignature,
        options: &[Value],
        context: &SignatureContext,
    ) -> Result<Box<dyn Accumulator>> {
        let separator = match options.first() {
            Some(Value::Bytes(separator)) => separator.clone(),
            _ => b",".to_vec(),
        };
        Ok(Box::new(Texts {
            separator,
            collation: signature.result.collation,
            bytes_max: usize::try_from(context.group_concat_max_len).unwrap_or(usize::MAX),
            groups: Vec::new(),
            rows: 0,
            bytes: 0,
        }))
    }
}

#[derive(Clone, Default)]
struct Group {
    /// NULL until the first row.
    text: Option<Vec<u8>>,
    is_cut: bool,
}

struct Texts {
    separator: Vec<u8>,
    collation: CollationId,
    bytes_max: usize,
    groups: Vec<Group>,
    /// Rows taken in, for the text of warning 1260.
    rows: u64,
    bytes: usize,
}

impl Accumulator for Texts {
    fn resize(&mut self, group_count: usize) {
        let group_count = group_count.max(self.groups.len());
        self.groups.resize(group_count, Group::default());
    }

    fn update(
        &mut self,
        groups: &[u32],
        arguments: &[ArrayRef],
        context: &EvaluationContext,
    ) -> Result<()> {
        let columns: Vec<_> = arguments.iter().map(state::column).collect();
        let texts: Vec<_> = columns.iter().map(input::texts).collect::<Result<_>>()?;
        for (row, group) in groups.iter().enumerate() {
            self.rows += 1;
            if texts.iter().any(|text| text.get(row).is_none()) {
                continue;
            }
            let group = &mut self.groups[*group as usize];
            if group.is_cut {
                continue;
            }
            let text = match &mut group.text {
                Some(text) => {
                    text.extend_from_slice(&self.separator);
                    text
                }
                None => group.text.insert(Vec::new()),
            };
            let before = text.len();
            for part in &texts {
                text.extend_from_slice(part.get(row).unwrap_or_default());
            }
            if text.len() > self.bytes_max {
                cut(text, self.bytes_max, self.collation);
                group.is_cut = true;
                let error = codes::ER_CUT_VALUE_GROUP_CONCAT.with(&[&self.rows]);
                context.diagnostics.warn(error);
            }
            self.bytes += text.len().saturating_sub(before);
        }
        Ok(())
    }

    fn take_result(&mut self, context: &EvaluationContext) -> Result<ArrayRef> {
        let mut groups = std::mem::take(&mut self.groups);
        self.bytes = 0;
        output::texts(groups.len(), context, |group, out| {
            let text = groups[group].text.take();
            let found = text.is_some();
            *out = text.unwrap_or_default();
            Ok(found)
        })
    }

    fn memory_bytes(&self) -> usize {
        self.bytes + self.groups.capacity() * size_of::<Group>()
    }
}

/// Cuts a text to at most `bytes_max`, between characters.
fn cut(text: &mut Vec<u8>, bytes_max: usize, collation: CollationId) {
    let mut end = bytes_max.min(text.len());
    if collation != CollationId::BINARY {
        while end > 0 && text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end -= 1;
        }
    }
    text.truncate(end);
}
