//! Encrypted connections to a server with a certificate of a private authority.

use crate::support::{TestDatabase, put, query, server, setup, text};
use memdir_postgres::{Database, DatabaseSettings};
use std::{fs, net::TcpListener, path::Path, process::Command};

/// A server of its own, which is removed when this is dropped.
struct PrivateServer;

impl Drop for PrivateServer {
    fn drop(&mut self) {
        setup(&["remove", "tls"]);
    }
}

fn openssl(dir: &Path, args: &str) {
    let output = Command::new("openssl").args(args.split(' ')).current_dir(dir).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_connection_is_encrypted_and_the_certificate_is_verified() {
    if server().is_none() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2";
    for authority in ["own", "foreign"] {
        openssl(dir.path(), &format!("req -x509 {key} -subj /CN={authority} -keyout {authority}-key.pem -out {authority}.pem"));
    }
    openssl(dir.path(), &format!("req {key} -subj /CN=localhost -keyout server-key.pem -out server.csr"));
    fs::write(dir.path().join("names"), "subjectAltName=DNS:localhost").unwrap();
    openssl(dir.path(), "x509 -req -in server.csr -CA own.pem -CAkey own-key.pem -CAcreateserial -days 2 -extfile names -out server.pem");

    setup(&["remove", "tls"]);
    let output = setup(&["new", "tls"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let _server = PrivateServer;
    let local = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for name in ["server.pem", "server-key.pem"] {
        let content = fs::read_to_string(dir.path().join(name)).unwrap();
        // The server writes the files itself, so that it may read them and no one else.
        let copy = format!("copy (select line from unnest(string_to_array($text${}$text$, E'\\n')) line)", content.trim());
        query(&local, &format!("{copy} to program 'umask 077; cat > {name}'")).unwrap();
    }
    for (parameter, value) in [("ssl", "on"), ("ssl_cert_file", "server.pem"), ("ssl_key_file", "server-key.pem")] {
        query(&local, &format!("alter system set {parameter} = '{value}'")).unwrap();
    }
    query(&local, "alter system set listen_addresses = '127.0.0.1'").unwrap();
    query(&local, &format!("alter system set port = {port}")).unwrap();
    let output = setup(&["restart", "tls"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let test = TestDatabase::on(&format!("{local} port={port}"));
    let database = test.url.split_whitespace().find(|word| word.starts_with("dbname=")).unwrap();
    let url = |mode: &str| format!("host=localhost hostaddr=127.0.0.1 port={port} user=postgres {database} sslmode={mode}");
    let settings = |mode: &str, authority: Option<&str>| DatabaseSettings {
        root_certificates: authority.map(|name| dir.path().join(format!("{name}.pem"))),
        ..DatabaseSettings::new(&url(mode))
    };
    for mode in ["require", "verify-full"] {
        let connected = Database::connect(&settings(mode, Some("own"))).unwrap();
        let store = crate::support::open(&connected, "projects/shop");
        put(&store, &format!("{mode}.md"), "secret").unwrap();
        assert_eq!(text(&store, &format!("{mode}.md")).as_deref(), Some("secret"));
        let encrypted = "select count(*) > 0, bool_and(s.ssl) from pg_stat_ssl s join pg_stat_activity a using (pid)
            where a.application_name = 'memdir' and a.client_addr is not null";
        assert_eq!(query(&test.url, encrypted).unwrap(), [["t", "t"]]);
    }
    for authority in [None, Some("foreign")] {
        let why = Database::connect(&settings("require", authority)).unwrap_err().to_string();
        assert!(
            why.contains("invalid peer certificate")
                && why.ends_with("; specify the server's certificate authority with --database-ca FILE"),
            "{why}"
        );
    }
    let why = Database::connect(&settings("require", Some("none"))).unwrap_err().to_string();
    assert!(why.starts_with("root certificates: ") && why.contains("none.pem"), "{why}");
}
