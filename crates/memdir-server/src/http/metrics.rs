//! The numbers of a server, as Prometheus reads them: requests by route and status, their latency, and what the process uses. They
//! contain no name of a memory, a caller or a project.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Upper bounds of the latency buckets, in seconds.
const BUCKETS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// The numbers of all requests. The labels come from the table of routes, so there are few of them.
#[derive(Default)]
pub(super) struct HttpMetrics(Mutex<Requests>);

#[derive(Default)]
struct Requests {
    by_status: BTreeMap<(&'static str, u16), u64>,
    latency: BTreeMap<&'static str, Histogram>,
}

#[derive(Default)]
struct Histogram {
    buckets: [u64; BUCKETS.len()],
    count: u64,
    seconds: f64,
}

/// Numbers that are read when they are asked for.
pub(super) struct Gauges {
    /// Running calls.
    pub(super) calls: usize,
    /// Memory spaces currently open.
    pub(super) spaces: usize,
    /// Whether the server is shutting down.
    pub(super) is_draining: bool,
}

impl HttpMetrics {
    /// Counts a request whose response is ready.
    pub(super) fn record(&self, route: &'static str, status: u16, took: Duration) {
        let mut requests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *requests.by_status.entry((route, status)).or_default() += 1;
        let histogram = requests.latency.entry(route).or_default();
        let seconds = took.as_secs_f64();
        histogram.count += 1;
        histogram.seconds += seconds;
        for (bucket, bound) in histogram.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= bound);
        }
    }

    /// Returns all numbers in Prometheus' text format.
    pub(super) fn to_text(&self, gauges: &Gauges) -> String {
        let requests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        };
        head(&mut text, "memdir_http_requests_total", "counter", "HTTP requests, by route and status.");
        for ((route, status), count) in &requests.by_status {
            let _ = writeln!(text, "memdir_http_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}");
        }
        let name = "memdir_http_request_duration_seconds";
        head(&mut text, name, "histogram", "Time until a response is ready, in seconds, by route.");
        for (route, histogram) in &requests.latency {
            for (bound, count) in BUCKETS.iter().zip(histogram.buckets) {
                let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"{bound}\"}} {count}");
            }
            let Histogram { count, seconds, .. } = histogram;
            let _ = writeln!(text, "{name}_bucket{{route=\"{route}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{name}_sum{{route=\"{route}\"}} {seconds}");
            let _ = writeln!(text, "{name}_count{{route=\"{route}\"}} {count}");
        }
        let mut gauge = |name: &str, help: &str, value: u64| {
            head(&mut text, name, "gauge", help);
            let _ = writeln!(text, "{name} {value}");
        };
        gauge("memdir_calls_in_flight", "Tool calls and REST requests in progress.", gauges.calls as u64);
        gauge("memdir_open_spaces", "Memory spaces currently open.", gauges.spaces as u64);
        gauge("memdir_draining", "1 if the server is shutting down, otherwise 0.", u64::from(gauges.is_draining));
        if let Some(bytes) = resident_bytes() {
            gauge("process_resident_memory_bytes", "Resident memory size in bytes.", bytes);
        }
        text
    }
}

/// Returns the resident memory of this process, if the system reports it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?;
    Some(kilobytes.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_route_status_and_time() {
        let metrics = HttpMetrics::default();
        metrics.record("get_memory", 200, Duration::from_millis(2));
        metrics.record("get_memory", 200, Duration::from_millis(40));
        metrics.record("get_memory", 404, Duration::from_secs(60));
        let text = metrics.to_text(&Gauges { calls: 3, spaces: 2, is_draining: false });
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("process_")).collect();
        for line in [
            "memdir_http_requests_total{route=\"get_memory\",status=\"200\"} 2",
            "memdir_http_requests_total{route=\"get_memory\",status=\"404\"} 1",
            "memdir_http_request_duration_seconds_bucket{route=\"get_memory\",le=\"0.001\"} 0",
            "memdir_http_request_duration_seconds_bucket{route=\"get_memory\",le=\"0.0025\"} 1",
            "memdir_http_request_duration_seconds_bucket{route=\"get_memory\",le=\"30\"} 2",
            "memdir_http_request_duration_seconds_bucket{route=\"get_memory\",le=\"+Inf\"} 3",
            "memdir_http_request_duration_seconds_count{route=\"get_memory\"} 3",
            "memdir_calls_in_flight 3",
            "memdir_open_spaces 2",
            "memdir_draining 0",
        ] {
            assert!(lines.contains(&line), "{line}\n{text}");
        }
    }
}
