//! `innodb_temp_data_file_path`: the files of temporary tables, with their initial and maximum sizes (manual: The
//! Temporary Tablespace).
//!
//! `name:size[:autoextend[:max:size]]`, several separated by `;`; only the last may grow. A directory before the
//! first name applies to all.

use std::path::PathBuf;

use mayfly_memory::budget::UNLIMITED;
use mayfly_memory::{TempSpaceOptions, TierOptions};
use mayfly_types::error::codes;
use mayfly_types::{Error, Result};

/// The variable.
pub(crate) const SETTING: &str = "innodb_temp_data_file_path";

/// Temporary space as the variable describes it, in the directories of `tmpdir` unless it names another one.
pub(crate) fn options(
    text: &str,
    tiers: Vec<TierOptions>,
    lanes: usize,
    idle_limit: u64,
) -> Result<TempSpaceOptions> {
    let wrong = || -> Error { codes::ER_WRONG_VALUE_FOR_VAR.with(&[&SETTING, &text]) };
    parse(text, tiers, lanes, idle_limit).ok_or_else(wrong)
}

fn parse(
    text: &str,
    tiers: Vec<TierOptions>,
    lanes: usize,
    idle_limit: u64,
) -> Option<TempSpaceOptions> {
    let first = tiers.first()?.directory.clone();
    let mut options = TempSpaceOptions {
        limit: 0,
        limit_setting: SETTING,
        tiers,
        ..TempSpaceOptions::new(first, lanes, idle_limit)
    };
    let mut may_grow = false;
    for file in text.split(';') {
        if may_grow {
            return None;
        }
        let mut parts = file.trim().split(':').map(str::trim);
        let path = PathBuf::from(parts.next()?);
        let name = path.file_name()?.to_str()?.to_owned();
        if let Some(directory) = path.parent()
            && options.names.is_empty()
            && !directory.as_os_str().is_empty()
        {
            if directory.is_absolute() {
                options.tiers = vec![TierOptions::new(directory.to_path_buf())];
            } else {
                for tier in &mut options.tiers {
                    tier.directory.push(directory);
                }
            }
        }
        let size = bytes(parts.next()?)?;
        let most = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (None, ..) => size,
            (Some(word), rest, most, None) if word.eq_ignore_ascii_case("autoextend") => {
                may_grow = true;
                match (rest, most) {
                    (None, _) => UNLIMITED,
                    (Some(word), Some(most)) if word.eq_ignore_ascii_case("max") => {
                        bytes(most).filter(|most| *most >= size)?
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        if options.names.contains(&name) {
            return None;
        }
        options.names.push(name);
        options.initial = options.initial.checked_add(size)?;
        options.limit = options.limit.saturating_add(most);
    }
    Some(options)
}

/// A size with K, M, G or T.
pub(crate) fn bytes(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit: u64 = match text[digits.len()..].to_ascii_uppercase().as_str() {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return None,
    };
    digits
        .parse::<u64>()
        .ok()?
        .checked_mul(unit)
        .filter(|size| *size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn parsed(text: &str) -> Option<TempSpaceOptions> {
        parse(text, vec![TierOptions::new(PathBuf::from("/tmp"))], 2, 0)
    }

    #[test]
    fn files_with_their_sizes() {
        let two = "/fast/a:1G; b:512K:autoextend:max:1g";
        for (text, names, initial, limit, directory) in [
            (
                "ibtmp1:12M:autoextend",
                "ibtmp1",
                12 << 20,
                UNLIMITED,
                "/tmp",
            ),
            (
                "ibtmp1:12M:autoextend:max:500M",
                "ibtmp1",
                12 << 20,
                500 << 20,
                "/tmp",
            ),
            (two, "a b", (1 << 30) + (512 << 10), 2 << 30, "/fast"),
            ("a:100", "a", 100, 100, "/tmp"),
            ("sub/a:100", "a", 100, 100, "/tmp/sub"),
        ] {
            let options = parsed(text).expect("well formed");
            assert_eq!(options.names.join(" "), names);
            assert_eq!((options.initial, options.limit), (initial, limit));
            assert_eq!(options.tiers[0].directory, Path::new(directory));
        }
    }

    #[test]
    fn what_is_no_list_of_files_is_refused() {
        for text in [
            "",
            "ibtmp1",
            "ibtmp1:12",
            "ibtmp1:12Q",
            "ibtmp1:0",
            "ibtmp1:12M:grow",
            "ibtmp1:12M:autoextend:max",
            "ibtmp1:12M:autoextend:max:1M",
            "ibtmp1:12M:autoextend:max:1G:more",
            "a:1M:autoextend;b:1M",
            "a:1M;a:1M",
        ] {
            let expected = text == "ibtmp1:12";
            assert_eq!(parsed(text).is_some(), expected, "{text}");
        }
    }
}
