//! Passes options to the linker that make the program smaller, where the linker and the system are known to understand them. Elsewhere
//! the program is larger and otherwise the same.

use std::{env, process::Command};

/// The oldest C library that reads packed relocations.
const PACKED_RELOCATIONS: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if !is_linux_with_glibc() {
        return;
    }
    if glibc_version().is_some_and(|version| version >= PACKED_RELOCATIONS) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether the program is built for this machine's own system, a Linux with the GNU C library.
fn is_linux_with_glibc() -> bool {
    variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu" && variable("HOST") == variable("TARGET")
}

#[expect(clippy::disallowed_methods, reason = "a build script asks the system which C library it has")]
/// Returns the version of the C library of this machine, if the system's own command prints one.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

#[expect(clippy::disallowed_methods, reason = "a build script is configured by the environment")]
fn variable(name: &str) -> String {
    env::var(name).unwrap_or_default()
}
