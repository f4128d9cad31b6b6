//! The flags as documents: Markdown, a manual page, and shell completions.

use std::fmt::Write;

use clap_complete::Shell;
use machinery::features::KnownGates;

use crate::command::command;
use crate::error::Error;
use crate::flag::{Flag, FlagType};
use crate::program::ServerProgram;

/// Renders the flags of a program with these feature gates in a format: `text` (as `--help`),
/// `markdown`, `man`, or the name of a shell for its completions.
///
/// # Errors
/// The format is unknown, or the page cannot be written.
pub fn document(program: ServerProgram, gates: &KnownGates, form: &str) -> Result<String, Error> {
    let mut flags = program.flags();
    flags.sort_by_key(|flag| flag.section as usize);
    let mut out = Vec::new();
    match (form, form.parse::<Shell>()) {
        ("text", _) => return Ok(command(program, &flags, gates).render_help().to_string()),
        ("markdown", _) => return Ok(markdown(program, &flags, gates)),
        ("man", _) => {
            let page = clap_mangen::Man::new(command(program, &flags, gates));
            page.render(&mut out).map_err(Error::Render)?;
        }
        (_, Ok(shell)) => {
            clap_complete::generate(shell, &mut command(program, &flags, gates), program.name(), &mut out)
        }
        _ => return Err(Error::UnknownForm { form: form.to_owned() }),
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// A table for each section, in the order of `--help`.
fn markdown(program: ServerProgram, flags: &[&Flag], gates: &KnownGates) -> String {
    let command = command(program, flags, gates);
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut out = format!("# {}\n\n{about}\n", program.name());
    out.push_str("\n## Commands\n\n| command | |\n|---|---|\n");
    // Writing to a string cannot fail.
    for command in program.commands() {
        let _ = writeln!(out, "| `{} {}` | {} |", program.name(), command.name, command.summary);
    }
    let mut section = None;
    for flag in flags {
        if section != Some(flag.section) {
            section = Some(flag.section);
            let _ = write!(out, "\n## {}\n\n| flag | default | |\n|---|---|---|\n", flag.section.title());
        }
        let value = if flag.kind == FlagType::Bool { String::new() } else { format!("={}", flag.value) };
        let default = if flag.default.is_empty() { String::new() } else { format!("`{}`", flag.default) };
        let help = flag.help_text(gates).replace('|', "\\|").replace('<', "&lt;").replace('\n', "<br>");
        let _ = writeln!(out, "| `--{}{}` | {default} | {help} |", flag.name, value.replace('|', "\\|"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_flags_in_all_formats() {
        for (form, expect) in [
            (
                "markdown",
                "\n## Secure serving flags\n\n| flag | default | |\n|---|---|---|\n| `--bind-address=ADDRESS` |",
            ),
            (
                "text",
                "Usage: kube-apiserver [FLAGS]\n       kube-apiserver assets|convert|etcd|help|kubeconfig|new|probe|snapshot ...",
            ),
            ("text", "\n  snapshot    save, restore"),
            ("markdown", "\n| `kube-apiserver etcd` | serve etcd's API"),
            ("text", "APIServerIdentity=true|false (BETA - default=true)"),
            ("man", ".TH kube-apiserver 1"),
            ("man", "\\fB\\-\\-bind\\-address\\fR"),
            ("bash", "--bind-address"),
            ("zsh", "--bind-address"),
            ("fish", "bind-address"),
        ] {
            let text = document(ServerProgram::KubeApiserver, &KnownGates::default(), form).unwrap();
            assert!(text.contains(expect), "{form}: {text}");
        }
        let why = document(ServerProgram::KubeApiserver, &KnownGates::default(), "html").unwrap_err().to_string();
        assert_eq!(why, "unknown form \"html\"; there are: text, markdown, man, bash, elvish, fish, powershell, zsh");
    }
}
