//! Objects that URLs name: `s3://`, `gs://`, `az://` and `abfss://`, `https://`, through the crate `object_store`.
//!
//! The stores' library is asynchronous, and the engine is not: the library runs on two threads of its own (`runtime`), and a
//! thread of a statement waits there for each answer, looking at its interrupt. A connection to a store (`connect`) is
//! kept for all statements with the same options and environment.

#[cfg(feature = "object-stores")]
mod connect;
#[cfg(feature = "object-stores")]
mod errors;
#[cfg(feature = "object-stores")]
mod new_object;
#[cfg(feature = "object-stores")]
mod profile;
#[cfg(feature = "object-stores")]
mod protocols;
#[cfg(feature = "object-stores")]
mod runtime;
#[cfg(feature = "object-stores")]
mod stored;

use mayfly_engine::{Result, StatementFiles, StoreOptions, TableArguments, url_scheme};

#[cfg(feature = "object-stores")]
pub(crate) use self::protocols::Stores;

/// The files of a call with these paths; where one is a URL, its options say how stores are reached.
pub(crate) fn with_options(
    files: &StatementFiles,
    paths: &[String],
    arguments: &mut TableArguments,
) -> Result<StatementFiles> {
    if !paths.iter().any(|path| url_scheme(path).is_some()) {
        return Ok(files.clone());
    }
    let options = StoreOptions {
        endpoint: arguments.text("endpoint")?,
        region: arguments.text("region")?,
        anonymous: arguments.flag("anonymous")?.unwrap_or(false),
    };
    Ok(match options == StoreOptions::default() {
        true => files.clone(),
        false => files.with_store_options(options),
    })
}
