//! The page of a report: one file, without script, light or dark as the reader has chosen.

use std::fmt::Write;

const CSS: &str = "\
:root{color-scheme:light dark;--ground:#fff;--ink:#1c1c1c;--line:#d0d0d0;--strong:#eef3f8}\
@media(prefers-color-scheme:dark){:root{--ground:#16181c;--ink:#ececec;--line:#3d424b;--strong:#222b36}}\
body{margin:2rem auto;max-width:62rem;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;background:var(--ground);color:var(--ink)}\
table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}\
caption{text-align:start;font-weight:600;padding:.3rem 0}\
th,td{border-bottom:1px solid var(--line);padding:.2rem .8rem;text-align:left}\
.number{text-align:right;white-space:nowrap}\
.wide{overflow-x:auto}\
tr.strong td{background:var(--strong);font-weight:600}\
pre{background:var(--strong);padding:.8rem;overflow-x:auto}\
figure{margin:1rem 0}";

/// Text escaped for HTML and XML, also for attributes. Characters that XML cannot hold become
/// U+FFFD.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(letter),
            '\0'..' ' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
    out
}

/// A page under construction. Text is escaped; only [`Page::figure`] takes markup.
#[derive(Debug)]
pub struct Page {
    title: String,
    body: String,
}

impl Page {
    /// A page with its title as heading.
    pub fn new(title: &str) -> Self {
        let heading = format!("<h1>{}</h1>\n", escape(title));
        Self {
            title: title.to_owned(),
            body: heading,
        }
    }

    /// Adds a heading below the page's own.
    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.body, "<h2>{}</h2>", escape(text));
    }

    /// A paragraph.
    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.body, "<p>{}</p>", escape(text));
    }

    /// Adds preformatted lines, such as those of an option file.
    pub fn preformatted(&mut self, text: &str) {
        let _ = writeln!(self.body, "<pre>{}</pre>", escape(text));
    }

    /// Adds a picture drawn by [`crate::svg`].
    pub fn figure(&mut self, svg: &str) {
        let _ = writeln!(self.body, "<figure>{svg}</figure>");
    }

    /// Adds a table; `strong` gives the rows to highlight.
    pub fn table(
        &mut self,
        caption: &str,
        head: &[&str],
        rows: &[Vec<String>],
        strong: impl Fn(usize) -> bool,
    ) {
        // A table that is wider than the window can be scrolled by keys.
        let caption = escape(caption);
        let _ = write!(
            self.body,
            r#"<div class="wide" role="region" tabindex="0" aria-label="{caption}"><table><caption>{caption}</caption><thead><tr>"#,
        );
        let class = |column: usize| {
            if is_numeric(rows, column) {
                r#" class="number""#
            } else {
                ""
            }
        };
        for (column, cell) in head.iter().enumerate() {
            let class = class(column);
            let _ = write!(self.body, r#"<th scope="col"{class}>{}</th>"#, escape(cell));
        }
        self.body.push_str("</tr></thead>\n<tbody>\n");
        for (index, row) in rows.iter().enumerate() {
            self.body.push_str(if strong(index) {
                r#"<tr class="strong">"#
            } else {
                "<tr>"
            });
            for (column, cell) in row.iter().enumerate() {
                let class = class(column);
                let _ = write!(self.body, "<td{class}>{}</td>", escape(cell));
            }
            self.body.push_str("</tr>\n");
        }
        self.body.push_str("</tbody></table></div>\n");
    }

    /// The whole page.
    pub fn finish(self) -> String {
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
             <title>{}</title><style>{CSS}</style></head>\n<body>\n<main>\n{}</main>\n</body></html>\n",
            escape(&self.title),
            self.body
        )
    }
}

/// Whether a column behind the first holds only numbers with their units.
fn is_numeric(rows: &[Vec<String>], column: usize) -> bool {
    const LETTERS_OF_UNIT_MAX: usize = 8;
    let is_number = |cell: &String| {
        let letters = cell.chars().filter(|letter| letter.is_alphabetic());
        let has_digit = cell.contains(|letter: char| letter.is_ascii_digit());
        cell.is_empty() || has_digit && letters.count() <= LETTERS_OF_UNIT_MAX
    };
    let mut cells = rows.iter().filter_map(|row| row.get(column));
    column > 0 && cells.all(is_number)
}
