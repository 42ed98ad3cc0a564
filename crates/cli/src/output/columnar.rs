//! Results as files with typed columns: Parquet and Arrow, on standard output or in a file of their own.
//!
//! A file appears when its result is complete. One result is one file: a second one is an error, not the end of the first.

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mayfly_engine::{NewFile, ResultColumn, RowsWriter, TimeZone, batch_of_texts};
use tempfile::NamedTempFile;

use super::part::Part;
use super::result_writer::Writer;

/// Writes the rows of a result as they come.
pub(crate) struct ColumnarFile {
    columns: Arc<[ResultColumn]>,
    writer: Option<Box<dyn RowsWriter>>,
    /// The file under its temporary name, and its path.
    file: Option<(NamedTempFile, PathBuf)>,
    row_count: u64,
}

impl ColumnarFile {
    /// A file of a result in a format, at a path or on standard output; `zone` is that of its TIMESTAMPs.
    ///
    /// # Errors
    /// The path is taken, standard output is a terminal, or the columns are none of the format.
    pub(crate) fn new(
        format: &'static str,
        columns: &Arc<[ResultColumn]>,
        zone: TimeZone,
        path: Option<&Path>,
    ) -> io::Result<Self> {
        let (file, output, name) = match path {
            Some(path) => {
                if path.symlink_metadata().is_ok() {
                    return Err(taken(path));
                }
                let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
                let file = tempfile::Builder::new()
                    .prefix(".mayfly-")
                    .tempfile_in(directory.unwrap_or(Path::new(".")))?;
                let output = file.as_file().try_clone()?;
                (
                    Some((file, path.to_owned())),
                    output,
                    path.display().to_string(),
                )
            }
            None if io::stdout().is_terminal() => {
                return Err(io::Error::other(format!(
                    "{format} is not for a terminal: write it into a file by `> FILE` or \\format {format} FILE"
                )));
            }
            None => {
                let output = io::stdout().as_fd().try_clone_to_owned()?;
                (None, File::from(output), "standard output".to_owned())
            }
        };
        let output = NewFile::of_output(output, &name);
        let writer = mayfly_files::result_file(format, Arc::clone(columns), zone, output);
        Ok(Self {
            columns: Arc::clone(columns),
            writer: Some(writer.map_err(io::Error::other)?),
            file,
            row_count: 0,
        })
    }
}

fn taken(path: &Path) -> io::Error {
    io::Error::other(format!("{}: there is a file of that name", path.display()))
}

impl Writer for ColumnarFile {
    fn rows(&mut self, _out: &mut dyn Write, rows: Part<'_>) -> io::Result<()> {
        let Some(writer) = &mut self.writer else {
            return Ok(());
        };
        match rows {
            Part::Engine(result) => {
                for batch in &result.batches {
                    writer.write(batch).map_err(io::Error::other)?;
                }
            }
            Part::Texts(texts) => {
                let batch = batch_of_texts(&self.columns, texts, self.row_count);
                let batch = batch.map_err(io::Error::other)?;
                writer.write(&batch).map_err(io::Error::other)?;
            }
        }
        self.row_count += rows.row_count() as u64;
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn Write) -> io::Result<()> {
        if let Some(writer) = self.writer.take() {
            writer.finish().map_err(io::Error::other)?;
        }
        match self.file.take() {
            None => Ok(()),
            Some((file, path)) => match file.persist_noclobber(&path) {
                Ok(_) => Ok(()),
                Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                    Err(taken(&path))
                }
                Err(error) => Err(error.error),
            },
        }
    }
}
