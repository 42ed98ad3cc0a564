//! The extension module that cargo builds beside this program: what CPython looks for in it. `python/test` makes a package
//! of it and runs the tests in Python.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};

#[test]
fn the_extension_module_has_the_function_that_cpython_calls() {
    let program = std::env::current_exe().expect("the program of this test has a path");
    let module = program.with_file_name(format!("{DLL_PREFIX}_mayfly{DLL_SUFFIX}"));
    let bytes = std::fs::read(&module).expect("cargo has built the extension module");
    // The manual of CPython, "Extending and Embedding", "The module's method table and initialization function".
    let name = b"PyInit__mayfly\0";
    assert!(bytes.windows(name.len()).any(|window| window == name));
}
