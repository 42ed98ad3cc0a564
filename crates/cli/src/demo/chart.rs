//! Bars for people.

use std::time::Duration;

/// Characters of the longest bar.
const BAR_WIDTH: f64 = 40.0;
const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A bar in proportion to the longest of its chart, padded to its width.
pub(super) fn bar(time: Duration, longest: Duration) -> String {
    let share = time.as_secs_f64() / longest.as_secs_f64().max(f64::MIN_POSITIVE);
    let eighths = (share.clamp(0.0, 1.0) * BAR_WIDTH * 8.0).round() as usize;
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8]);
    }
    let space = BAR_WIDTH as usize - bar.chars().count();
    bar + &" ".repeat(space)
}

/// A time in milliseconds.
pub(super) fn milliseconds(time: Duration) -> String {
    format!("{:9.1} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion_and_of_one_width() {
        let second = Duration::from_secs(1);
        for part in [0, 1, 500, 999, 1000] {
            let bar = bar(Duration::from_millis(part), second);
            assert_eq!(bar.chars().count(), BAR_WIDTH as usize, "{part}");
        }
        assert_eq!(bar(second, second), "█".repeat(40));
        assert_eq!(bar(second / 2, second).trim_end(), "█".repeat(20));
        assert_eq!(bar(Duration::ZERO, Duration::ZERO).trim_end(), "");
    }
}
