//! The service as a process, driven by plain HTTP over a socket, and ended by a signal.
#![allow(clippy::unwrap_used, reason = "a test that meets an error fails")]
#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

struct Service {
    process: Child,
    address: String,
    output: BufReader<ChildStdout>,
}

impl Service {
    fn start(notice: Duration) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_volary-axum-service"))
            .env("ADDRESS", "127.0.0.1:0")
            .env("NOTICE_MILLIS", notice.as_millis().to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Service {
            process,
            address,
            output,
        }
    }

    /// The status code and the whole answer.
    fn call(&self, request: &str, headers: &str) -> (u16, String) {
        let mut answer = String::new();
        self.begin(request, headers).read_to_string(&mut answer).unwrap();
        (status(&answer), answer)
    }

    fn begin(&self, request: &str, headers: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let text = format!("{request} HTTP/1.1\r\nhost: bank\r\nconnection: close\r\n{headers}\r\n");
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn terminate(&self) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    }

    /// What it says until it ends; it must end well.
    fn end(mut self) -> String {
        let (send, receive) = mpsc::channel();
        let id = self.process.id().to_string();
        std::thread::spawn(move || {
            let mut said = String::new();
            self.output.read_to_string(&mut said).unwrap();
            let _ = send.send((said, self.process.wait().unwrap()));
        });
        let Ok((said, status)) = receive.recv_timeout(PATIENCE) else {
            let _ = Command::new("kill").args(["-KILL", &id]).status();
            panic!("the service does not end");
        };
        assert!(status.success(), "{status}: {said}");
        said
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn status(answer: &str) -> u16 {
    let code = answer.split(' ').nth(1);
    code.and_then(|code| code.parse().ok())
        .unwrap_or_else(|| panic!("no status in {answer:?}"))
}

#[test]
fn every_way_in_which_an_ask_ends_is_a_status_code() {
    let service = Service::start(Duration::ZERO);
    assert_eq!(service.call("GET /ready", "").0, 200);
    assert_eq!(service.call("GET /accounts/ada", "").0, 404);
    let (status, answer) = service.call("POST /accounts/ada/deposit/500", "");
    assert_eq!(status, 200);
    assert!(answer.ends_with("500 cents\n"), "{answer}");
    let (status, answer) = service.call("POST /accounts/ada/withdraw/700", "");
    assert_eq!(status, 422, "a rejection");
    assert!(answer.ends_with("200 cents are missing\n"), "{answer}");
    assert_eq!(
        service.call("POST /accounts/ada/audit/60000", "").0,
        504,
        "no answer in time"
    );
    assert_eq!(
        service.call("POST /accounts/bob/deposit/18446744073709551615", "").0,
        200
    );
    let (status, answer) = service.call("POST /accounts/bob/deposit/1", "");
    assert_eq!(status, 500, "a fault");
    assert!(
        !answer.contains("the account is full"),
        "what broke is not told: {answer}"
    );
    let (status, answer) = service.call("GET /accounts/bob", "");
    assert_eq!(status, 200);
    assert!(
        answer.contains("18446744073709551615 cents"),
        "it kept its state: {answer}"
    );
    assert_eq!(
        service.call("POST /accounts/a%2Fb/deposit/1", "").0,
        400,
        "no name for an actor"
    );
}

#[test]
fn the_trace_of_a_request_reaches_the_actor() {
    let service = Service::start(Duration::ZERO);
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let header = format!("traceparent: 00-{trace}-b7ad6b7169203331-01\r\n");
    assert_eq!(service.call("POST /accounts/ada/deposit/5", &header).0, 200);
    let (_, answer) = service.call("GET /accounts/ada", "");
    assert!(answer.contains(trace), "{answer}");
    assert_eq!(
        service
            .call("POST /accounts/ada/deposit/5", "traceparent: nonsense\r\n")
            .0,
        200
    );
    let (_, answer) = service.call("GET /accounts/ada", "");
    assert!(answer.contains("changed by nobody we know"), "{answer}");
}

#[test]
fn it_says_that_it_is_not_ready_and_still_serves_before_it_ends() {
    let service = Service::start(Duration::from_secs(3));
    assert_eq!(service.call("POST /accounts/ada/deposit/5", "").0, 200);
    service.terminate();
    let until = Instant::now() + PATIENCE;
    while service.call("GET /ready", "").0 != 503 {
        assert!(Instant::now() < until, "it stays ready");
    }
    assert_eq!(
        service.call("GET /accounts/ada", "").0,
        200,
        "those who come late are served"
    );
    // One that is under way when the listener closes is answered.
    let mut slow = service.begin("POST /accounts/ada/audit/300", "");
    let said = service.end();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert_eq!(status(&answer), 200, "{answer}");
    assert!(said.contains("not ready any more"), "{said}");
    assert!(said.contains("ended in order"), "{said}");
}
