//! `banach export`: the equation of a model as code.

use banach_io::Saved;

use super::{args::Export, open};
use crate::{files, options::Common, print};

pub(crate) fn export(what: &Export, common: &Common) -> anyhow::Result<()> {
    files::check_output("-o", what.output.as_deref(), &[&what.model])?;
    let (saved, _taken) = open(&what.model, &common.account()?)?;
    let code = saved.equations()?.written_in(what.language)?;
    if let Saved::Auto(model) = &saved
        && let Some(standing) = model.model.record().terms_sentence()
    {
        common.say(format_args!("note: {standing}"));
    }
    match &what.output {
        Some(path) => files::write_file(path, code, common),
        None => print::data(&code),
    }
}
