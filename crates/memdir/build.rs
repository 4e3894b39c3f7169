//! Passes options to the linker that make the program smaller, where a program that is linked with them runs. Elsewhere the program is
//! larger and otherwise the same.

use std::{env, fs, path::Path, process::Command};

const SMALLER: [&str; 2] = [
    // Keeps one of several functions or constants with the same content. Known to LLD, which links by default since Rust 1.90.
    "-Wl,--icf=all,--ignore-data-address-equality",
    // Stores relocations in a bitmap. Needs glibc 2.36.
    "-Wl,-z,pack-relative-relocs",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if !is_linux_with_glibc() {
        return;
    }
    for option in SMALLER.into_iter().filter(|option| runs_with(option).unwrap_or(false)) {
        println!("cargo::rustc-link-arg-bins={option}");
    }
}

/// Whether the program is built for this machine's own system, a Linux with the GNU C library.
fn is_linux_with_glibc() -> bool {
    variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu" && variable("HOST") == variable("TARGET")
}

/// Whether a program that is linked with an option, and otherwise like memdir, runs.
#[expect(clippy::disallowed_methods, reason = "a build script asks the compiler, and writes to its output directory")]
fn runs_with(option: &str) -> std::io::Result<bool> {
    let dir = variable("OUT_DIR");
    let (source, program) = (Path::new(&dir).join("empty.rs"), Path::new(&dir).join("empty"));
    fs::write(&source, "fn main() {}")?;
    let mut rustc = Command::new(variable("RUSTC"));
    rustc.args(variable("CARGO_ENCODED_RUSTFLAGS").split('\u{1f}').filter(|flag| !flag.is_empty()));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg(format!("-Clinker={linker}"));
    }
    let linked = rustc.arg(format!("-Clink-arg={option}")).arg(&source).arg("-o").arg(&program).output()?;
    Ok(linked.status.success() && Command::new(&program).status()?.success())
}

#[expect(clippy::disallowed_methods, reason = "a build script is configured by the environment")]
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
