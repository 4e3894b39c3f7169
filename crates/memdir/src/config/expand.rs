//! `~` and `${VAR}` in a path that comes from a person. Never used on anything a model gave.

use std::path::{Path, PathBuf};

/// The path meant by `text`: `~` is the home directory, `${VAR}` a variable, the rest is relative to `base`.
pub(crate) fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>, home: Option<&Path>, base: &Path) -> Result<PathBuf, String> {
    if text.trim().is_empty() {
        return Err("the path is empty".into());
    }
    let text = variables(text, variable)?;
    if text == "~" || text.starts_with("~/") {
        let home = home.ok_or("there is no home directory for ~")?;
        return Ok(home.join(text[1..].trim_start_matches('/')));
    }
    if text.starts_with('~') {
        return Err(format!("{text:?}: only ~ itself is expanded, not another user's home; write the path out"));
    }
    Ok(base.join(text))
}

fn variables(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let (name, after) = behind.split_once('}').ok_or_else(|| format!("{text:?}: ${{ has no closing brace"))?;
        out.push_str(before);
        out.push_str(&variable(name).ok_or_else(|| format!("{text:?}: the variable {name} is not set"))?);
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
    fn what_cannot_be_expanded_is_refused_and_named() {
        for (text, why) in [("${NONE}/a", "NONE is not set"), ("${WORK", "closing brace"), ("~bob/x", "another user"), (" ", "empty")] {
            assert!(expanded(text).unwrap_err().contains(why), "{text}");
        }
    }
}
