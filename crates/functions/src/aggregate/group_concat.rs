//! GROUP_CONCAT(x, …): the texts of the group's rows, separated, and truncated at `group_concat_max_len` bytes with
//! warning 1260. Order and DISTINCT are the operator's work.

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{CollationId, Result, SqlType, TypeKind, Value};

use super::state;
use crate::{Accumulator, AggregateSignature, Binding, EvaluationContext, derive, input, output};

/// Up to this `group_concat_max_len` the result is a VARCHAR.
const SHORT_BYTES_MAX: u64 = 512;

/// The smallest TEXT type that holds `bytes` bytes.
fn text_kind(bytes: u64) -> TypeKind {
    match bytes {
        ..=0xFFFF => TypeKind::Text,
        0x1_0000..=0xFF_FFFF => TypeKind::MediumText,
        _ => TypeKind::LongText,
    }
}

pub(super) fn signature(binding: &Binding<'_>) -> Result<AggregateSignature> {
    let (arguments, context) = (binding.arguments, binding.session);
    let (collation, _) = derive::aggregate_collation(arguments, context, binding.name)?;
    let bytes = context.group_concat_max_len;
    let text = |ty: &SqlType| derive::with_collation(ty, collation);
    let result = match u32::try_from(bytes) {
        Ok(characters) if bytes <= SHORT_BYTES_MAX => SqlType::varchar(characters, collation),
        _ => {
            // The length limit that MySQL derives from the length in bytes.
            let length = bytes.saturating_mul(derive::bytes_per_character(collation));
            SqlType {
                length: u32::try_from(length).unwrap_or(u32::MAX),
                ..SqlType::text(text_kind(bytes), collation)
            }
        }
    };
    Ok(AggregateSignature {
        arguments: binding.texts().iter().map(text).collect(),
        state: Vec::new(),
        result,
        nullable: true,
    })
}

/// The options are the separator, then optionally offset and count of LIMIT.
pub(super) fn states(
    signature: &AggregateSignature,
    options: &[Value],
) -> Result<Box<dyn Accumulator>> {
    let separator = match options.first() {
        Some(Value::Bytes(separator)) => separator.clone(),
        _ => b",".to_vec(),
    };
    Ok(Box::new(Texts {
        separator,
        collation: signature.result.collation,
        limit: match options {
            [_, Value::UInt(offset), Value::UInt(count)] => (*offset, *count),
            _ => (0, u64::MAX),
        },
        groups: Vec::new(),
        rows: 0,
        bytes: 0,
    }))
}

#[derive(Clone, Default)]
struct Group {
    /// NULL until the first row.
    text: Option<Vec<u8>>,
    is_cut: bool,
    /// Rows so far that are not NULL.
    rows: u64,
}

struct Texts {
    separator: Vec<u8>,
    collation: CollationId,
    /// (offset, count) of LIMIT, by groups.
    limit: (u64, u64),
    groups: Vec<Group>,
    /// Number of rows, for the text of warning 1260.
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
        let bytes_max = context.session.group_concat_max_len;
        let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
        let columns: Vec<_> = arguments.iter().map(state::column).collect();
        let texts: Vec<_> = columns.iter().map(input::texts).collect::<Result<_>>()?;
        for (row, group) in groups.iter().enumerate() {
            self.rows += 1;
            if texts.iter().any(|text| text.get(row).is_none()) {
                continue;
            }
            let group = &mut self.groups[*group as usize];
            let place = group.rows;
            group.rows += 1;
            let (offset, count) = self.limit;
            if place < offset || place - offset >= count {
                group.text.get_or_insert_default();
                continue;
            }
            if group.is_cut {
                continue;
            }
            let text = match &mut group.text {
                // Rows skipped before the first one have added no text.
                Some(text) if place > offset => {
                    text.extend_from_slice(&self.separator);
                    text
                }
                text => text.get_or_insert_default(),
            };
            let before = text.len();
            for part in &texts {
                text.extend_from_slice(part.get(row).unwrap_or_default());
            }
            if text.len() > bytes_max {
                cut(text, bytes_max, self.collation);
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
        output::group_texts(groups.len(), context, |group, out| {
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

/// Truncates a text to at most `bytes_max`, between characters.
fn cut(text: &mut Vec<u8>, bytes_max: usize, collation: CollationId) {
    let mut end = bytes_max.min(text.len());
    if collation != CollationId::BINARY {
        while end > 0 && text.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
            end -= 1;
        }
    }
    text.truncate(end);
}
