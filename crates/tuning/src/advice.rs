//! Advice from all cases together: one value for `read_buffer_size`, which serves all kinds of scans.
//!
//! The loss of a size is its greatest loss against the best size of a case, over all cases. The advice is the smallest
//! size whose loss is at most a hundredth above the least loss of all sizes.

use crate::choice::LEAST_DIFFERENCE;
use crate::measure::{CaseReport, Report};
use crate::sizes::size_text;

/// MySQL's default.
pub const DEFAULT_READ_BUFFER_SIZE: u64 = 128 << 10;
/// MySQL's default.
pub const DEFAULT_READ_RND_BUFFER_SIZE: u64 = 256 << 10;

/// Advised value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The value.
    pub value: u64,
    /// Its greatest loss against the best size of a case, as a share.
    pub loss: f64,
    /// The loss of the default value, if it was measured.
    pub default_loss: Option<f64>,
    /// The case in which the default loses most, if it loses anywhere.
    pub default_loses_in: Option<String>,
}

impl Setting {
    /// Whether the default is as good.
    pub fn is_default_as_good(&self) -> bool {
        self.default_loss
            .is_some_and(|loss| loss <= self.loss + LEAST_DIFFERENCE)
    }
}

/// Advised lines of an option file.
#[derive(Debug, Clone, PartialEq)]
pub struct Advice {
    /// Advice from the cases of scans.
    pub read_buffer_size: Option<Setting>,
    /// Advice from the case of positions.
    pub read_rnd_buffer_size: Option<Setting>,
}

impl Advice {
    /// The advice from a report; `None` for a variable that no case measured.
    pub fn of(report: &Report) -> Self {
        let setting = |default, is_sequential| {
            let cases = report
                .cases
                .iter()
                .filter(|it| it.case.is_sequential() == is_sequential);
            setting(&report.sizes, default, cases)
        };
        Self {
            read_buffer_size: setting(DEFAULT_READ_BUFFER_SIZE, true),
            read_rnd_buffer_size: setting(DEFAULT_READ_RND_BUFFER_SIZE, false),
        }
    }

    /// The lines for an option file; empty if nothing was measured.
    pub fn option_file(&self) -> String {
        let named = [
            ("read_buffer_size", &self.read_buffer_size),
            ("read_rnd_buffer_size", &self.read_rnd_buffer_size),
        ];
        let lines = named.into_iter().filter_map(|(name, setting)| {
            let value = size_text(setting.as_ref()?.value);
            Some(format!("{name} = {value}\n"))
        });
        let lines: String = lines.collect();
        if lines.is_empty() {
            lines
        } else {
            format!("[mysqld]\n{lines}")
        }
    }
}

fn setting<'r>(
    sizes: &[u64],
    default: u64,
    cases: impl Iterator<Item = &'r CaseReport>,
) -> Option<Setting> {
    let measured: Vec<_> = cases
        .filter_map(|it| Some((&it.case, it.measured()?.1)))
        .collect();
    if measured.is_empty() {
        return None;
    }
    // For each size its greatest loss, and the case of that loss. A size that a case lacks is not advised.
    let losses: Vec<Option<(f64, &str)>> = (0..sizes.len())
        .map(|size| {
            let mut greatest = (0.0, "");
            for (case, choice) in &measured {
                let excess = choice.excess(size)?;
                let loss = if choice.is_as_good[size] { 0.0 } else { excess };
                if loss > greatest.0 {
                    greatest = (loss, case.title.as_str());
                }
            }
            Some(greatest)
        })
        .collect();
    let least = losses
        .iter()
        .flatten()
        .map(|(loss, _)| *loss)
        .fold(f64::MAX, f64::min);
    let is_good =
        |loss: &Option<(f64, &str)>| loss.is_some_and(|(loss, _)| loss <= least + LEAST_DIFFERENCE);
    let chosen = losses.iter().position(is_good)?;
    let of_default = sizes
        .iter()
        .position(|size| *size == default)
        .and_then(|at| losses[at]);
    Some(Setting {
        value: sizes[chosen],
        loss: losses[chosen].map_or(0.0, |(loss, _)| loss),
        default_loss: of_default.map(|(loss, _)| loss),
        default_loses_in: of_default
            .filter(|(loss, _)| *loss > 0.0)
            .map(|(_, case)| case.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::choice::Choice;
    use crate::measure::{Measured, Outcome};

    fn report(cases: &[(&str, &[f64])]) -> Report {
        let report = |(name, times): &(&str, &[f64])| {
            let rounds = vec![times.iter().map(|time| Some(*time)).collect::<Vec<_>>(); 5];
            let case = Case::all(2).into_iter().find(|case| case.name == *name);
            CaseReport {
                case: case.expect("there is such a case"),
                outcome: Outcome::Measured(Measured {
                    bytes: 1,
                    choice: Choice::of(&rounds).expect("it is measured"),
                    rounds,
                }),
            }
        };
        Report {
            sizes: vec![64 << 10, 128 << 10, 256 << 10],
            cases: cases.iter().map(report).collect(),
            was_stopped: false,
        }
    }

    #[test]
    fn the_value_loses_least_where_it_loses_most() {
        // 64K loses 30 % in one case, 256K 20 % in the other, 128K 10 % and 5.5 %.
        let report = report(&[("cached", &[1.0, 1.1, 1.2]), ("disk", &[1.3, 1.055, 1.0])]);
        let advice = Advice::of(&report);
        let setting = advice.read_buffer_size.clone().expect("it is measured");
        assert_eq!(setting.value, 128 << 10);
        assert!((setting.loss - 0.1).abs() < 1e-9 && setting.is_default_as_good());
        assert_eq!(
            setting.default_loses_in.as_deref(),
            Some("a table in the cache, one scanner")
        );
        assert_eq!(advice.option_file(), "[mysqld]\nread_buffer_size = 128K\n");
    }

    #[test]
    fn of_equals_the_smallest_and_the_default_is_said_to_be_as_good() {
        let advice = Advice::of(&report(&[("cached", &[1.0, 1.005, 1.0])]));
        let setting = advice.read_buffer_size.expect("it is measured");
        assert_eq!((setting.value, setting.loss), (64 << 10, 0.0));
        assert!(setting.is_default_as_good() && setting.default_loses_in.is_none());
    }

    #[test]
    fn each_variable_has_its_own_cases() {
        let advice = Advice::of(&report(&[("positions", &[3.0, 2.0, 1.0])]));
        assert_eq!(advice.read_buffer_size, None);
        assert_eq!(
            advice.option_file(),
            "[mysqld]\nread_rnd_buffer_size = 256K\n"
        );
        let nothing = Advice::of(&report(&[]));
        assert_eq!(nothing.option_file(), "");
    }
}
