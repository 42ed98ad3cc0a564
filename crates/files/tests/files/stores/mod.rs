//! Objects that URLs name, with the feature `object-stores`: over HTTP from a server of the test, and over S3's protocol from the
//! one that `testing/stores/test` starts.

mod http;
mod s3;
mod server;
