//! The published figures of the five articles, as tables.

/// An article.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Article {
    /// Its number for `--article`.
    pub(super) number: u8,
    pub(super) title: &'static str,
    pub(super) year: u16,
    /// Subject of its measurements, and the machine.
    pub(super) subject: &'static str,
}

/// The articles, by their numbers.
pub(super) const ARTICLES: [Article; 5] = [
    Article {
        number: 0,
        title: "How much overhead is caused by on disk temporary tables",
        year: 2007,
        subject: "MySQL 5.0.45, Pentium 4",
    },
    Article {
        number: 1,
        title: "Back on disk temporary tables",
        year: 2011,
        subject: "MariaDB 5.3",
    },
    Article {
        number: 2,
        title: "InnoDB Temporary Tables just got faster",
        year: 2014,
        subject: "MySQL 5.7 beside 5.6",
    },
    Article {
        number: 3,
        title: "MySQL 8.0: Support for BLOBs in TempTable engine",
        year: 2019,
        subject: "MySQL 8.0, i5-4690K and two Xeon E5-2699 v4",
    },
    Article {
        number: 4,
        title: "MySQL: what read_buffer_size value is optimal?",
        year: 2007,
        subject: "MySQL 5.1.21, two Xeons, two drives in RAID 0",
    },
];

/// Article 0: seconds of the grouping, by millions of rows and location of the temporary table.
pub(super) mod grouping {
    pub(in super::super) const MEMORY: f64 = 3.88;
    pub(in super::super) const MYISAM_LARGE_KEY_BUFFER: f64 = 34.47;
    /// Nine minutes and 5.40 seconds.
    pub(in super::super) const MYISAM: f64 = 9.0 * 60.0 + 5.40;
    pub(in super::super) const MEMORY_4M: f64 = 16.41;
    /// 27 minutes and 5.51 seconds.
    pub(in super::super) const MYISAM_4M: f64 = 27.0 * 60.0 + 5.51;
}

/// Article 1: number of queries of two clients together.
pub(super) const QUERIES: u64 = 100_000;
pub(super) const DERIVED_MERGE_OFF: f64 = 137.111;
pub(super) const DERIVED_MERGE_ON: f64 = 14.540;

/// Article 1: stages of the statement and their seconds in MariaDB and in MySQL.
pub(super) const STAGES: [(&str, f64, f64); 17] = [
    ("cleaning up", 0.000_004, 0.000_004),
    ("closing tables", 0.000_008, 0.000_028),
    ("executing", 0.000_034, 0.000_036),
    ("freeing items", 0.000_030, 0.000_030),
    ("init", 0.000_118, 0.000_019),
    ("logging slow query", 0.000_003, 0.000_003),
    ("Opening tables", 0.000_049, 0.000_154),
    ("optimizing", 0.000_061, 0.000_042),
    ("preparing", 0.000_085, 0.000_050),
    ("query end", 0.000_003, 0.000_005),
    ("removing tmp table", 0.000_081, 0.000_058),
    ("Sending data", 0.000_681, 0.000_609),
    ("Sorting result", 0.000_264, 0.000_031),
    ("starting", 0.000_165, 0.000_148),
    ("statistics", 0.000_365, 0.000_794),
    ("System lock", 0.000_014, 0.000_008),
    ("Table lock", 0.000_015, 0.000_308),
];

/// Article 2: speed of 5.7 relative to 5.6.
pub(super) const CREATE_DROP_GAIN: &str = "about 11 ×";
pub(super) const CHANGE_GAIN: &str = "2–4 ×";

/// Article 3: numbers of threads of the JSON workloads.
pub(super) const JSON_THREADS: [usize; 3] = [16, 32, 64];

/// A JSON workload of article 3: the gain in per cent at each number of threads.
#[derive(Debug)]
pub(super) struct JsonGain {
    pub(super) name: &'static str,
    /// Gain on the large machine.
    pub(super) large: [f64; 3],
    /// Gain on the machine with Windows.
    pub(super) windows: [f64; 3],
}

/// Article 3: the JSON workloads.
pub(super) const JSON: [JsonGain; 3] = [
    JsonGain {
        name: "JSON_SQL_RW",
        large: [33.72, 47.63, 71.21],
        windows: [31.55, 41.30, 48.88],
    },
    JsonGain {
        name: "JSON_SQL_RO",
        large: [89.51, 127.69, 215.08],
        windows: [42.85, 41.09, 45.33],
    },
    JsonGain {
        name: "JSON_SQL_DISTINCT_RANGE",
        large: [388.31, 530.95, 791.24],
        windows: [107.27, 96.39, 95.67],
    },
];

/// A query of article 3's own test: seconds in each engine, and the gain in per cent of the slower one's time.
#[derive(Debug)]
pub(super) struct BlobQuery {
    pub(super) name: &'static str,
    pub(super) temptable: f64,
    pub(super) innodb: f64,
    pub(super) gain: f64,
}

const fn blob(name: &'static str, temptable: f64, innodb: f64, gain: f64) -> BlobQuery {
    BlobQuery {
        name,
        temptable,
        innodb,
        gain,
    }
}

/// Article 3: the queries of its own test.
pub(super) const BLOB_QUERIES: [BlobQuery; 7] = [
    blob("DISTINCT, repeating values", 16.75, 17.10, 2.02),
    blob("GROUP BY, repeating values", 3.04, 3.30, 7.68),
    blob("GROUP BY, repeating values (second)", 4.67, 4.94, 5.50),
    blob("DISTINCT, unique values", 3.40, 8.43, 59.66),
    blob(
        "GROUP BY, unique values, substring repeating",
        1.58,
        2.57,
        38.62,
    ),
    blob(
        "GROUP BY, unique values, substring repeating (second)",
        2.16,
        3.70,
        41.78,
    ),
    blob("JOIN", 35.46, 37.98, 6.64),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_stand_at_their_numbers() {
        for (index, article) in ARTICLES.iter().enumerate() {
            assert_eq!(usize::from(article.number), index);
        }
    }

    #[test]
    fn a_larger_key_buffer_was_fifteen_times_faster_and_memory_a_hundred_times() {
        let gain = grouping::MYISAM / grouping::MYISAM_LARGE_KEY_BUFFER;
        assert!((15.0..16.0).contains(&gain), "{gain}");
        let gain = grouping::MYISAM_4M / grouping::MEMORY_4M;
        assert!((95.0..105.0).contains(&gain), "{gain}");
    }

    #[test]
    fn stages_differ_by_what_the_article_prints() {
        // Microseconds of its column of differences.
        let differences = [
            0, -20, -2, 0, 99, 0, -105, 19, 35, -2, 23, 72, 233, 17, -429, 6, -293,
        ];
        for ((stage, mariadb, mysql), expected) in STAGES.iter().zip(differences) {
            let found = ((mariadb - mysql) * 1e6).round();
            assert_eq!(found, f64::from(expected), "{stage}");
        }
    }

    #[test]
    fn gains_of_queries_are_those_of_their_times() {
        for query in &BLOB_QUERIES {
            let gain = (1.0 - query.temptable / query.innodb) * 100.0;
            assert!((gain - query.gain).abs() < 0.3, "{query:?}: {gain}");
        }
    }
}
