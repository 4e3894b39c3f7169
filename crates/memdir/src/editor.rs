//! Runs the user's editor on a text. The text is in a private file below memdir's home, which is removed once the text is saved and kept
//! if it could not be.

use crate::{config, exit::Failure};
use memdir_core::internal::base::{disk, text};
use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    sync::{Arc, atomic::AtomicBool},
};

/// The directory of drafts, below memdir's home.
pub(crate) const DRAFTS: &str = "edits";

/// Maximum length in bytes of the name of a draft, without its number.
const MAX_NAME: usize = 120;

/// A text in a file, for the editor.
pub(crate) struct EditorFile {
    file: PathBuf,
    /// Whether the file is in memdir's own directory, so that it is removed once the text is saved.
    is_own: bool,
}

impl EditorFile {
    /// Writes a text to a new file. Its name is made from `name`, whose extension shows the editor the format.
    pub(crate) fn create(home: &Path, name: &str, text: &[u8]) -> Result<EditorFile, Failure> {
        let dir = home.join(DRAFTS);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| Failure::File { doing: "write", path, source }
        };
        disk::create_private_dir(&dir).map_err(failed(&dir))?;
        let name = name.replace('/', "-");
        let (stem, extension) = name.rsplit_once('.').map_or((name.as_str(), String::new()), |(stem, end)| (stem, format!(".{end}")));
        let stem = text::truncate_bytes(stem.trim_start_matches(['.', '-']), MAX_NAME);
        for number in 1_u32.. {
            let number = if number == 1 { String::new() } else { format!("-{number}") };
            let file = dir.join(format!("{stem}{number}{extension}"));
            match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file) {
                Ok(mut open) => {
                    open.write_all(text).map_err(failed(&file))?;
                    return Ok(EditorFile { file, is_own: true });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(&file)(error)),
            }
        }
        Err(failed(&dir)(io::ErrorKind::AlreadyExists.into()))
    }

    /// Continues with a file that exists.
    pub(crate) fn resume(home: &Path, file: &Path) -> Result<EditorFile, Failure> {
        let failed = |source| Failure::File { doing: "read", path: file.to_owned(), source };
        let file = fs::canonicalize(file).map_err(failed)?;
        let is_own = fs::canonicalize(home.join(DRAFTS)).is_ok_and(|dir| file.parent() == Some(&dir));
        Ok(EditorFile { file, is_own })
    }

    /// Opens the file in the user's editor, waits for it, and passes the text to `save`. If that fails, the file is kept, unless it is
    /// empty or still has the text `before`. `resume` returns the command that continues with the file.
    pub(crate) fn edit<T>(
        self,
        before: &[u8],
        resume: impl FnOnce(&Path) -> String,
        save: impl FnOnce(Vec<u8>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let read = || fs::read(&self.file).map_err(|source| Failure::File { doing: "read", path: self.file.clone(), source });
        match run(&self.file).and_then(|()| read()).and_then(save) {
            Err(cause) if read().is_ok_and(|text| text != before && !text.trim_ascii().is_empty()) => {
                let resume = resume(&self.file);
                Err(Failure::Unsaved { cause: Box::new(cause), kept: self.file, resume })
            }
            outcome => {
                self.remove();
                outcome
            }
        }
    }

    /// Removes the file, unless it is the user's own.
    fn remove(&self) {
        if self.is_own {
            // A file that stays is only clutter.
            let _ = fs::remove_file(&self.file);
        }
    }
}

/// Runs the editor and waits for it.
fn run(file: &Path) -> Result<(), Failure> {
    let Some(editor) = config::editor_variable() else {
        return Err(Failure::Settings {
            message: "no editor is set".into(),
            hint: "set VISUAL or EDITOR, for example: export EDITOR=nano".into(),
        });
    };
    let not_started = |why: &str| Failure::Settings {
        message: format!("editor {editor:?} {why}"),
        hint: "set VISUAL or EDITOR to an installed editor; nothing was saved".into(),
    };
    match start(&editor, file).map_err(|source| Failure::File { doing: "start", path: "sh".into(), source })? {
        status if status.success() => Ok(()),
        // The shell reports a command that it cannot find or run by these two.
        status if status.code() == Some(127) => Err(not_started("not found")),
        status if status.code() == Some(126) => Err(not_started("cannot be run")),
        status => Err(Failure::Negative {
            code: "cancelled",
            message: format!("editor {editor:?} failed ({status}); nothing was saved"),
            hint: "to save the text, exit the editor without an error".into(),
        }),
    }
}

/// Starts the editor in a shell, as git does: the variable may contain arguments and quotes.
#[expect(clippy::disallowed_methods, reason = "the user asked for the editor")]
fn start(editor: &str, file: &Path) -> io::Result<ExitStatus> {
    // Ctrl-C in the editor is the editor's. A child does not inherit this handler.
    let ids = [signal_hook::consts::SIGINT, signal_hook::consts::SIGQUIT]
        .map(|signal| signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))));
    let status = Command::new("sh").arg("-c").arg(format!("{editor} \"$@\"")).arg("sh").arg(file).status();
    for id in ids.into_iter().flatten() {
        signal_hook::low_level::unregister(id);
    }
    status
}
