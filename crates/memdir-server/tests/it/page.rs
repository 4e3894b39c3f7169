//! The times of the page: how long its first URL works, when a session ends, and when the server does. The clock belongs to the test.

use jiff::{Timestamp, tz::TimeZone};
use memdir_core::{Actor, Clock, Memdir, testing::RamStore};
use memdir_server::{PageOptions, PageSpace, Viewer, serve_page};
use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
        mpsc::{self, Receiver},
    },
    thread,
    time::Duration,
};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct TestClock(AtomicI64);

impl TestClock {
    fn set_minutes(&self, minutes: i64) {
        self.0.store(minutes * 60, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).unwrap()
    }

    fn zone(&self) -> TimeZone {
        TimeZone::UTC
    }
}

/// A running page on an empty store.
struct TestPage {
    clock: Arc<TestClock>,
    address: String,
    /// The path and query of the first request.
    start: String,
    /// Receives a message when the server has ended.
    ended: Receiver<()>,
}

impl TestPage {
    fn start(idle_minutes: u32) -> TestPage {
        let clock = Arc::new(TestClock::default());
        let actor = Actor { name: "ada".into(), session: None };
        let memdir = Memdir::with_clock(Arc::new(RamStore::default()), actor, clock.clone());
        let space = PageSpace::new(memdir, Viewer { name: "ada".into(), may_write: true }, None);
        let ((ready, is_ready), (end, ended)) = (mpsc::channel(), mpsc::channel());
        thread::spawn(move || {
            serve_page(space, PageOptions { port: 0, idle_minutes }, move |url| ready.send(url.to_owned()).unwrap()).unwrap();
            end.send(()).unwrap();
        });
        let url = is_ready.recv_timeout(PATIENCE).unwrap();
        let (address, start) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
        TestPage { clock, address: address.into(), start: format!("/{start}"), ended }
    }

    fn base(&self) -> &str {
        self.start.split("/start").next().unwrap()
    }

    /// Returns the response to a request on a connection of its own. `rest` is its other headers, and its body.
    fn request(&self, method: &str, path: &str, cookie: &str, rest: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let address = &self.address;
        let request = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nCookie: {cookie}\r\nConnection: close\r\n{rest}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    /// Returns the head of the response to a GET.
    fn get(&self, path: &str, cookie: &str) -> String {
        self.request("GET", path, cookie, "\r\n").split("\r\n\r\n").next().unwrap().to_owned()
    }

    fn status(&self, path: &str, cookie: &str) -> u16 {
        self.get(path, cookie)["HTTP/1.1 ".len()..][..3].parse().unwrap()
    }

    /// Exchanges the token of the first URL for a cookie.
    fn sign_in(&self) -> String {
        let head = self.get(&self.start, "");
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap_or_else(|| panic!("{head}"));
        cookie.split(';').next().unwrap().to_owned()
    }
}

#[test]
fn the_first_url_expires_after_a_minute() {
    let page = TestPage::start(0);
    page.clock.set_minutes(1);
    assert_eq!(page.status(&page.start, ""), 401);
    // Even if the clock is set back: the token was tried, so it is invalid.
    page.clock.set_minutes(0);
    assert_eq!(page.status(&page.start, ""), 401);
}

#[test]
fn a_session_ends_after_a_day() {
    let page = TestPage::start(0);
    let (cookie, help) = (page.sign_in(), format!("{}/help", page.base()));
    page.clock.set_minutes(24 * 60 - 1);
    assert_eq!(page.status(&help, &cookie), 200);
    page.clock.set_minutes(24 * 60);
    assert_eq!(page.status(&help, &cookie), 401);
}

#[test]
fn unauthenticated_requests_do_not_extend_the_idle_timeout() {
    let page = TestPage::start(60);
    let (cookie, help) = (page.sign_in(), format!("{}/help", page.base()));
    page.clock.set_minutes(59);
    assert_eq!(page.status(&help, &cookie), 200);
    // An hour after the start, but not after the last request.
    page.clock.set_minutes(118);
    assert_eq!(page.status(&help, "memdir=wrong"), 401);
    assert!(page.ended.try_recv().is_err());
    page.clock.set_minutes(119);
    page.ended.recv_timeout(PATIENCE).unwrap();
}

#[test]
fn an_error_has_the_status_that_it_has_in_the_rest_api() {
    let page = TestPage::start(0);
    let cookie = page.sign_in();
    for (path, status) in [("/m/no/such", 404), ("/change/zzzzzzzz", 404), ("/search?q=a&since=soon", 422)] {
        assert_eq!(page.status(&format!("{}{path}", page.base()), &cookie), status, "{path}");
    }
    let form = page.request("GET", &format!("{}/new", page.base()), &cookie, "\r\n");
    let csrf = form.split("name=\"csrf\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let save = |name: &str, text: &str| {
        let body = format!("csrf={csrf}&new=1&name={name}&text={text}");
        let headers = format!("Origin: http://{}\r\nContent-Type: application/x-www-form-urlencoded", page.address);
        let rest = format!("{headers}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        page.request("POST", &format!("{}/save", page.base()), &cookie, &rest)["HTTP/1.1 ".len()..][..3].to_owned()
    };
    assert_eq!([save("a", "One."), save("a", "Two."), save("..", "One.")], ["303", "409", "422"]);
}
