//! CONVERT_TZ(datetime, from, to): the same moment on another zone's clock.

use arrow_array::ArrayRef;
use mayfly_types::temporal::{MICROS_PER_SECOND, TimeZone};
use mayfly_types::{Result, SqlType, TypeKind};

use super::arguments::{self, DateTimes, Wanted, ZeroParts};
use crate::input::{self, Texts};
use crate::scalar::ScalarKernel;
use crate::{Argument, Column, EvaluationContext, Signature, SignatureContext, derive, output};

/// The last second of Unix time for which MySQL converts.
const UNIX_SECONDS_MAX: i64 = 32_536_771_199;

/// CONVERT_TZ()
#[derive(Debug)]
pub(crate) struct ConvertTz;

impl ScalarKernel for ConvertTz {
    fn signature(
        &self,
        arguments: &[Argument<'_>],
        context: &SignatureContext,
    ) -> Result<Signature> {
        let types = vec![
            arguments::datetime_type(&arguments[0], context),
            derive::text_of(&arguments[1], context),
            derive::text_of(&arguments[2], context),
        ];
        let digits = arguments::decimals_of(&arguments[0]);
        let result = SqlType::temporal(TypeKind::DateTime, digits);
        Ok(Signature::new(types, result, true))
    }

    fn evaluate(
        &self,
        arguments: &[Column],
        row_count: usize,
        signature: &Signature,
        context: &EvaluationContext,
    ) -> Result<ArrayRef> {
        let ty = &signature.arguments[0];
        let refused = ZeroParts::Refused;
        let dates = DateTimes::new(&arguments[0], ty, Wanted::DateTime, refused, context)?;
        let from = Zones::new(&arguments[1])?;
        let to = Zones::new(&arguments[2])?;
        let digits = signature.result.decimals;
        output::ints(row_count, |row| {
            let (Some(date), Some(from), Some(to)) = (dates.get(row), from.get(row), to.get(row))
            else {
                return Ok(None);
            };
            let moment = from
                .unix_of_local(date)
                .filter(|moment| (1..=UNIX_SECONDS_MAX).contains(&(moment / MICROS_PER_SECOND)));
            let converted = match moment {
                // A moment out of the range of Unix time stays as it is.
                None => Some(date),
                Some(moment) => to.local_of_unix(moment),
            };
            Ok(converted.and_then(|value| arguments::datetime_result(value, digits, context)))
        })
    }
}

/// Time zones by name; an unknown one makes the result NULL.
struct Zones<'a> {
    names: Texts<'a>,
    constant: Option<Option<TimeZone>>,
}

impl<'a> Zones<'a> {
    fn new(column: &'a Column) -> Result<Self> {
        let names = input::texts(column)?;
        let constant = names.constant().map(|name| name.and_then(zone_of));
        Ok(Self { names, constant })
    }

    fn get(&self, row: usize) -> Option<TimeZone> {
        match &self.constant {
            Some(zone) => zone.clone(),
            None => zone_of(self.names.get(row)?),
        }
    }
}

fn zone_of(name: &[u8]) -> Option<TimeZone> {
    TimeZone::parse(std::str::from_utf8(name).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, t};

    #[test]
    fn values() {
        check(&[
            (
                "convert_tz",
                &[t("2004-01-01 12:00:00"), t("UTC"), t("Europe/Berlin")],
                "2004-01-01 13:00:00",
            ),
            (
                "convert_tz",
                &[t("2004-01-01 12:00:00"), t("+00:00"), t("+10:00")],
                "2004-01-01 22:00:00",
            ),
            (
                "convert_tz",
                &[t("1960-01-01 12:00:00"), t("+00:00"), t("+10:00")],
                "1960-01-01 12:00:00",
            ),
            (
                "convert_tz",
                &[t("2004-01-01"), t("x"), t("+10:00")],
                "NULL",
            ),
        ]);
    }
}
