//! Functions of unsupported features, which answer as MySQL does without the feature: SOURCE_POS_WAIT() without a
//! replica, VALIDATE_PASSWORD_STRENGTH() without a policy.

use mayfly_types::Result;

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Signature, choice, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[
    // There is no replica that could reach a position.
    Row::new(
        &["source_pos_wait", "master_pos_wait"],
        2..=4,
        signature::<21>,
        |call| Ok(output::nulls(&call.signature.result, call.rows)),
    )
    .with(&[Fact::UnsafeInLogs]),
    // Without a policy no password is rated.
    Row::new(
        &["validate_password_strength"],
        1..=1,
        signature::<10>,
        |call| {
            let is_null = |row| choice::is_null(&call.arguments[0], row);
            output::ints(call.rows, |row| Ok((!is_null(row)).then_some(0)))
        },
    ),
];

/// The types of a function whose result is a BIGINT with a display width.
fn signature<const WIDTH: u32>(binding: &Binding<'_>) -> Result<Signature> {
    let types = binding.each(|argument| argument.ty.clone());
    Ok(Signature::new(types, derive::bigint_of_width(WIDTH), true))
}
