//! Expands `~` and `${VAR}` in paths of the user. Never applied to input from a model.

use memdir_core::internal::store::mount::real_path;
use std::path::{Path, PathBuf};

/// Expands `~` to the home directory and `${VAR}` to a variable; a relative path is relative to `base`.
pub(crate) fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>, home: Option<&Path>, base: &Path) -> Result<PathBuf, String> {
    if text.trim().is_empty() {
        return Err("empty path".into());
    }
    let text = variables(text, variable)?;
    not_unix(&text).map_or(Ok(()), |why| Err(format!("{text:?}: {why}")))?;
    if text == "~" || text.starts_with("~/") {
        let home = home.ok_or("cannot expand ~: home directory not found")?;
        return Ok(home.join(text[1..].trim_start_matches('/')));
    }
    if text.starts_with('~') {
        return Err(format!("{text:?}: a leading ~ is expanded only in ~ and ~/PATH"));
    }
    Ok(base.join(text))
}

/// Why a directory cannot be a memory, or `None` if it can. In a directory that contains the user's home, every file of the user
/// would become a memory.
pub(crate) fn covers_home(dir: &Path, home: Option<&Path>) -> Option<String> {
    not_separate(dir, home).map(|why| format!("{why}; every file in it would become a memory"))
}

/// Why a directory is not separate, or `None` if it is: it is close to the root of the file system, or contains the user's home.
pub(crate) fn not_separate(dir: &Path, home: Option<&Path>) -> Option<String> {
    let real = real_path(dir);
    let shown = real.display();
    match real.as_os_str().len() {
        0 | 1 => return Some(format!("{shown} is the root of the file system")),
        2 => return Some(format!("{shown} may be the root of a drive")),
        _ => {}
    }
    let home = home.map(real_path)?;
    if home == real {
        Some(format!("{shown} is your home directory"))
    } else {
        home.starts_with(&real).then(|| format!("{shown} contains your home directory"))
    }
}

/// Why a text is a path of another operating system, or `None` if it is not.
fn not_unix(text: &str) -> Option<&'static str> {
    let drive = text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && matches!(text.as_bytes().get(1..3), Some(b":\\" | b":/"));
    if text.contains('\0') {
        Some("a path cannot contain NUL characters")
    } else if text.starts_with("//") || text.starts_with(r"\\") {
        Some("network paths, which begin with // or \\\\, are not supported")
    } else if drive || (text.len() == 2 && text.ends_with(':')) {
        Some("drive letters are not supported")
    } else {
        None
    }
}

fn variables(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("${") {
        let (name, after) = inside.split_once('}').ok_or_else(|| format!("{text:?}: ${{ without a closing brace"))?;
        out.push_str(before);
        out.push_str(&variable(name).ok_or_else(|| format!("{text:?}: environment variable {name} is unset or empty"))?);
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<PathBuf, String> {
        let variable = |name: &str| (name == "WORK").then(|| "/srv/work".to_owned());
        expand(text, &variable, Some(Path::new("/home/ada")), Path::new("/here"))
    }

    #[test]
    fn home_and_variables_are_expanded_and_the_rest_is_relative() {
        for (text, path) in [
            ("~", "/home/ada"),
            ("~/notes", "/home/ada/notes"),
            ("${WORK}/a", "/srv/work/a"),
            ("/x/${WORK}", "/x//srv/work"),
            ("notes", "/here/notes"),
            ("/abs", "/abs"),
            ("a~b/$WORK", "/here/a~b/$WORK"),
        ] {
            assert_eq!(expanded(text).unwrap(), Path::new(path), "{text}");
        }
    }

    #[test]
    fn invalid_paths_are_errors() {
        for (text, why) in [
            ("${NONE}/a", "NONE is unset"),
            ("${WORK", "closing brace"),
            ("~bob/x", "is expanded only in"),
            (" ", "empty"),
            ("a\0b", "NUL"),
            (r"\\host\share", "network"),
            ("//host/share", "network"),
            (r"C:\", "drive"),
            ("c:/x", "drive"),
            ("C:", "drive"),
        ] {
            assert!(expanded(text).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn a_directory_that_contains_the_home_cannot_be_a_memory() {
        let dir = tempfile::TempDir::new().unwrap();
        let home = dir.path().join("ada");
        std::fs::create_dir(&home).unwrap();
        std::os::unix::fs::symlink(&home, dir.path().join("link")).unwrap();
        for bad in [&*home, dir.path(), &home.join(".."), &home.join("."), &dir.path().join("link"), Path::new("/"), Path::new("/x")] {
            assert!(covers_home(bad, Some(&home)).is_some(), "{}", bad.display());
        }
        for good in [home.join("notes"), dir.path().join("ada2"), home.join("not/yet")] {
            assert_eq!(covers_home(&good, Some(&home)), None, "{}", good.display());
        }
    }
}
