//! RAND() and RAND(seed): MySQL's own generator, so that a seed gives the numbers of the manual.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::context::MysqlRandom;
use crate::scalar::ScalarKernel;
use crate::scalar::operators::numeric;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, input, output};

/// RAND()
#[derive(Debug)]
pub(crate) struct Rand;

impl ScalarKernel for Rand {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        _context: &SignatureContext,
    ) -> Result<Signature> {
        let types = arguments.iter().map(|argument| {
            if numeric::is_integer(argument.ty) {
                numeric::integer_argument(argument.ty)
            } else {
                SqlType::bigint()
            }
        });
        Ok(Signature::new(
            types.collect(),
            SqlType {
                length: 23,
                ..SqlType::double()
            },
            false,
        ))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let mut states = context.random.lock().unwrap_or_else(|e| e.into_inner());
        let Some(seed) = arguments.first() else {
            return output::floats(row_count, |_| Ok(Some(states.session.next())));
        };
        let seeds = input::any_ints(seed)?;
        let seed_of = |row: usize| seeds.get(row).unwrap_or(0) as u64;
        if matches!(seed, Column::Array(_)) {
            // A seed that changes from row to row starts over each time.
            return output::floats(row_count, |row| {
                Ok(Some(MysqlRandom::from_seed(seed_of(row)).next()))
            });
        }
        let call = std::ptr::from_ref(signature).addr();
        let state = states
            .calls
            .entry(call)
            .or_insert_with(|| MysqlRandom::from_seed(seed_of(0)));
        output::floats(row_count, |_| Ok(Some(state.next())))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, i};

    #[test]
    fn values() {
        check(&[
            ("rand", &[i(3)], "0.9057697559760601"),
            ("rand", &[i(1)], "0.40540353712197724"),
        ]);
    }
}
