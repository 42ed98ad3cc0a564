//! The program for distribution: optimised across crates, with its debug information in a separate file that debuggers
//! find by the link in the program (GDB manual, "Debugging Information in Separate Files").

use std::path::Path;
use std::process::Command;

use crate::tidy;

/// Options added to the profile `dist` so that there is debug information to separate.
const WITH_LINES: [&str; 4] = [
    "--config",
    "profile.dist.debug='line-tables-only'",
    "--config",
    "profile.dist.strip='none'",
];

/// Builds `packaged/mayfly` and `packaged/mayfly.debug` in the target directory.
pub(crate) fn run() -> Result<(), String> {
    let root = tidy::root();
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let directory = target.join("packaged");
    let (program, debug) = (directory.join("mayfly"), directory.join("mayfly.debug"));
    std::fs::create_dir_all(&directory)
        .map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--profile", "dist", "--package", "mayfly-cli"])
        .args(WITH_LINES)
        .current_dir(&root);
    succeed(&mut cargo)?;
    let whole = target.join("dist/mayfly");
    objcopy(&["--only-keep-debug"], &whole, &debug)?;
    let link = format!("--add-gnu-debuglink={}", debug.display());
    objcopy(&["--strip-debug", &link], &whole, &program)?;
    for file in [&program, &debug] {
        let bytes = std::fs::metadata(file)
            .map_err(|error| format!("{}: {error}", file.display()))?
            .len();
        println!("{} ({} MiB)", file.display(), bytes >> 20);
    }
    Ok(())
}

fn objcopy(arguments: &[&str], from: &Path, to: &Path) -> Result<(), String> {
    let mut command = Command::new("objcopy");
    command
        .args(arguments)
        .args([from.as_os_str(), to.as_os_str()]);
    succeed(&mut command).map_err(|error| format!("{error} (objcopy is in binutils)"))
}

/// Runs a command, which must succeed.
pub(crate) fn succeed(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{name}: {status}")),
        Err(error) => Err(format!("{name}: {error}")),
    }
}
