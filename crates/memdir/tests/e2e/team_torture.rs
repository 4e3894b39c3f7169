//! Two replicas that are killed, frozen, or lose their database while people write through them: no acknowledged write is lost or doubled,
//! and the sequence has no gaps.

use crate::{
    home::Home,
    team_server::{HeldLock, TeamDatabase, call, setup, try_call, wait_for_waiting_change},
    web::Web,
};
use memdir_core::View as _;
use memdir_postgres::MemberRole;
use serde_json::json;
use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// A PostgreSQL server of its own, which is removed when this is dropped.
struct PrivateServer(&'static str);

impl PrivateServer {
    fn start(name: &'static str) -> Option<(PrivateServer, String)> {
        TeamDatabase::empty()?;
        setup(&["remove", name]);
        let output = setup(&["new", name]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Some((PrivateServer(name), String::from_utf8(output.stdout).unwrap().trim().to_owned()))
    }

    fn restart(&self) {
        assert!(setup(&["restart", self.0]).status.success());
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        setup(&["remove", self.0]);
    }
}

fn send(web: &Web, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_raw(web.pid() as i32).unwrap(), signal).unwrap();
}

#[test]
fn a_replica_that_is_killed_inside_a_transaction_leaves_nothing_behind() {
    let Some(team) = TeamDatabase::new() else { return };
    let token = team.token("ada", MemberRole::Writer);
    let homes = [Home::new(), Home::new()];
    let [first, second] = homes.each_ref().map(|home| team.replica(home, &[]));
    call(&second, &token, "memory_write", json!({ "path": "log", "content": "begun" }));
    // The plan of the change waits for the text while it holds the lock of the namespace.
    let lock = HeldLock::acquire(&team.url, "lock table memdir.documents in access exclusive mode");
    let (address, its_token) = (first.address, token.clone());
    let writing = std::thread::spawn(move || {
        try_call(address, &its_token, "memory_write", &json!({ "path": "log", "content": "lost", "mode": "append" }))
    });
    wait_for_waiting_change(&team.url);
    send(&first, rustix::process::Signal::KILL);
    drop(lock);
    assert_eq!(writing.join().unwrap(), None, "nothing was acknowledged");
    call(&second, &token, "memory_write", json!({ "path": "log", "content": "kept", "mode": "append" }));
    let text = call(&second, &token, "memory_read", json!({ "path": "log" }));
    assert!(text.contains("begun") && text.contains("kept") && !text.contains("lost"), "{text}");
    team.check_sequences();
}

#[test]
fn a_replica_that_is_frozen_inside_a_transaction_does_not_stop_the_other() {
    let Some(team) = TeamDatabase::new() else { return };
    let token = team.token("ada", MemberRole::Writer);
    let homes = [Home::new(), Home::new()];
    let [first, second] = homes.each_ref().map(|home| team.replica(home, &[]));
    call(&second, &token, "memory_write", json!({ "path": "log", "content": "begun" }));
    let lock = HeldLock::acquire(&team.url, "lock table memdir.documents in access exclusive mode");
    let (address, its_token) = (first.address, token.clone());
    let writing = std::thread::spawn(move || {
        try_call(address, &its_token, "memory_write", &json!({ "path": "log", "content": "thawed", "mode": "append" }))
    });
    wait_for_waiting_change(&team.url);
    send(&first, rustix::process::Signal::STOP);
    drop(lock);
    // Waits until the server ends the transaction of the frozen replica.
    call(&second, &token, "memory_write", json!({ "path": "log", "content": "kept", "mode": "append" }));
    send(&first, rustix::process::Signal::CONT);
    let answer = writing.join().unwrap().unwrap();
    assert_ne!(answer["isError"], true, "tried again after it was thawed: {answer}");
    let text = call(&second, &token, "memory_read", json!({ "path": "log" }));
    for word in ["begun", "kept", "thawed"] {
        assert_eq!(text.matches(word).count(), 1, "{text}");
    }
    team.check_sequences();
}

#[test]
fn no_acknowledged_write_is_lost_or_doubled_while_replicas_and_the_database_fail() {
    let Some((server, url)) = PrivateServer::start("team-torture") else { return };
    let team = TeamDatabase::on(&url).prepared();
    let homes = [Home::new(), Home::new()];
    let replicas: [Mutex<Web>; 2] = homes.each_ref().map(|home| Mutex::new(team.replica(home, &[])));
    let addresses: [Mutex<SocketAddr>; 2] = replicas.each_ref().map(|web| Mutex::new(web.lock().unwrap().address));
    let tokens: Vec<String> = ["ada", "ben", "cleo"].map(|person| team.token(person, MemberRole::Writer)).into();
    let (is_over, acknowledged) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acks: Mutex<(BTreeSet<String>, BTreeSet<String>)> = Mutex::default();
    std::thread::scope(|scope| {
        for (writer, token) in tokens.iter().enumerate() {
            let (addresses, is_over, acks, acknowledged) = (&addresses, &is_over, &acks, &acknowledged);
            scope.spawn(move || {
                let mut number = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let line = format!("w{writer}n{number}.");
                    // Two of them stay with their replica, so that one writes while the other replica is frozen.
                    let at = if writer < 2 { writer } else { number % 2 };
                    let address = *addresses[at].lock().unwrap();
                    let arguments = json!({ "path": format!("log-{}", number % 3), "content": line, "mode": "append" });
                    let result = try_call(address, token, "memory_write", &arguments);
                    let is_saved = result.is_some_and(|result| result["isError"] != true);
                    let mut acks = acks.lock().unwrap();
                    if is_saved {
                        acks.0.insert(line);
                        acknowledged.fetch_add(1, Ordering::Relaxed);
                    } else {
                        acks.1.insert(line);
                    }
                    number += 1;
                }
            });
        }
        // Goes on when some more writes were acknowledged.
        let more = |count: usize| {
            let goal = acknowledged.load(Ordering::Relaxed) + count;
            while acknowledged.load(Ordering::Relaxed) < goal {
                std::thread::yield_now();
            }
        };
        for round in 0..3 {
            let (own, other) = (round % 2, (round + 1) % 2);
            more(20);
            send(&replicas[own].lock().unwrap(), rustix::process::Signal::KILL);
            more(5);
            let web = team.replica(&homes[own], &[]);
            *addresses[own].lock().unwrap() = web.address;
            *replicas[own].lock().unwrap() = web;
            more(10);
            server.restart();
            more(10);
            send(&replicas[other].lock().unwrap(), rustix::process::Signal::STOP);
            more(1);
            send(&replicas[other].lock().unwrap(), rustix::process::Signal::CONT);
        }
        more(10);
        is_over.store(true, Ordering::Relaxed);
    });
    let (acknowledged, unknown) = acks.into_inner().unwrap();
    let store = team.store("projects/shop");
    let text: String = (0..3)
        .filter_map(|n| store.get(&memdir_core::MemoryPath::parse(&format!("log-{n}.md")).unwrap()).unwrap())
        .map(|stored| String::from_utf8(stored.bytes).unwrap())
        .collect();
    let count = |line: &String| text.matches(line.as_str()).count();
    let lost: Vec<&String> = acknowledged.iter().filter(|line| count(line) == 0).collect();
    let doubled: Vec<&String> = acknowledged.union(&unknown).filter(|line| count(line) > 1).collect();
    assert_eq!((lost, doubled), (vec![], vec![]), "of {} acknowledged and {} unknown writes", acknowledged.len(), unknown.len());
    // Both replicas find the last acknowledged write.
    for web in &replicas {
        let found = call(&web.lock().unwrap(), &tokens[0], "memory_search", json!({ "query": acknowledged.last().unwrap() }));
        assert!(found.contains("log-"), "{found}");
    }
    team.check_sequences();
}
