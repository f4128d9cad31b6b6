//! The commands in README.md work as printed there, and print what is printed there.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, in its helpers too")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use needs::needs;
use regex::Regex;
use rustix::process::{Pid, Signal, kill_process_group};

const README: &str = include_str!("../README.md");

/// Path of the tested program.
const PROGRAM: &str = env!("CARGO_BIN_EXE_kube-apiserver");

/// Commands that this test does not run, with the reason.
const NOT_RUN: [(&str, &str); 7] = [
    ("cargo build --release", "a release build takes minutes"),
    ("cargo install --locked --path .", "a release build takes minutes"),
    (".ci/release", "makes two release builds"),
    (".ci/packages --strip target/released/kube-apiserver packages", ".ci/packages-try runs it"),
    ("cargo run", "builds; the first command runs the built program"),
    ("cargo test --workspace", "runs this test"),
    (".ci/run", "runs this test"),
];

/// The exporting program. The test calls its function, because this command compiles the
/// generator's dependencies again, with other features than for `cargo test`.
const EXPORT: &str = "cargo run -p codegen --bin export -- ";

/// A fenced block of README.md.
struct Block<'t> {
    language: &'t str,
    lines: Vec<&'t str>,
    /// The paragraph before the block.
    before: &'t str,
}

/// A command with the output below it. Blocks of `sh` have no output.
struct Step<'t> {
    command: &'t str,
    comment: &'t str,
    output: Option<String>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let parts: Vec<&str> = text.split("\n```").collect();
    let fenced = parts.chunks_exact(2).map(|pair| {
        let (language, code) = pair[1].split_once('\n').unwrap();
        let before = pair[0].trim_end().rsplit("\n\n").next().unwrap();
        Block { language, lines: code.lines().collect(), before }
    });
    fenced.collect()
}

impl<'t> Block<'t> {
    fn steps(&self) -> Vec<Step<'t>> {
        let is_transcript = match self.language {
            "console" => true,
            "sh" => false,
            "rust" => return Vec::new(),
            other => panic!("a block of {other:?} in README.md: write `console` or `sh` for commands"),
        };
        let mut steps: Vec<Step> = Vec::new();
        for line in &self.lines {
            let command = if is_transcript { line.strip_prefix("$ ") } else { Some(*line) };
            match (command, steps.last_mut()) {
                (Some(command), _) => {
                    let (command, comment) = command.split_once(" # ").unwrap_or((command, ""));
                    let output = is_transcript.then(String::new);
                    steps.push(Step { command: command.trim_end(), comment, output });
                }
                (None, Some(Step { output: Some(output), .. })) => *output += &format!("{line}\n"),
                (None, _) => panic!("README.md: output before the first command: {line}"),
            }
        }
        steps
    }

    /// Writes a definition into the folder of its group. The paragraph before the block names the
    /// file.
    fn write_definition(&self, folder: &Path) {
        let file = self.before.split('`').find(|word| word.ends_with(".rs")).unwrap();
        let folder = folder.join("api-defs/shop.example.com");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(file), self.lines.join("\n") + "\n").unwrap();
    }
}

/// A shell that runs commands in a folder. On drop, its programs are killed.
struct Shell<'f> {
    folder: &'f Path,
    process: Child,
    input: ChildStdin,
    statuses: BufReader<ChildStdout>,
    /// Read the output of background programs to its end.
    readers: Vec<JoinHandle<()>>,
}

impl<'f> Shell<'f> {
    fn start(folder: &'f Path) -> Shell<'f> {
        let mut shell = Command::new("sh");
        shell.current_dir(folder).env("HOME", folder).env_remove("KUBECONFIG").process_group(0);
        let mut process = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, statuses) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        Shell { folder, process, input, statuses, readers: Vec::new() }
    }

    /// Starts a command; its output goes to a file.
    fn send(&mut self, command: &str, output: &str) {
        writeln!(self.input, "{{ {command}\n}} </dev/null >{output} 2>&1; echo $?").unwrap();
    }

    fn status(&mut self) -> i32 {
        let mut line = String::new();
        self.statuses.read_line(&mut line).unwrap();
        line.trim_end().parse().unwrap()
    }

    /// Runs a command to its end.
    fn run(&mut self, command: &str) -> (i32, String) {
        self.send(command, "output");
        (self.status(), fs::read_to_string(self.folder.join("output")).unwrap())
    }

    /// Starts a program in the background, and waits until it has printed a number of lines that are
    /// not in its log.
    fn run_in_background(&mut self, command: &str, lines: usize) -> (i32, String) {
        let pipe = format!("pipe-{}", self.readers.len());
        assert_eq!(self.run(&format!("mkfifo {pipe}")), (0, String::new()));
        self.send(command, &pipe);
        let mut reader = BufReader::new(File::open(self.folder.join(pipe)).unwrap());
        let status = self.status();
        let (log_line, mut printed) = (Regex::new(r"^[IWEF]\d{4} ").unwrap(), String::new());
        while printed.lines().count() < lines {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap() == 0 {
                break;
            }
            if !log_line.is_match(&line) {
                printed += &line;
            }
        }
        self.readers.push(std::thread::spawn(move || {
            let _ = reader.read_to_end(&mut Vec::new());
        }));
        (status, printed)
    }
}

impl Drop for Shell<'_> {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.process), Signal::KILL);
        let _ = self.process.wait();
        // The programs have ended when their output has, and write no more files.
        self.readers.drain(..).for_each(|reader| drop(reader.join()));
    }
}

/// Installs the tested program at the path that README.md has. It listens on a free port instead of
/// 6443.
fn install_program(folder: &Path) {
    let program = folder.join("target/debug/kube-apiserver");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(&program, format!("#!/bin/sh\nexec '{PROGRAM}' --secure-port=0 \"$@\"\n")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Replaces ports, codes and ages, which differ between two runs.
fn normalized(text: &str) -> String {
    let port = Regex::new(r"127\.0\.0\.1:\d+").unwrap().replace_all(text, "127.0.0.1:PORT");
    let code = Regex::new(r"#code=\S+").unwrap().replace_all(&port, "#code=CODE").into_owned();
    Regex::new(r"(?m) \d+m?s$").unwrap().replace_all(code.trim_end(), " AGE").into_owned()
}

/// Exports into the folder. A comment `N lines` states the length of the files.
fn export(words: &str, comment: &str, folder: &Path) {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let out = folder.join(words.last().unwrap());
    codegen::export::command(words, folder, folder).unwrap();
    if let Some(lines) = comment.trim().strip_suffix(" lines") {
        let files = fs::read_dir(out).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        assert_eq!(files.map(|text| text.lines().count()).sum::<usize>().to_string(), lines);
    }
}

fn run(step: &Step, shell: &mut Shell) {
    let Step { command, comment, output } = step;
    // A command that shows a file states what the reader has to write into it.
    if let (Some(file), Some(output)) = (command.strip_prefix("cat "), output) {
        fs::write(shell.folder.join(file), output).unwrap();
    }
    if let Some(words) = command.strip_prefix(EXPORT) {
        return export(words, comment, shell.folder);
    }
    let expected = output.as_deref().unwrap_or_default();
    let (status, printed) = match command.ends_with('&') {
        true => shell.run_in_background(command, expected.lines().count()),
        false => shell.run(command),
    };
    if output.is_some() {
        assert_eq!(normalized(&printed), normalized(expected), "{command}");
    }
    if expected.is_empty() {
        assert_eq!(status, 0, "{command}: {printed}");
    }
}

#[needs(kubectl)]
#[test]
fn commands_work_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    install_program(folder.path());
    let mut shell = Shell::start(folder.path());
    for block in blocks(README) {
        if block.language == "rust" {
            block.write_definition(folder.path());
        }
        let steps = block.steps();
        for step in steps.iter().filter(|step| !NOT_RUN.iter().any(|(command, _)| *command == step.command)) {
            run(step, &mut shell);
        }
    }
}

#[test]
fn commands_that_do_not_run_are_in_readme() {
    let blocks = blocks(README);
    let steps: Vec<Step> = blocks.iter().flat_map(Block::steps).collect();
    assert!(steps.len() > NOT_RUN.len(), "README.md has commands");
    for (command, reason) in NOT_RUN {
        assert!(steps.iter().any(|step| step.command == command), "README.md has no command {command} ({reason})");
    }
}
