//! `memdir bench serve`: reads, writes and searches per second through the REST API, beside the library in the same run.

use super::{
    empty,
    generate::{self, Vocabulary},
    index::IndexCorpus,
    random::Random,
    rest_client::RestClient,
    scratch,
    timing::Timing,
};
use crate::{
    args::BenchServeArgs,
    exit::Failure,
    output::{CommandOutput, Printer},
};
use memdir_core::{Actor, Memdir, MemoryPath, Search, Write, WriteMode, internal::base::time::Stopwatch};
use serde::Serialize;
use std::{
    io::{self, BufRead as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
};

/// The folder of the memories that are written.
const FOLDER: &str = "bench";

#[derive(Serialize)]
struct ServeBenchReport {
    files: u32,
    requests: u32,
    rows: Vec<ServeRow>,
}

/// The speed of one kind of request.
#[derive(Serialize)]
struct ServeRow {
    target: &'static str,
    what: &'static str,
    clients: u32,
    per_second: f64,
    #[serde(rename = "p50_ms")]
    p50: f64,
    #[serde(rename = "p95_ms")]
    p95: f64,
    /// The median compared with that of the first target.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    /// The median of `--server` compared with that of the server on files.
    #[serde(skip_serializing_if = "Option::is_none")]
    http_ratio: Option<f64>,
}

/// What a client does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Read,
    Write,
    Search,
}

const ALL_WORK: [(Work, &str); 3] = [(Work::Read, "read"), (Work::Write, "write"), (Work::Search, "search")];

/// What is measured: something that one client uses for its requests.
trait BenchTarget: Sync {
    fn name(&self) -> &'static str;
    /// Returns the requests of one client.
    fn client(&self) -> Box<dyn FnMut(&Request) -> Result<(), Failure> + Send + '_>;
}

/// One request.
struct Request {
    work: Work,
    name: String,
    text: String,
}

pub(crate) fn run(args: &BenchServeArgs, dir: Option<&Path>) -> Result<CommandOutput, Failure> {
    let scratch = scratch()?;
    let work = dir.map_or_else(|| Ok(scratch.path().to_owned()), empty)?;
    let corpus = IndexCorpus::new(&work, args.files)?;
    let library = Library::open(&corpus)?;
    let served = ServedCorpus::start(&corpus)?;
    let mut targets: Vec<Box<dyn BenchTarget>> = vec![Box::new(library), Box::new(served)];
    if let Some(url) = &args.server {
        let token = args.token_file.as_deref().map(RestClient::read_token).transpose()?;
        let client = RestClient::new(url, token.as_deref());
        for n in 0..args.files {
            client.put(&read_name(n), &generate::memory(n, &corpus.words))?;
        }
        targets.push(Box::new(RemoteServer { client }));
    }
    let mut rows: Vec<ServeRow> = Vec::new();
    for (work, what) in ALL_WORK {
        for clients in &args.clients {
            for target in &targets {
                let mut row = measure_target(&**target, (work, what), *clients, args, &corpus.words)?;
                let mut earlier = rows.iter().filter(|other| (other.what, other.clients) == (row.what, row.clients));
                row.ratio = earlier.next().map(|library| row.p50 / library.p50);
                row.http_ratio = earlier.next().map(|http| row.p50 / http.p50);
                rows.push(row);
            }
        }
    }
    drop(targets);
    if let Some(url) = &args.server {
        let token = args.token_file.as_deref().map(RestClient::read_token).transpose()?;
        RestClient::new(url, token.as_deref()).delete_below(&[FOLDER, "topic-"])?;
    }
    Ok(CommandOutput::new(ServeBenchReport { files: args.files, requests: args.requests, rows }, show))
}

/// The name of a generated memory.
fn read_name(n: u32) -> String {
    format!("topic-{:02}/note-{n:05}", n % 40)
}

fn measure_target(
    target: &dyn BenchTarget,
    (work, what): (Work, &'static str),
    clients: u32,
    args: &BenchServeArgs,
    words: &Vocabulary,
) -> Result<ServeRow, Failure> {
    let each = (args.requests / clients).max(1);
    let requests = |client: u32| -> Vec<Request> {
        let random = &mut Random::new(u64::from(client) + 100);
        let request = |n: u32| match work {
            Work::Read => Request { work, name: read_name(random.below(u64::from(args.files)) as u32), text: String::new() },
            Work::Search => Request { work, name: String::new(), text: generate::query(words, random) },
            Work::Write => {
                let text = format!("Written by client {client}, request {n} of {clients} clients: {}\n", generate::query(words, random));
                Request { work, name: format!("{FOLDER}/client-{client}-{}", n % 20), text }
            }
        };
        (0..each).map(request).collect()
    };
    let all: Vec<Vec<Request>> = (0..clients).map(requests).collect();
    // Opens connections, indexes and caches.
    let mut warm = target.client();
    all.iter().flatten().take(20).try_for_each(&mut *warm)?;
    drop(warm);
    let watch = Stopwatch::start();
    let times = std::thread::scope(|scope| {
        let client = |requests: &Vec<Request>| -> Result<Vec<f64>, Failure> {
            let mut send = target.client();
            super::timing::measure(requests.len(), |n| send(&requests[n]))
        };
        let threads: Vec<_> = all.iter().map(|requests| scope.spawn(move || client(requests))).collect();
        let joined = threads.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| {
                Err(Failure::Usage {
                    message: "a client of the benchmark failed".into(),
                    hint: "this is a bug in memdir; please report it".into(),
                })
            })
        });
        joined.collect::<Result<Vec<_>, Failure>>()
    })?;
    let seconds = watch.elapsed().as_secs_f64();
    let times: Vec<f64> = times.into_iter().flatten().collect();
    let count = times.len();
    let (p50, p95) = Timing::percentiles(times);
    Ok(ServeRow { target: target.name(), what, clients, per_second: count as f64 / seconds, p50, p95, ratio: None, http_ratio: None })
}

/// The library in this process.
struct Library(Memdir);

impl Library {
    fn open(corpus: &IndexCorpus) -> Result<Self, Failure> {
        let actor = Actor { name: "bench".into(), session: None };
        Ok(Library(Memdir::new(Arc::new(corpus.open()?), actor).with_searcher(corpus.searcher(true).watching())))
    }
}

impl BenchTarget for Library {
    fn name(&self) -> &'static str {
        "library"
    }

    fn client(&self) -> Box<dyn FnMut(&Request) -> Result<(), Failure> + Send + '_> {
        Box::new(|request| {
            match request.work {
                Work::Read => drop(self.0.get(&MemoryPath::parse(&request.name)?)?),
                Work::Search => drop(self.0.search(&Search::new(request.text.clone()))?),
                Work::Write => {
                    let write = Write::create(MemoryPath::parse(&request.name)?, request.text.clone()).mode(WriteMode::Put);
                    drop(self.0.write(&write)?);
                }
            }
            Ok(())
        })
    }
}

/// A server on files: another process on the same memories.
struct ServedCorpus {
    child: Child,
    client: RestClient,
}

impl ServedCorpus {
    #[expect(clippy::disallowed_methods, reason = "the user asked for the cost of a server")]
    fn start(corpus: &IndexCorpus) -> Result<Self, Failure> {
        let fail = |source| Failure::File { doing: "run", path: "memdir mcp --http".into(), source };
        let mut command = Command::new(std::env::current_exe().map_err(fail)?);
        command.arg("--dir").arg(&corpus.memory).args(["mcp", "--http", "127.0.0.1:0"]);
        command.env("MEMDIR_HOME", &corpus.home).env("XDG_CACHE_HOME", corpus.home.join("served")).env_remove("MEMDIR_TOKEN");
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().map_err(fail)?;
        let mut line = String::new();
        if let Some(error) = child.stderr.take() {
            io::BufReader::new(error).read_line(&mut line).map_err(fail)?;
        }
        let Some(url) = line.trim().strip_prefix("memdir: serving ").and_then(|url| url.strip_suffix("/mcp")) else {
            return Err(fail(io::Error::other(line)));
        };
        Ok(ServedCorpus { client: RestClient::new(url, None), child })
    }
}

impl Drop for ServedCorpus {
    fn drop(&mut self) {
        // It has nothing that must be saved.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl BenchTarget for ServedCorpus {
    fn name(&self) -> &'static str {
        "http"
    }

    fn client(&self) -> Box<dyn FnMut(&Request) -> Result<(), Failure> + Send + '_> {
        over_rest(&self.client)
    }
}

/// The server of `--server`.
struct RemoteServer {
    client: RestClient,
}

impl BenchTarget for RemoteServer {
    fn name(&self) -> &'static str {
        "server"
    }

    fn client(&self) -> Box<dyn FnMut(&Request) -> Result<(), Failure> + Send + '_> {
        over_rest(&self.client)
    }
}

fn over_rest(client: &RestClient) -> Box<dyn FnMut(&Request) -> Result<(), Failure> + Send + '_> {
    Box::new(|request| match request.work {
        Work::Read => client.get(&request.name),
        Work::Search => client.search(&request.text),
        Work::Write => client.put(&request.name, &request.text),
    })
}

fn show(report: &ServeBenchReport, printer: &mut Printer<'_>) -> io::Result<()> {
    printer.line(format!("{} memories, {} requests of each kind", report.files, report.requests))?;
    let mut rows = vec![["", "target", "clients", "per second", "p50 ms", "p95 ms", "p50 ratio"].map(str::to_owned).to_vec()];
    rows.extend(report.rows.iter().map(|row| {
        let ratios = [(row.ratio, "library"), (row.http_ratio, "http")];
        let ratios = ratios.into_iter().filter_map(|(ratio, target)| ratio.map(|ratio| format!("{ratio:.1} × {target}")));
        let ratio = ratios.collect::<Vec<_>>().join(", ");
        let (per_second, p50, p95) = (format!("{:.0}", row.per_second), format!("{:.2}", row.p50), format!("{:.2}", row.p95));
        vec![row.what.to_owned(), row.target.to_owned(), row.clients.to_string(), per_second, p50, p95, ratio]
    }));
    printer.table(&rows)
}
