//! RAND() and RAND(seed): MySQL's generator, so that a seed gives the numbers of the manual.

use arrow_array::ArrayRef;
use mayfly_types::{Result, SqlType};

use crate::context::MysqlRandom;
use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::scalar::operators::numeric;
use crate::{Binding, Call, Column, Signature, input, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["rand"], 0..=1, signature, evaluate)
    .with(&[Fact::OnlyInDefaults, Fact::UnsafeInLogs])
    .volatile()];

fn signature(binding: &Binding<'_>) -> Result<Signature> {
    let result = SqlType {
        length: 23,
        ..SqlType::double()
    };
    let types = binding.each(numeric::integer_or_bigint);
    Ok(Signature::new(types, result, false))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let random = &call.context.random;
    let mut states = random.lock().unwrap_or_else(|e| e.into_inner());
    let Some(seed) = call.arguments.first() else {
        return output::floats(call.rows, |_| Ok(Some(states.session.next())));
    };
    let seeds = input::any_ints(seed)?;
    let seed_of = |row: usize| seeds.get(row).unwrap_or(0) as u64;
    if matches!(seed, Column::Array(_)) {
        // A seed that varies by row restarts the generator for each row.
        return output::floats(call.rows, |row| {
            Ok(Some(MysqlRandom::from_seed(seed_of(row)).next()))
        });
    }
    let address = std::ptr::from_ref(call.signature).addr();
    let state = states.calls.entry(address);
    let state = state.or_insert_with(|| MysqlRandom::from_seed(seed_of(0)));
    output::floats(call.rows, |_| Ok(Some(state.next())))
}
