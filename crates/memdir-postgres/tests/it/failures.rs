//! A connection that is cut at any message of a change: before the server gets the message, or before its answer arrives. The change
//! is made exactly once, and the caller gets its result.

use crate::support::{TestDatabase, append, check_sequences, open, text};
use memdir_core::{Store, View};
use memdir_postgres::{Database, DatabaseSettings};
use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Where a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// The server does not get the message.
    Request,
    /// The server gets the message, and its answer is lost.
    Answer,
    /// From then on nothing passes, and no connection is closed. The server does not get the message.
    FreezeRequest,
    /// The same, and the server gets the message.
    FreezeAnswer,
}

/// A proxy that counts the messages of clients and cuts one connection.
struct Proxy {
    address: SocketAddr,
    next: Arc<Mutex<Option<(u64, Cut)>>>,
    is_frozen: Arc<AtomicBool>,
}

impl Proxy {
    fn start(socket: String) -> Proxy {
        Proxy::start_if(socket, Arc::new(AtomicBool::new(true)))
    }

    /// Closes new connections as long as `accepts` is false, as a standby does.
    fn start_if(socket: String, accepts: Arc<AtomicBool>) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Proxy { address: listener.local_addr().unwrap(), next: Arc::default(), is_frozen: Arc::default() };
        let (next, frozen) = (proxy.next.clone(), proxy.is_frozen.clone());
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if frozen.load(Ordering::SeqCst) {
                    // The connection stays open.
                    std::mem::forget(client);
                    continue;
                }
                if !accepts.load(Ordering::SeqCst) {
                    continue;
                }
                let Ok(server) = UnixStream::connect(&socket) else { continue };
                let is_deaf = Arc::new(AtomicBool::new(false));
                let (next, deaf, frozen) = (next.clone(), is_deaf.clone(), frozen.clone());
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let is_frozen = frozen.clone();
                thread::spawn(move || requests(from, to, &next, &deaf, &is_frozen));
                thread::spawn(move || answers(server, client, &is_deaf, &frozen));
            }
        });
        proxy
    }

    /// Cuts at the n-th message from now.
    fn cut_at(&self, n: u64, cut: Cut) {
        *self.next.lock().unwrap() = Some((n, cut));
    }

    /// Whether the cut is still to come; there is none after this.
    fn is_uncut(&self) -> bool {
        self.next.lock().unwrap().take().is_some()
    }
}

/// Forwards messages to the server: the first has no type, every other has one before its length.
fn requests(mut client: TcpStream, mut server: UnixStream, next: &Mutex<Option<(u64, Cut)>>, deaf: &AtomicBool, frozen: &AtomicBool) {
    let (mut buffer, mut chunk, mut is_first) = (Vec::new(), [0; 8192], true);
    while let Ok(read @ 1..) = client.read(&mut chunk) {
        buffer.extend_from_slice(&chunk[..read]);
        loop {
            let head = usize::from(!is_first);
            let Some(length) = buffer.get(head..head + 4) else { break };
            let length = head + u32::from_be_bytes(length.try_into().unwrap()) as usize;
            if buffer.len() < length {
                break;
            }
            let message: Vec<u8> = buffer.drain(..length).collect();
            is_first = false;
            let cut = {
                let mut next = next.lock().unwrap();
                match *next {
                    Some((1, cut)) => {
                        *next = None;
                        Some(cut)
                    }
                    Some((n, cut)) => {
                        *next = Some((n - 1, cut));
                        None
                    }
                    None => None,
                }
            };
            if matches!(cut, Some(Cut::FreezeRequest | Cut::FreezeAnswer)) {
                frozen.store(true, Ordering::SeqCst);
            }
            if frozen.load(Ordering::SeqCst) {
                if cut == Some(Cut::FreezeAnswer) {
                    let _ = server.write_all(&message);
                }
                // The locks of the frozen leader do not exist on the other one, which is the same server here.
                let _ = server.shutdown(Shutdown::Write);
                std::mem::forget(client);
                return;
            }
            if cut == Some(Cut::Answer) {
                deaf.store(true, Ordering::SeqCst);
            }
            if cut != Some(Cut::Request) {
                let _ = server.write_all(&message);
            }
            if cut.is_some() {
                let _ = server.shutdown(Shutdown::Write);
                let _ = client.shutdown(Shutdown::Both);
                return;
            }
        }
    }
    let _ = server.shutdown(Shutdown::Write);
}

fn answers(mut server: UnixStream, mut client: TcpStream, deaf: &AtomicBool, frozen: &AtomicBool) {
    let mut chunk = [0; 8192];
    while let Ok(read @ 1..) = server.read(&mut chunk) {
        if frozen.load(Ordering::SeqCst) {
            std::mem::forget(client);
            return;
        }
        if !deaf.load(Ordering::SeqCst) && client.write_all(&chunk[..read]).is_err() {
            break;
        }
    }
    if frozen.load(Ordering::SeqCst) {
        std::mem::forget(client);
    } else {
        let _ = client.shutdown(Shutdown::Both);
    }
}

/// The database through a proxy.
fn through_proxy(test: &TestDatabase) -> (Proxy, Database) {
    let part = |name: &str| test.url.split(' ').find_map(|part| part.strip_prefix(&format!("{name}="))).unwrap().to_owned();
    let proxy = Proxy::start(format!("{}/.s.PGSQL.5432", part("host")));
    let url = format!("host=127.0.0.1 port={} user={} dbname={}", proxy.address.port(), part("user"), part("dbname"));
    let database = Database::connect(&DatabaseSettings::new(&url)).unwrap();
    (proxy, database)
}

#[test]
fn a_change_is_made_once_wherever_the_connection_is_cut() {
    let Some(test) = TestDatabase::new() else { return };
    let (proxy, database) = through_proxy(&test);
    let store = open(&database, "projects/shop");
    let mut lines = 0;
    let mut cuts = 0;
    for cut in [Cut::Request, Cut::Answer] {
        for n in 1.. {
            // The connection has its statements prepared, as nearly always.
            append(&store, "a.md", &format!("{cut:?} {n} before")).unwrap();
            proxy.cut_at(n, cut);
            append(&store, "a.md", &format!("{cut:?} {n} cut")).unwrap();
            lines += 2;
            if proxy.is_uncut() {
                break;
            }
            cuts += 1;
        }
    }
    let text = text(&test.store("projects/shop"), "a").unwrap();
    let mut all: Vec<&str> = text.lines().collect();
    assert_eq!(all.len(), lines, "lines are missing or doubled");
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), lines, "lines are doubled");
    assert_eq!(test.store("projects/shop").journal_size().unwrap().changes, lines as u64);
    assert!(cuts > 40, "only {cuts} cuts: the proxy does not see the messages of a change");
    check_sequences(&test.url);
}

/// A new connection, with everything that is prepared on it.
#[test]
fn a_first_change_is_made_once_wherever_the_connection_is_cut() {
    let Some(test) = TestDatabase::new() else { return };
    let mut lines = 0;
    for cut in [Cut::Request, Cut::Answer] {
        for n in (1..).step_by(3) {
            let (proxy, database) = through_proxy(&test);
            let store = open(&database, "projects/shop");
            proxy.cut_at(n, cut);
            append(&store, "a.md", &format!("{cut:?} {n}")).unwrap();
            lines += 1;
            if proxy.is_uncut() {
                break;
            }
        }
    }
    assert_eq!(text(&test.store("projects/shop"), "a").unwrap().lines().count(), lines);
    check_sequences(&test.url);
}

#[test]
fn a_read_is_answered_wherever_the_connection_is_cut() {
    let Some(test) = TestDatabase::new() else { return };
    append(&test.store("projects/shop"), "a.md", "line").unwrap();
    let (proxy, database) = through_proxy(&test);
    let store = open(&database, "projects/shop");
    for cut in [Cut::Request, Cut::Answer] {
        for n in 1.. {
            proxy.cut_at(n, cut);
            assert_eq!(text(&store, "a").as_deref(), Some("line\n"));
            assert_eq!(store.list("").unwrap().entries.len(), 1);
            if proxy.is_uncut() {
                break;
            }
        }
    }
}

/// The leader freezes at some message of a change, and another host becomes the leader. The change is made exactly once, by the other one.
/// Both hosts are the same server here, as the other one has everything that the leader committed.
#[test]
fn a_change_is_made_once_wherever_the_leader_freezes() {
    let Some(test) = TestDatabase::new() else { return };
    let part = |name: &str| test.url.split(' ').find_map(|part| part.strip_prefix(&format!("{name}="))).unwrap().to_owned();
    let socket = format!("{}/.s.PGSQL.5432", part("host"));
    let mut lines = 0;
    for cut in [Cut::FreezeRequest, Cut::FreezeAnswer] {
        for n in (1..).step_by(4) {
            let leader = Proxy::start(socket.clone());
            let standby = Proxy::start_if(socket.clone(), leader.is_frozen.clone());
            let ports = format!("{},{}", leader.address.port(), standby.address.port());
            let url = format!("host=127.0.0.1,127.0.0.1 port={ports} user={} dbname={}", part("user"), part("dbname"));
            let settings = DatabaseSettings { idle_timeout: Duration::from_secs(1), ..DatabaseSettings::new(&url) };
            let store = open(&Database::connect(&settings).unwrap(), "projects/shop");
            append(&store, "a.md", &format!("{cut:?} {n} before")).unwrap();
            leader.cut_at(n, cut);
            append(&store, "a.md", &format!("{cut:?} {n} frozen")).unwrap();
            lines += 2;
            if leader.is_uncut() {
                break;
            }
        }
    }
    assert_eq!(text(&test.store("projects/shop"), "a").unwrap().lines().count(), lines, "lines are missing or doubled");
    assert_eq!(test.store("projects/shop").journal_size().unwrap().changes, lines as u64);
    check_sequences(&test.url);
}

/// The first host accepts connections and never answers.
#[test]
fn a_frozen_host_does_not_hide_the_leader() {
    let Some(test) = TestDatabase::new() else { return };
    let frozen = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = test.url.replace("host=", "host=127.0.0.1,");
    let url = format!("{url} port={},5432", frozen.local_addr().unwrap().port());
    Database::migrate(&DatabaseSettings::new(&url)).unwrap();
    let database = Database::connect(&DatabaseSettings::new(&url)).unwrap();
    append(&open(&database, "projects/shop"), "a.md", "line").unwrap();
    assert_eq!(text(&test.store("projects/shop"), "a").as_deref(), Some("line\n"));
}

/// What stays wrong is not tried again.
#[test]
fn a_wrong_url_fails_at_once() {
    let Some(test) = TestDatabase::new() else { return };
    let connect = |url: &str| Database::connect(&DatabaseSettings::new(url)).unwrap_err().to_string();
    let missing = connect(&test.url.replace("dbname=", "dbname=no_"));
    assert!(missing.contains("does not exist (SQLSTATE 3D000)"), "{missing}");
    assert_eq!(
        connect("postgres://ada:hidden@host:99999999/x"),
        "database URL: invalid connection string: invalid value for option `port`"
    );
    assert!(connect(&format!("{} sslmode=require", test.url)).contains("server does not support TLS"));
}
