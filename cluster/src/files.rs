//! Files that are tables without a load: which ones the processes of a cluster may read, under which names, and their rows.
//!
//! A process reads below its directory of data, and below the URLs that it was started with. The coordinator names a file by
//! its path below the directory, so that each process may see the directory elsewhere.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use mayfly_engine::{Database, DatabaseOptions, FileAccess, FileRows, url_scheme};
use mayfly_offload::{Job, OpenRows, Place, Share, TableCall, TableInput};
use mayfly_types::error::codes;
use mayfly_types::{Error, Interrupt, Result};

use crate::data::DataPlace;

/// Files that may be read.
#[derive(Debug, Clone)]
pub struct FileRoots {
    /// The directory of data, without links; `None` if the place of data is a URL.
    data: Option<PathBuf>,
    /// Beginnings of URLs.
    urls: Vec<String>,
}

impl FileRoots {
    /// The files of the place of data, and the objects below URLs.
    ///
    /// # Errors
    /// The reason why the place cannot be used.
    pub fn new(data: &DataPlace, urls: &[String]) -> std::result::Result<Self, String> {
        let with_slash = |url: &String| format!("{}/", url.trim_end_matches('/'));
        let mut urls: Vec<String> = urls.iter().map(with_slash).collect();
        let data = match data {
            DataPlace::Directory(path) => {
                let path = path.canonicalize();
                Some(path.map_err(|error| format!("{data}: {error}"))?)
            }
            DataPlace::Url(url) => {
                urls.push(with_slash(url));
                None
            }
        };
        Ok(Self { data, urls })
    }

    /// The name of a file for other processes; `None` for one that must not be read.
    fn shared(&self, file: &str) -> Option<String> {
        if url_scheme(file).is_some() {
            let may_read = self.urls.iter().any(|root| file.starts_with(root.as_str()));
            return may_read.then(|| file.to_owned());
        }
        let path = Path::new(file).canonicalize().ok()?;
        let below = path.strip_prefix(self.data.as_ref()?).ok()?;
        Some(below.to_str()?.to_owned())
    }

    /// The file of a name.
    fn own(&self, name: &str) -> Option<String> {
        if url_scheme(name).is_some() {
            return self.shared(name);
        }
        let path = Path::new(name);
        let is_below = path
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let data = self.data.as_ref().filter(|_| is_below)?;
        Some(data.join(path).to_string_lossy().into_owned())
    }

    /// A call with the names of its files for other processes; `None` if one must not be read.
    pub fn call(&self, mut call: TableCall) -> Option<TableCall> {
        let files = call.files.iter().map(|file| self.shared(file));
        call.files = files.collect::<Option<_>>()?;
        Some(call)
    }
}

/// What reads files in a process.
#[derive(Debug, Clone)]
pub struct FileReader {
    roots: FileRoots,
    database: Arc<Database>,
}

impl FileReader {
    /// A reader of the files of `roots` that holds at most `memory` bytes of them.
    pub fn open(roots: FileRoots, memory: u64) -> Result<Self> {
        let mut options = DatabaseOptions::new();
        options.file_access = match &roots.data {
            Some(data) => FileAccess::Directory(data.clone()),
            // URLs are checked before they are read, and there are no paths.
            None => FileAccess::Anywhere,
        };
        options.memory_limit = Some(memory);
        let database = Database::open(options)?;
        mayfly_files::register(&database);
        Ok(Self { roots, database })
    }

    /// The share of a run in the rows of a call.
    pub fn rows(
        &self,
        job: &Arc<Job>,
        table: &TableInput,
        call: &TableCall,
        place: Place,
        interrupt: &Interrupt,
    ) -> Box<OpenRows> {
        let (reader, job, interrupt) = (self.clone(), Arc::clone(job), interrupt.clone());
        let (mut call, types) = (call.clone(), table.copy.types.clone());
        let columns = table.columns.clone();
        let share = Share {
            index: place.partition,
            of: job.runs(place.fragment, place.partitions),
        };
        Box::new(move |terms, diagnostics| {
            let files = call.files.iter().map(|name| {
                let own = reader.roots.own(name);
                own.ok_or_else(|| refused(name))
            });
            call.files = files.collect::<Result<_>>()?;
            reader.database.file_rows(&FileRows {
                call: &call,
                types: &types,
                columns: &columns,
                terms,
                share,
                session: &job.settings.session,
                interrupt: &interrupt,
                diagnostics,
            })
        })
    }
}

/// 3889: a process may not read a file.
fn refused(name: &str) -> Error {
    codes::ER_SECONDARY_ENGINE.with(&[&format!(
        "'{name}' is outside of what this process may read"
    )])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_outside_of_the_roots_are_not_read() {
        let directory = tempfile::tempdir().expect("a directory");
        let (data, other) = (
            directory.path().join("data"),
            directory.path().join("other"),
        );
        for path in [&data, &other] {
            std::fs::create_dir(path).expect("a directory");
            std::fs::write(path.join("a.parquet"), "x").expect("a file");
        }
        std::os::unix::fs::symlink(&other, data.join("link")).expect("a link");
        let urls = ["s3://bucket/reports".to_owned()];
        let roots = FileRoots::new(&DataPlace::Directory(data.clone()), &urls).expect("roots");
        let path = |path: &Path| path.to_str().expect("a path").to_owned();
        assert_eq!(
            roots.shared(&path(&data.join("a.parquet"))).as_deref(),
            Some("a.parquet")
        );
        assert_eq!(roots.shared(&path(&other.join("a.parquet"))), None);
        assert_eq!(roots.shared(&path(&data.join("link/a.parquet"))), None);
        assert_eq!(roots.shared(&path(&data.join("../other/a.parquet"))), None);
        for url in [
            "s3://bucket/reports/a.parquet",
            "s3://bucket/reports2/a",
            "s3://other/reports/a",
        ] {
            let may_read = url.starts_with("s3://bucket/reports/");
            assert_eq!(roots.shared(url).is_some(), may_read, "{url}");
            assert_eq!(roots.own(url).is_some(), may_read, "{url}");
        }
        assert!(roots.own("a.parquet").is_some());
        for name in ["../other/a.parquet", "/etc/hosts", "a/../../b"] {
            assert_eq!(roots.own(name), None, "{name}");
        }
    }
}
