//! The page's own files, which are compiled into the program.

use crate::response::Response;

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

macro_rules! file {
    ($path:literal, $kind:expr, $name:literal) => {
        ($path, $kind, include_str!(concat!("../page/", $name)))
    };
}

const FILES: &[(&str, &str, &str)] = &[
    file!("/", HTML, "index.html"),
    file!("/page/page.css", CSS, "page.css"),
    file!("/page/icon.svg", SVG, "icon.svg"),
    file!("/page/main.js", SCRIPT, "main.js"),
    file!("/page/server.js", SCRIPT, "server.js"),
    file!("/page/elements.js", SCRIPT, "elements.js"),
    file!("/page/format.js", SCRIPT, "format.js"),
    file!("/page/table.js", SCRIPT, "table.js"),
    file!("/page/chart.js", SCRIPT, "chart.js"),
    file!("/page/plan.js", SCRIPT, "plan.js"),
    file!("/page/now.js", SCRIPT, "now.js"),
    file!("/page/statements.js", SCRIPT, "statements.js"),
    file!("/page/findings.js", SCRIPT, "findings.js"),
    file!("/page/explain.js", SCRIPT, "explain.js"),
    file!("/page/settings.js", SCRIPT, "settings.js"),
];

/// The file at a path.
pub(crate) fn find(path: &str) -> Option<Response> {
    let (_, kind, text) = FILES.iter().find(|(own, ..)| *own == path)?;
    Some(Response::new(kind, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_small_and_needs_nothing_from_elsewhere() {
        let bytes: usize = FILES.iter().map(|(.., text)| text.len()).sum();
        assert!(bytes < 150 << 10, "{bytes} bytes");
        for (path, _, text) in FILES {
            for address in ["https://", "http://", "@import", "innerHTML"] {
                // The name of a namespace is not an address.
                let names = text.matches("http://www.w3.org/").count();
                let known = if address == "http://" { names } else { 0 };
                assert_eq!(text.matches(address).count(), known, "{path}: {address}");
            }
            for part in text.split(['"', '\'']) {
                let part = part.replacen("./", "/page/", usize::from(part.starts_with("./")));
                if part.starts_with("/page/") {
                    assert!(find(&part).is_some(), "{path} uses {part}");
                }
            }
        }
    }
}
