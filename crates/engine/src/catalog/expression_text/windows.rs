//! Windows, as SHOW CREATE VIEW prints them.

use itertools::Itertools;
use mayfly_syntax::ast::{NamedWindowDefinition, WindowSpec, WindowType};
use mayfly_syntax::printer::quoted_identifier;
use mayfly_syntax::window_text::frame_text;

use super::Printer;

impl Printer<'_> {
    /// The OVER clause.
    pub(super) fn over(self, over: &WindowType) -> String {
        match over {
            WindowType::NamedWindow(name) => format!(" OVER {}", quoted_identifier(&name.value)),
            WindowType::WindowSpec(window) => format!(" OVER ({}) ", self.window(window)),
        }
    }

    /// The WINDOW clause.
    pub(super) fn named_windows(self, windows: &[NamedWindowDefinition]) -> String {
        let mut texts = windows.iter().map(|NamedWindowDefinition(name, window)| {
            let name = quoted_identifier(&name.value);
            format!("{name} AS ({}) ", self.window(window))
        });
        texts.join(",")
    }

    fn window(self, window: &WindowSpec) -> String {
        let base = window.window_name.as_ref();
        let mut parts: Vec<String> = base
            .map(|base| quoted_identifier(&base.value))
            .into_iter()
            .collect();
        if !window.partition_by.is_empty() {
            parts.push(format!("PARTITION BY {}", self.list(&window.partition_by)));
        }
        if !window.order_by.is_empty() {
            let keys = window
                .order_by
                .iter()
                .map(|key| self.order_key(key))
                .join(",");
            parts.push(format!("ORDER BY {keys}"));
        }
        let mut text = parts.join(" ");
        if !text.is_empty() {
            text.push(' ');
        }
        if let Some(frame) = &window.window_frame {
            text += &frame_text(frame, |distance| self.expr(distance));
        }
        text
    }
}
