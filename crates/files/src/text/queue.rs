//! The blocks of a scan's files that no worker has taken yet.

use mayfly_engine::{Result, TableFunctionContext};

use super::input::{Block, Encoding, Input, Version};
use crate::guard::damaged;

/// Blocks of files, one after another. Of each open file its format remembers a `T`.
pub(crate) struct BlockQueue<T> {
    files: std::vec::IntoIter<usize>,
    /// The index of the file that is being read, its input, and what its format remembers.
    current: Option<(usize, Input, T)>,
}

impl<T> BlockQueue<T> {
    /// The blocks of the files with these indexes.
    pub(crate) fn new(files: Vec<usize>) -> Self {
        Self {
            files: files.into_iter(),
            current: None,
        }
    }

    /// The next block, with the index of its file; `cut` says where it may end and what is returned beside it.
    pub(crate) fn next<R>(
        &mut self,
        open: impl Fn(usize) -> Result<(Input, T)>,
        cut: impl Fn(&mut Input, &mut T) -> Result<Option<(Block, R)>>,
    ) -> Result<Option<(usize, Block, R)>> {
        loop {
            let (at, input, kept) = match &mut self.current {
                Some(current) => current,
                None => match self.files.next() {
                    None => return Ok(None),
                    Some(at) => {
                        let (input, kept) = open(at)?;
                        self.current.insert((at, input, kept))
                    }
                },
            };
            match cut(input, kept)? {
                Some((block, with)) => return Ok(Some((*at, block, with))),
                None => self.current = None,
            }
        }
    }
}

/// Opens a file again that was read for its types: 1105 if it has changed since.
pub(crate) fn open_again(
    context: &TableFunctionContext,
    path: &str,
    encoding: Encoding,
    known: &Version,
) -> Result<Input> {
    let (input, version) = Input::open(&context.files, path, encoding)?;
    if version == *known {
        Ok(input)
    } else {
        Err(damaged(path, "it has changed while it is read"))
    }
}

/// Runs `work` on this thread and on those of the workers that are free, unless it is `small`.
///
/// # Errors
/// The first error of one of them.
pub(crate) fn divided<T: Send>(
    context: &TableFunctionContext,
    small: bool,
    work: impl Fn() -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let work = &work;
    std::thread::scope(|scope| {
        let helpers = if small {
            0
        } else {
            context.threads.saturating_sub(1)
        };
        let helpers = (0..helpers).map_while(|_| context.workers.spawn_scoped(scope, |_| work()));
        let helpers: Vec<_> = helpers.collect();
        let mut parts = vec![work()];
        for helper in helpers {
            parts.push(match helper.join() {
                Ok(part) => part,
                Err(payload) => std::panic::resume_unwind(payload),
            });
        }
        parts.into_iter().collect()
    })
}
