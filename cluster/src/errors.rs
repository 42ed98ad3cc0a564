//! Errors on their way through DataFusion.
//!
//! DataFusion and the two engines wrap errors, print them, and print them again as debug texts, so that of an error only the text
//! is certain to arrive. What the coordinator has to know is therefore part of the text, in hexadecimal digits, which no printing
//! changes.

use std::fmt::{self, Display, Formatter};

use datafusion::common::DataFusionError;
use serde::{Deserialize, Serialize};

const BEGIN: &str = "[mayfly-executor:";
const END: char = ']';

/// The failure of an executor: it cannot be reached, or no longer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The executor's address.
    pub executor: String,
    /// The stage that it ran, if that is known.
    pub stage: Option<usize>,
    /// What was noticed.
    pub cause: String,
}

impl Display for Lost {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            executor,
            stage,
            cause,
        } = self;
        write!(formatter, "executor {executor} was lost")?;
        if let Some(stage) = stage {
            write!(formatter, " in stage {stage}")?;
        }
        write!(formatter, ": {cause}")
    }
}

impl Lost {
    /// The error to hand to DataFusion.
    pub fn into_error(self) -> DataFusionError {
        let json = serde_json::to_vec(&self).unwrap_or_default();
        let digits: String = json.iter().map(|byte| format!("{byte:02x}")).collect();
        DataFusionError::Execution(format!("{self} {BEGIN}{digits}{END}"))
    }

    /// The failure in the text of an error that arrived.
    pub fn find(text: &str) -> Option<Self> {
        let (_, rest) = text.split_once(BEGIN)?;
        let (digits, _) = rest.split_once(END)?;
        let pairs = digits.as_bytes().chunks(2);
        let bytes = pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok());
        serde_json::from_slice(&bytes.collect::<Option<Vec<_>>>()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_executor_is_found_in_a_text_that_was_printed_twice() {
        let lost = Lost {
            executor: "http://10.0.0.2:7000".into(),
            stage: Some(3),
            cause: "broken \"pipe\"\n".into(),
        };
        let printed = format!(
            "{:?}",
            format!(
                "{:?}",
                DataFusionError::Shared(lost.clone().into_error().into())
            )
        );
        assert_eq!(Lost::find(&printed), Some(lost));
        assert_eq!(Lost::find("some other error [mayfly-executor:7b]"), None);
    }
}
