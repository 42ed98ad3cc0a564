//! Conclusions from the figures: the lines for an option file, and their reasons.

use mayfly_tuning::{
    Advice, DEFAULT_READ_BUFFER_SIZE, DEFAULT_READ_RND_BUFFER_SIZE, Setting, size_text,
};

/// The reasons, one or a few sentences for each variable.
pub(super) fn reasons(advice: &Advice) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(setting) = &advice.read_buffer_size {
        reasons.push(reason(
            "read_buffer_size",
            setting,
            DEFAULT_READ_BUFFER_SIZE,
        ));
        reasons.push(format!(
            "Each running scan has a buffer of read_buffer_size: 100 scans at once take {} of memory.",
            size_of(100 * setting.value)
        ));
        reasons.push(
            "Mayfly reads the same lines: LOAD DATA and CSV files are read read_buffer_size bytes at a time, and SET \
             SESSION read_buffer_size changes it for one session."
                .to_owned(),
        );
    }
    if let Some(setting) = &advice.read_rnd_buffer_size {
        reasons.push(reason(
            "read_rnd_buffer_size",
            setting,
            DEFAULT_READ_RND_BUFFER_SIZE,
        ));
    }
    if !reasons.is_empty() {
        reasons.push(
            "Nothing was measured for sort_buffer_size, join_buffer_size and bulk_insert_buffer_size, so nothing is \
             said of them."
                .to_owned(),
        );
    }
    reasons
}

fn reason(name: &str, setting: &Setting, default: u64) -> String {
    let (value, default) = (size_text(setting.value), size_text(default));
    let loses = |loss: f64| {
        if loss <= 0.0 {
            "cannot be told from the best size in any case".to_owned()
        } else {
            format!(
                "loses at most {:.1} % against the best size of a case",
                loss * 100.0
            )
        }
    };
    let mut text = format!(
        "{name}: {value} is the smallest size that does about as well as any: it {}.",
        loses(setting.loss)
    );
    if value == default {
        text += " It is the default.";
    } else if setting.is_default_as_good() {
        text +=
            &format!(" The default, {default}, does as well: the setting saves memory, not time.");
    } else if let (Some(loss), Some(case)) = (setting.default_loss, &setting.default_loses_in) {
        text += &format!(
            " The default, {default}, loses {:.1} % ({case}).",
            loss * 100.0
        );
    }
    text
}

/// A size as readable text.
fn size_of(bytes: u64) -> String {
    crate::units::bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_compared_with() {
        let setting = |value, loss, default_loss: f64| Setting {
            value,
            loss,
            default_loss: Some(default_loss),
            default_loses_in: (default_loss > 0.0).then(|| "a table".to_owned()),
        };
        let say = |setting| reason("read_buffer_size", &setting, 128 << 10);
        assert!(say(setting(128 << 10, 0.0, 0.0)).ends_with("in any case. It is the default."));
        assert!(say(setting(64 << 10, 0.0, 0.0)).ends_with("saves memory, not time."));
        assert_eq!(
            say(setting(1 << 20, 0.021, 0.4)),
            "read_buffer_size: 1M is the smallest size that does about as well as any: it loses at most 2.1 % against the \
             best size of a case. The default, 128K, loses 40.0 % (a table)."
        );
    }
}
