//! The random choices of the tests beside it.

pub(crate) use mayfly_testkit::random::Random;
