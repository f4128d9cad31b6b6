//! kubectl as an external command.

#![allow(dead_code, reason = "each test program uses a part")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::{Outcome, Server};

/// A server, and a kubectl with its kubeconfig.
pub struct Kubectl(pub Server);

impl Kubectl {
    /// Starts a server with the default flags.
    pub fn start() -> Kubectl {
        Kubectl(Server::start())
    }

    /// Returns a kubectl command.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new("kubectl");
        // kubectl caches discovery below the home folder; each server gets a separate one.
        command
            .env("KUBECONFIG", self.0.kubeconfig())
            .arg("--cache-dir")
            .arg(self.0.kubeconfig().with_extension("cache"))
            .args(args);
        command
    }

    /// Runs kubectl and waits for its end.
    pub fn try_run(&self, args: &[&str], input: &str) -> Outcome {
        super::run(&mut self.command(args), input.as_bytes())
    }

    /// Runs kubectl; fails unless it succeeds. Returns its standard output.
    pub fn run(&self, args: &[&str]) -> String {
        self.run_with(args, "")
    }

    /// As `run`, with a standard input.
    pub fn run_with(&self, args: &[&str], input: &str) -> String {
        let outcome = self.try_run(args, input);
        assert!(outcome.ok, "kubectl {}: {}{}", args.join(" "), outcome.stdout, outcome.stderr);
        outcome.stdout
    }

    /// Starts a kubectl that runs until it is dropped.
    pub fn follow(&self, args: &[&str]) -> Follow {
        let mut process = self.command(args).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap());
        Follow { process, lines }
    }
}

/// A kubectl process that runs until it is dropped.
pub struct Follow {
    process: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl Follow {
    /// Reads the next line; empty when kubectl has ended.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Fails unless a text contains all parts.
#[track_caller]
pub fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}
