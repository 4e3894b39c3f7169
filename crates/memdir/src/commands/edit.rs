//! `memdir edit`: one place of a memory, or every one that matches.

use super::{allowing, expected, input_text, name};
use crate::{
    args::Edit as Typed,
    exit::Failure,
    output::{Answer, Page},
};
use memdir_core::{
    memdir::Memdir,
    memory::edit::Needle,
    operations::edit::{Edit, Edited},
};
use std::io;

pub(crate) fn run(args: &Typed, memdir: &Memdir) -> Result<Answer, Failure> {
    let memdir = &allowing(memdir, &args.allow_secret)?;
    let path = name(&args.name)?;
    let old = given(args.old.as_ref(), args.old_file.as_deref())?;
    let with = given(args.new.as_ref(), args.new_file.as_deref())?;
    let needle = if args.regex { Needle::Regex(old) } else { Needle::Literal(old) };
    let expect = expected(memdir, &path, args.if_version.as_deref())?;
    let edited = memdir.edit(&Edit { path, needle, with, all: args.all, expect })?;
    Ok(Answer::new(edited, show))
}

fn given(text: Option<&String>, file: Option<&std::path::Path>) -> Result<String, Failure> {
    match (text, file) {
        (Some(text), _) => Ok(text.clone()),
        (None, Some(file)) => input_text(file),
        (None, None) => Ok(String::new()),
    }
}

fn show(edited: &Edited, page: &mut Page<'_>) -> io::Result<()> {
    let places = if edited.replaced == 1 { "Edited one place of".to_owned() } else { format!("Edited {} places of", edited.replaced) };
    super::write::say(&edited.saved, &places, page)
}
