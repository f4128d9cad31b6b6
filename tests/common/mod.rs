//! A separate server for each test: the built program on a free port with a temporary data folder.

#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

pub mod converter;
pub mod go;
pub mod kubectl;
mod secrets;
pub mod tls_server;
pub mod wire;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use secrets::Logs;
use tempfile::TempDir;

/// The built program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_kube-apiserver");

/// Returns the tested program: the built one, or the one in `ATTACK_PROGRAM`.
pub fn program() -> String {
    std::env::var("ATTACK_PROGRAM").unwrap_or_else(|_| PROGRAM.to_owned())
}

/// Turns the controllers off, unless a test selects them: most tests observe the API alone.
fn without_controllers(flags: &[&str]) -> Option<&'static str> {
    flags.iter().all(|flag| !flag.starts_with("--controllers")).then_some("--controllers=-*")
}

/// Number of log lines that are printed when a test fails.
const LOG_LINES: usize = 20;

/// A running server. On drop it is killed, and its logs are searched for secrets.
pub struct Server {
    process: Child,
    data: PathBuf,
    /// The base URL, such as `https://127.0.0.1:40123`.
    pub url: String,
    /// Collects the standard error until the server has ended.
    log: Option<JoinHandle<String>>,
    logs: Logs,
    /// The temporary folder, when the server owns it.
    _folder: Option<TempDir>,
}

impl Server {
    /// Starts a server in an empty folder.
    pub fn start() -> Server {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Server::start_in(folder.path());
        server._folder = Some(folder);
        server
    }

    /// Starts a server with the data in `folder`, and waits until it announces its URL.
    pub fn start_in(folder: &Path) -> Server {
        Server::start_with(folder, &[])
    }

    /// Starts a server with further flags and the data in `folder`.
    pub fn start_with(folder: &Path, flags: &[&str]) -> Server {
        Server::start_in_environment(folder, flags, &[])
    }

    /// As `start_with`, with further environment variables.
    pub fn start_in_environment(folder: &Path, flags: &[&str], environment: &[(&str, &OsStr)]) -> Server {
        let mut command = Command::new(program());
        command.envs(environment.iter().copied()).args(without_controllers(flags));
        Server::start_by(command, folder, flags)
    }

    /// As `start_with`, with a limit of open files.
    pub fn start_with_files(open_files: u32, folder: &Path, flags: &[&str]) -> Server {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("ulimit -n {open_files}; exec \"$0\" \"$@\""), &program()]);
        shell.args(without_controllers(flags));
        Server::start_by(shell, folder, flags)
    }

    /// Starts another program than the tested one, with its default controllers.
    pub fn start_program(program: &Path, folder: &Path, flags: &[&str]) -> Server {
        Server::start_by(Command::new(program), folder, flags)
    }

    fn start_by(mut command: Command, folder: &Path, flags: &[&str]) -> Server {
        let data = folder.join("data");
        let (logs, logging) = Logs::prepare(folder, flags);
        let mut process = command
            .args(["--secure-port=0", "--bind-address=127.0.0.1"])
            .arg(format!("--data-dir={}", data.display()))
            .args(logging)
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(process.stderr.take().unwrap());
        let mut log = Vec::new();
        let url = announced_url(&mut stderr, &mut log);
        // An unread pipe would fill and block the server.
        let log = std::thread::spawn(move || {
            let _ = stderr.read_to_end(&mut log);
            String::from_utf8_lossy(&log).into_owned()
        });
        match url {
            Some(url) => Server { process, data, url, log: Some(log), logs, _folder: None },
            None => {
                let _ = process.kill();
                let _ = process.wait();
                panic!("the server did not start: {}", log.join().unwrap());
            }
        }
    }

    /// Returns the path of the administrator's kubeconfig, written by the server.
    pub fn kubeconfig(&self) -> PathBuf {
        self.data.join("admin.kubeconfig")
    }

    /// Sends SIGTERM and waits for the end of the server; reports whether it exited with success.
    pub fn stop(mut self) -> bool {
        let signalled = Command::new("kill").arg(self.process.id().to_string()).status().unwrap();
        signalled.success() && self.process.wait().unwrap().success()
    }

    /// Kills the server with `kill -9`, like a power failure.
    pub fn kill(self) {
        drop(self);
    }

    /// Waits until the server exits without a signal; `None` when it does not within this time.
    pub fn ended_within(&mut self, time: Duration) -> Option<ExitStatus> {
        let begin = Instant::now();
        while begin.elapsed() < time {
            if let Some(status) = self.process.try_wait().unwrap() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        None
    }

    /// Returns the data folder of the server.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Returns the ID of the server's process.
    pub fn process_id(&self) -> u32 {
        self.process.id()
    }

    /// Returns the content of the audit log.
    pub fn audit_log(&self) -> String {
        self.logs.audit()
    }

    /// Ends the server; fails when its logs contain one of these secrets, or anything that looks
    /// like a secret.
    pub fn search_logs(mut self, secrets: &[&str]) {
        let log = self.end();
        self.logs.search(&log, secrets);
    }

    /// Ends the server and returns its log.
    pub fn log(mut self) -> String {
        let log = self.end();
        self.logs.search(&log, &[]);
        log
    }

    /// Ends the server, unless it has ended; returns its log.
    fn end(&mut self) -> String {
        let _ = self.process.kill();
        let _ = self.process.wait();
        self.log.take().map(|log| log.join().unwrap()).unwrap_or_default()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let log = self.end();
        if std::thread::panicking() {
            let lines: Vec<&str> = log.lines().filter(|line| !line.starts_with('I')).collect();
            let last = lines.len().saturating_sub(LOG_LINES);
            eprintln!("the server's last log lines:\n{}", lines[last..].join("\n"));
        } else {
            self.logs.search(&log, &[]);
        }
    }
}

/// Reads up to the line with the server's URL; `None` when there is no such line.
fn announced_url(stderr: &mut impl BufRead, log: &mut Vec<u8>) -> Option<String> {
    loop {
        let begin = log.len();
        if stderr.read_until(b'\n', log).ok()? == 0 {
            return None;
        }
        let line = String::from_utf8_lossy(&log[begin..]);
        if let Some((_, rest)) = line.split_once("Serving the Kubernetes API on ") {
            return Some(rest.split(". ").next().unwrap_or(rest).trim_end().to_owned());
        }
    }
}

/// Returns this host's address in the network; its tests are marked `#[needs(network)]`. Connecting
/// a UDP socket sends nothing.
pub fn own_address() -> String {
    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
    socket.connect("192.0.2.1:9").unwrap();
    socket.local_addr().unwrap().ip().to_string()
}

/// Output and exit status of a program.
pub struct Outcome {
    pub ok: bool,
    pub stdout: String,
    pub stderr: String,
}

/// Runs a command to its end with `input` on its standard input.
pub fn run(command: &mut Command, input: &[u8]) -> Outcome {
    use std::io::Write;
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that rejects its arguments closes its input early; its output is still collected.
    let _ = process.stdin.take().unwrap().write_all(input);
    let mut stderr = process.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = Vec::new();
        let _ = stderr.read_to_end(&mut text);
        text
    });
    let output = process.wait_with_output().unwrap();
    Outcome {
        ok: output.status.success(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&errors.join().unwrap()).into_owned(),
    }
}
