//! SLEEP(seconds): 0, or 1 when the statement was interrupted.

use std::time::{Duration, Instant};

use arrow_array::ArrayRef;
use mayfly_types::error::codes;
use mayfly_types::{Result, SqlType, Stage};

use crate::scalar::Row;
use crate::scalar::facts::Fact;
use crate::{Binding, Call, EvaluationContext, Signature, derive, output};

pub(crate) const FUNCTIONS: &[Row] = &[Row::new(&["sleep"], 1..=1, signature, evaluate)
    .with(&[Fact::NotInDefinitions, Fact::UnsafeInLogs])
    .volatile()];

/// Interval at which a sleeping statement checks for interruption.
const LONGEST_NAP: Duration = Duration::from_millis(20);

fn signature(_binding: &Binding<'_>) -> Result<Signature> {
    let (types, result) = (vec![SqlType::double()], derive::bigint_of_width(21));
    Ok(Signature::new(types, result, false))
}

fn evaluate(call: &Call<'_>) -> Result<ArrayRef> {
    let seconds = call.floats(0)?;
    output::ints(call.rows, |row| {
        let duration = seconds
            .get(row)
            .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            .ok_or_else(|| codes::ER_WRONG_ARGUMENTS.with(&[&"sleep."]))?;
        Ok(Some(i64::from(!sleep(duration, call.context))))
    })
}

/// Sleeps; returns whether the whole time passed.
fn sleep(duration: Duration, context: &EvaluationContext) -> bool {
    let begun = Instant::now();
    let stages = context.interrupt.stages();
    let _stage = (!duration.is_zero()).then(|| stages.within(Stage::UserSleep));
    loop {
        if context.is_interrupted() {
            return false;
        }
        match duration.checked_sub(begun.elapsed()) {
            Some(rest) if !rest.is_zero() => std::thread::sleep(rest.min(LONGEST_NAP)),
            _ => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::testing::{NULL, check, context, f};

    #[test]
    fn values() {
        let wrong = "ERROR 1210 (HY000): Incorrect arguments to sleep.";
        check(&[
            ("sleep", &[f(0.001)], "0"),
            ("sleep", &[NULL], wrong),
            ("sleep", &[f(-1.0)], wrong),
        ]);
    }

    #[test]
    fn a_kill_ends_it() {
        let context = context();
        context.interrupt.kill();
        assert!(!super::sleep(Duration::from_secs(3600), &context));
    }
}
