//! A Tantivy directory that never syncs to disk: the index is derived, and verified when it is opened. The list of segments is in
//! memdir's own state file, so the metadata that Tantivy writes beside its segments stays in memory.

use memdir_core::internal::base::{disk, raw};
use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};
use tantivy::directory::{
    AntiCallToken, Directory, FileHandle, MmapDirectory, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
    error::{DeleteError, OpenDirectoryError, OpenReadError, OpenWriteError},
};

/// Stores segments on disk and everything else in memory.
#[derive(Debug, Clone)]
pub(super) struct SegmentDir {
    root: PathBuf,
    mapped: MmapDirectory,
    metadata: Arc<Mutex<HashMap<PathBuf, Vec<u8>>>>,
}

impl SegmentDir {
    pub(super) fn open(root: &Path) -> Result<Self, OpenDirectoryError> {
        raw::guard_mappings();
        Ok(SegmentDir { root: root.to_owned(), mapped: MmapDirectory::open(root)?, metadata: Arc::default() })
    }

    fn metadata(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, Vec<u8>>> {
        self.metadata.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Directory for SegmentDir {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.mapped.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        match fs::remove_file(self.root.join(path)) {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(DeleteError::FileDoesNotExist(path.to_owned())),
            Err(error) => Err(DeleteError::IoError { io_error: Arc::new(error), filepath: path.to_owned() }),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.metadata().contains_key(path) || self.root.join(path).exists())
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let file = disk::create_private_file(&self.root.join(path)).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => OpenWriteError::FileAlreadyExists(path.to_owned()),
            _ => OpenWriteError::wrap_io_error(error, path.to_owned()),
        })?;
        Ok(BufWriter::new(Box::new(Unsynced(file))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.metadata().get(path).cloned().ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.metadata().insert(path.to_owned(), data.to_vec());
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, _callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

struct Unsynced(File);

impl Write for Unsynced {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl TerminatingWrite for Unsynced {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.0.flush()
    }
}
