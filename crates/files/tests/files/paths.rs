//! Globs, directories, keys in the names of directories, and which files may be read.

use mayfly_engine::FileAccess;

use crate::support::Files;

#[test]
fn directories_are_keys() {
    let files = Files::new();
    files
        .write("t/year=2023/code=007/a.csv", "n\n1\n")
        .write(
            "t/year=2024/code=__HIVE_DEFAULT_PARTITION__/b.csv",
            "n\n2\n",
        )
        .write("t/year=2024/code=a%2Fb/c.csv", "n\n3\n")
        .write("t/_SUCCESS", "")
        .write("t/.hidden.csv", "x\n");
    assert_eq!(
        files.rows("SELECT n, year + 1, code FROM read_csv('@/t', header => true) ORDER BY n"),
        ["1|2024|007", "2|2025|NULL", "3|2025|a/b"]
    );
    assert_eq!(
        files.rows("SELECT n FROM read_csv('@/t/**/*.csv', header => true) WHERE year = 2024 AND code IS NULL"),
        ["2"]
    );
    assert_eq!(
        files.rows(
            "SELECT * FROM read_csv('@/t', header => true, hive_partitioning => false) ORDER BY n"
        ),
        ["1", "2", "3"]
    );
    // A file of another year is not read: its content is no matter.
    files.write("t/year=2023/code=007/a.csv", "n\n1\n");
    assert_eq!(
        files.rows("SELECT SUM(n) FROM read_csv('@/t', header => true) WHERE code = 'A/B'"),
        ["3"]
    );
}

#[test]
fn only_files_below_the_directory_are_read() {
    let outside = Files::new();
    outside
        .write("secret.csv", "a,b\n1,2\n")
        .write("data/f.csv", "a,b\n3,4\n");
    let data = outside.path("data");
    let files = Files::with(|options| options.file_access = FileAccess::Directory(data.clone()));
    std::os::unix::fs::symlink(outside.path("secret.csv"), data.join("link.csv")).expect("links");
    let allowed = format!("SELECT * FROM '{}/f.csv'", data.display());
    assert_eq!(files.rows(&allowed), ["3|4"]);
    for path in [
        "secret.csv",
        "data/../secret.csv",
        "data/link.csv",
        "*.csv",
        "data/*.csv",
        "none.csv",
    ] {
        let sql = format!("SELECT * FROM '{}'", outside.path(path).display());
        let error = files.error(&sql);
        assert!(error.starts_with("1290 "), "{path}: {error}");
    }
    let none = Files::with(|options| options.file_access = FileAccess::Disabled);
    assert!(none.error(&allowed).starts_with("1290 "));
}

#[test]
fn what_is_no_file_is_refused() {
    let files = Files::new();
    files
        .write("d/x.txt", "hello")
        .write("notes.bin", "hello\0")
        .write("notes.txt", "n,t\n1,a\n")
        .write("notes", "[{\"n\": 2}]");
    assert_eq!(files.rows("SELECT n, t FROM '@/notes.txt'"), ["1|a"]);
    assert_eq!(files.rows("SELECT n FROM '@/notes'"), ["2"]);
    assert_eq!(
        files.error("SELECT * FROM '@/d'"),
        "1017 Can't find file: '@/d' (errno: 2 - No file matches)"
    );
    assert_eq!(
        files.error("SELECT * FROM '@/notes.bin'"),
        "1105 file '@/notes.bin': neither name nor content tell its format; call one of read_csv, read_json, read_parquet, read_arrow, read_excel"
    );
    assert_eq!(
        files.error("SELECT * FROM '/dev/zero'"),
        "1016 Can't open file: '/dev/zero' (errno: it is no regular file)"
    );
}

/// A program without the feature says so.
#[test]
#[cfg(not(feature = "object-stores"))]
fn urls_need_the_feature() {
    let files = Files::new();
    let expected = "1235 This version of MySQL doesn't yet support 'files named by a URL: it was built without the feature object-stores'";
    for url in [
        "s3://bucket/f.parquet",
        "s3://bucket/*.csv",
        "https://host/f.csv",
    ] {
        assert_eq!(files.error(&format!("SELECT * FROM '{url}'")), expected);
    }
    let copy = "COPY (SELECT 1 AS a) TO 's3://bucket/f.parquet'";
    assert_eq!(files.error(copy), expected);
}
