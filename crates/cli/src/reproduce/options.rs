//! Options of `mayfly reproduce`.

use std::path::PathBuf;

use clap::Args;

use crate::access::TrustOptions;

/// Number of rows of the first article's smaller table, in the article and by default.
const ROWS: u64 = 1_000_000;
/// Number of rows with `--quick`, where only the form of the report counts.
const QUICK_ROWS: u64 = 10_000;

/// Options of `mayfly reproduce`.
#[derive(Debug, Args)]
pub(crate) struct ReproduceOptions {
    /// Only these articles, by their numbers from 0 to 4, such as 1,3.
    #[arg(long = "article", value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(0..=4))]
    articles: Vec<u8>,
    /// Rows of article 0's table; the sizes of other articles are in proportion [default: 1000000, or 10000 with
    /// --quick].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1000..=10_000_000))]
    rows: Option<u64>,
    /// Runs everything at a small size, which gives no meaningful figures.
    #[arg(long)]
    pub(crate) quick: bool,
    /// A MySQL or MariaDB on which the statements run too, in a separate database; also USER@/PATH/OF/SOCKET. MYSQL_PWD
    /// may hold the password, which others could read here.
    #[arg(long, value_name = "mysql://USER[:PASSWORD]@HOST[:PORT]/")]
    pub(crate) server: Option<String>,
    #[command(flatten)]
    pub(crate) trust: TrustOptions,
    /// Greatest time of a statement in seconds; a longer one is cancelled.
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) seconds: u64,
    /// Writes a page with tables and charts into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Writes all figures into this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
}

impl ReproduceOptions {
    /// Whether an article is selected.
    pub(crate) fn has(&self, article: u8) -> bool {
        self.articles.is_empty() || self.articles.contains(&article)
    }

    /// Rows of article 0's table.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
            .unwrap_or(if self.quick { QUICK_ROWS } else { ROWS })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::options::{Command, Options};

    fn parsed(arguments: &[&str]) -> Option<super::ReproduceOptions> {
        let all = ["mayfly", "reproduce"].iter().chain(arguments);
        match Options::try_parse_from(all).ok()?.command {
            Some(Command::Reproduce(options)) => Some(options),
            _ => None,
        }
    }

    #[test]
    fn articles_and_sizes() {
        let chosen = |arguments: &[&str]| {
            let options = parsed(arguments)?;
            let articles = (0..5).filter(|article| options.has(*article));
            Some((articles.collect::<Vec<u8>>(), options.rows()))
        };
        assert_eq!(chosen(&[]), Some((vec![0, 1, 2, 3, 4], 1_000_000)));
        assert_eq!(chosen(&["--article", "3,1"]), Some((vec![1, 3], 1_000_000)));
        assert_eq!(
            chosen(&["--article", "0", "--article", "4", "--quick"]),
            Some((vec![0, 4], 10_000))
        );
        assert_eq!(
            chosen(&["--quick", "--rows", "5000"]).map(|chosen| chosen.1),
            Some(5000)
        );
        for wrong in [
            ["--article", "5"],
            ["--article", "x"],
            ["--rows", "10"],
            ["--seconds", "0"],
        ] {
            assert!(parsed(&wrong).is_none(), "{wrong:?}");
        }
    }
}
