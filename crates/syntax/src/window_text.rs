//! Text of the frames of windows as MySQL prints them in `SHOW CREATE VIEW` and in notes.

use crate::ast::{Expr, WindowFrame, WindowFrameBound, WindowFrameUnits};

/// The frame of a window, with both of its bounds; `expression` gives the text of a distance.
pub fn frame_text(frame: &WindowFrame, expression: impl Fn(&Expr) -> String) -> String {
    let bound = |bound: &WindowFrameBound| {
        let (distance, word) = match bound {
            WindowFrameBound::CurrentRow => return "CURRENT ROW".to_owned(),
            WindowFrameBound::Preceding(distance) => (distance, "PRECEDING"),
            WindowFrameBound::Following(distance) => (distance, "FOLLOWING"),
        };
        match distance.as_deref() {
            None => format!("UNBOUNDED {word}"),
            Some(Expr::Interval(interval)) => {
                let (value, unit) = (expression(&interval.value), interval.unit);
                format!("INTERVAL {value} {unit}  {word}")
            }
            Some(distance) => format!("{} {word}", expression(distance)),
        }
    };
    let unit = match frame.units {
        WindowFrameUnits::Rows => "ROWS",
        WindowFrameUnits::Range => "RANGE",
        WindowFrameUnits::Groups => "GROUPS",
    };
    let end = frame.end_bound.as_ref();
    let end = end.unwrap_or(&WindowFrameBound::CurrentRow);
    format!(
        "{unit} BETWEEN {} AND {}",
        bound(&frame.start_bound),
        bound(end)
    )
}
