//! Measures a cold process: reading one memory against `cat`, an action against `/bin/true`, and the memory of a listing.
//! `cargo bench -p memdir --bench cold`. Times are ratios within one run.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that measures processes and prints numbers"
)]

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant, SystemTime},
};

const TIMES: usize = 200;

fn main() {
    for memories in [1, 300, 10_000] {
        let home = machine(memories);
        let file = home.path().join("memory/t0/m0.md");
        let cat = || quiet(Command::new("cat").arg(&file));
        let read = || quiet(memdir(home.path()).args(["read", "t0/m0"]));
        let (cat, read) = medians(cat, read);
        println!("read one of {memories:>6} memories    {:.2} times cat (limit 5; {} against {})", ratio(read, cat), ms(read), ms(cat));
        let nothing = || quiet(&mut Command::new("/bin/true"));
        if memories == 10_000 {
            println!("list {memories} memories          {:.1} MB at most (limit 30)", peak(memdir(home.path()).arg("list")));
            println!("the same as --json          {:.1} MB at most (limit 30)", peak(memdir(home.path()).args(["list", "--json"])));
        } else {
            let action = || quiet(memdir(home.path()).args(["recall", "--action", "--tool", "Bash", "--command", "git push --force"]));
            action();
            let (nothing, action) = medians(nothing, action);
            println!("tripwires of {memories:>6} memories   {:.2} times /bin/true ({})", ratio(action, nothing), ms(action));
        }
    }
    let home = machine(1_000);
    let nothing = || quiet(&mut Command::new("/bin/true"));
    for (what, limit, args) in [
        ("tripwires of 1,000 memories", 10, vec!["recall", "--action", "--tool", "Bash", "--command", "git push --force"]),
        ("a search in 1,000 memories ", 15, vec!["search", "the release of module 77"]),
        ("a recall in 1,000 memories ", 0, vec!["recall", "Could you look at the release of module 77 for me please?"]),
    ] {
        let run = || quiet(memdir(home.path()).args(&args));
        run();
        let (nothing, took) = medians(nothing, run);
        let limit = if limit > 0 { format!("limit {limit}; ") } else { String::new() };
        println!("{what} {:.2} times /bin/true ({limit}{} against {})", ratio(took, nothing), ms(took), ms(nothing));
    }
}

/// A machine with so many memories, none of them new.
fn machine(memories: usize) -> tempfile::TempDir {
    let home = tempfile::TempDir::new().unwrap();
    let old = SystemTime::now() - Duration::from_secs(3_600);
    for n in 0..memories {
        let path = home.path().join("memory").join(format!("t{}/m{n}.md", n % 100));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let when = if n % 10 == 0 { format!("when:\n  command: \"tool{n} *\"\n") } else { String::new() };
        let text = format!("---\nname: Module {n}\n{when}---\n\nThe release of module {n} goes out on day {}.\n", n % 28);
        fs::write(&path, text).unwrap();
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
    }
    // Files modified less than two seconds ago are read again each time, by every process.
    std::thread::sleep(Duration::from_millis(2_100));
    home
}

fn memdir(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command.env_clear().env("HOME", home).env("MEMDIR_HOME", home.join("home")).env("MEMDIR_DIR", home.join("memory"));
    command.current_dir(home);
    command
}

fn quiet(command: &mut Command) -> Duration {
    let begun = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
    begun.elapsed()
}

/// Returns the medians of two operations, run alternately so that both have the same load on the machine.
fn medians(a: impl Fn() -> Duration, b: impl Fn() -> Duration) -> (Duration, Duration) {
    let (mut first, mut second): (Vec<_>, Vec<_>) = (0..TIMES).map(|_| (a(), b())).unzip();
    first.sort();
    second.sort();
    (first[TIMES / 2], second[TIMES / 2])
}

/// Returns the peak memory of a process in megabytes, as the shell's `time` reports it.
fn peak(command: &mut Command) -> f64 {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0.0_f64;
    let mut piece = [0; 512];
    // Small reads keep it alive while it is looked at; VmHWM is the kernel's own high-water mark.
    while std::io::Read::read(&mut out, &mut piece).unwrap() > 0 {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        most = most.max(kilobytes.unwrap_or(0.0) / 1024.0);
    }
    child.wait().unwrap();
    most
}

fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

fn ms(took: Duration) -> String {
    format!("{:.2} ms", took.as_secs_f64() * 1e3)
}
