//! Connection attributes: names and values by which a client describes itself, as
//! `performance_schema.session_connect_attrs` shows them (MySQL manual, "Performance Schema Connection
//! Attribute Tables").

/// Maximum characters of a name and of a value; longer ones are truncated to the columns' width.
const NAME_CHARACTERS_MAX: usize = 32;
const VALUE_CHARACTERS_MAX: usize = 1024;

/// The attribute with the number of dropped bytes.
const TRUNCATED: &str = "_truncated";

/// Connection attributes of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ConnectAttributes {
    /// Names and values, in the client's order.
    pub(crate) kept: Vec<(String, String)>,
    /// Total bytes sent by the client.
    pub(crate) sent_bytes: u64,
    /// Bytes of dropped attributes.
    pub(crate) lost_bytes: u64,
}

impl ConnectAttributes {
    /// The attributes that fit into `bytes_max`, which is `performance_schema_session_connect_attrs_size`.
    pub(crate) fn within(bytes_max: u64, sent: &[(String, String)]) -> Self {
        let mut attributes = Self::default();
        let mut kept_bytes = 0;
        for (name, value) in sent {
            // Each text is preceded by a byte with its length.
            let bytes = (name.len() + value.len() + 2) as u64;
            attributes.sent_bytes += bytes;
            if attributes.lost_bytes > 0 || kept_bytes + bytes > bytes_max {
                attributes.lost_bytes += bytes;
                continue;
            }
            kept_bytes += bytes;
            let first = |text: &str, count| text.chars().take(count).collect();
            attributes.kept.push((
                first(name, NAME_CHARACTERS_MAX),
                first(value, VALUE_CHARACTERS_MAX),
            ));
        }
        if attributes.lost_bytes > 0 {
            let lost = attributes.lost_bytes.to_string();
            if kept_bytes + (TRUNCATED.len() + lost.len() + 2) as u64 <= bytes_max {
                attributes.kept.push((TRUNCATED.to_owned(), lost));
            }
        }
        attributes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(bytes_max: u64) -> ConnectAttributes {
        let pairs = [("_os", "Linux"), ("program_name", "reports"), ("a", "b")];
        let owned = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        ConnectAttributes::within(bytes_max, &owned)
    }

    #[test]
    fn what_does_not_fit_is_counted() {
        let all = within(512);
        assert_eq!((all.kept.len(), all.sent_bytes, all.lost_bytes), (3, 35, 0));
        let one = within(24);
        assert_eq!(one.lost_bytes, 25);
        let names: Vec<&str> = one.kept.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["_os", "_truncated"]);
        assert_eq!(one.kept[1].1, "25");
        let none = within(0);
        assert_eq!((none.kept.len(), none.lost_bytes), (0, 35));
    }

    #[test]
    fn long_texts_are_cut_as_the_columns_are() {
        let long = [("n".repeat(40), "v".repeat(2000))];
        let kept = ConnectAttributes::within(1 << 16, &long).kept;
        assert_eq!((kept[0].0.len(), kept[0].1.len()), (32, 1024));
    }
}
