//! Completions for shells and manual pages, made from the arguments themselves.

use std::{io::Cursor, path::PathBuf};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{args::Arguments, files::Folder, options::Common, print};

const COMPLETIONS: &str = "\
Examples:
  banach completions bash > ~/.local/share/bash-completion/completions/banach
  banach completions zsh > ~/.zfunc/_banach
  banach completions fish > ~/.config/fish/completions/banach.fish";

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub(crate) struct Completions {
    /// The shell.
    pub shell: Shell,
}

const MAN: &str = "\
Examples:
  banach man | man -l -
  banach man --out ~/.local/share/man/man1";

#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub(crate) struct Man {
    /// Write a page for every command to this folder: banach.1, banach-fit.1, ...
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub(crate) fn completions(what: &Completions) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(what.shell, &mut Arguments::command(), "banach", &mut script);
    print::out(&String::from_utf8_lossy(&script))
}

pub(crate) fn man(what: &Man, common: &Common) -> anyhow::Result<()> {
    let mut command = Arguments::command();
    let Some(out) = &what.out else { return print::out(&page(command)?) };
    let folder = Folder::create(out.clone(), common)?;
    command.build();
    pages(&command, &folder)
}

/// The pages of a command and of those below it.
fn pages(command: &clap::Command, folder: &Folder<'_>) -> anyhow::Result<()> {
    // A command below another is called by both names; its page joins them by a line.
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    folder.write(&format!("{name}.1"), page(command.clone())?)?;
    let visible = command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help");
    visible.into_iter().try_for_each(|below| pages(below, folder))
}

fn page(command: clap::Command) -> anyhow::Result<String> {
    let mut page = Cursor::new(Vec::new());
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page.into_inner()).into_owned())
}
