//! Makes names for imported memories whose own name is missing or invalid. Pure.

use crate::base::{error::Result, path::MemoryPath};
use jiff::{Timestamp, tz::TimeZone};

/// Maximum number of characters of a path component.
const PART_CHARS: usize = 60;

/// Makes a path component from any text: letters and digits of every script in lower case, with hyphens between them.
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.trim().chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.chars().count() >= PART_CHARS {
            break;
        }
    }
    let out = out.trim_matches('-');
    if out.is_empty() { "unnamed".to_owned() } else { out.to_owned() }
}

/// Returns the name of an imported log below the folder of its origin: in the folder of its month, with its day.
pub fn log_name(folder: &str, at: Option<Timestamp>, name: &str) -> String {
    match at.map(|at| at.to_zoned(TimeZone::UTC)) {
        Some(day) => format!("logs/imported/{folder}/{}{name}", day.strftime("%Y/%m/%Y-%m-%d-")),
        None => format!("logs/imported/{folder}/undated/{name}"),
    }
}

/// Returns the path for an imported memory below a valid topic or none: its own name if that is valid, else a slug of it.
pub(super) fn path(under: &str, name: &str) -> Result<MemoryPath> {
    let below = |name: &str| MemoryPath::parse(&if under.is_empty() { name.to_owned() } else { format!("{under}/{name}") });
    let path = below(name).or_else(|_| below(&slugs(name))).or_else(|_| below(&slug(name)))?;
    Ok(if path.is_md() { path } else { path.with_md() })
}

fn slugs(name: &str) -> String {
    let stem = name.strip_suffix(".md").unwrap_or(name);
    stem.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | "..")).map(slug).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kept_if_valid_and_generated_otherwise() {
        for (under, name, expected) in [
            ("", "notes/Deploy.md", "notes/Deploy.md"),
            ("", "notes/deploy", "notes/deploy.md"),
            ("old", "deploy", "old/deploy.md"),
            ("Old notes", "what?/C:\\x", "Old notes/what/c/x.md"),
            ("", "../../etc/passwd", "etc/passwd.md"),
            ("", "/abs/x.md", "abs/x.md"),
            ("", "C:\\x?", "c/x.md"),
            ("", "Ada's Änderung: 100%", "Ada's Änderung: 100%.md"),
            ("", "", "unnamed.md"),
            ("", "…", "unnamed.md"),
        ] {
            assert_eq!(path(under, name).unwrap().as_str(), expected, "{name}");
        }
        assert!(slug(&"long ".repeat(50)).chars().count() <= PART_CHARS);
    }
}
