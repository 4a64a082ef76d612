//! A page of tables and pictures, as text, Markdown or HTML.

use anyhow::Context;
use banach_lab::Picture;
use minijinja::{Environment, value::Serde};
use serde::Serialize;

use super::ResultTable;

/// What a page says.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Page {
    /// Its title.
    pub title: String,
    /// Its parts, in order.
    pub sections: Vec<Section>,
}

/// A table with its pictures.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Section {
    /// The table.
    pub table: ResultTable,
    /// Pictures that belong to it.
    pub pictures: Vec<Shown>,
}

impl From<ResultTable> for Section {
    fn from(table: ResultTable) -> Self {
        Self { table, pictures: vec![] }
    }
}

/// A picture on a page.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Shown {
    /// Its file name without extension.
    name: &'static str,
    /// What it shows.
    caption: String,
    /// The picture itself.
    svg: String,
}

impl Shown {
    pub(crate) fn new(picture: &Picture, caption: &str) -> Self {
        Self { name: picture.name, caption: caption.to_owned(), svg: picture.svg.clone() }
    }

    fn markdown(&self) -> String {
        format!("![{}]({}.png)", self.caption, self.name)
    }
}

impl Page {
    /// The tables, one after another.
    pub(crate) fn text(&self) -> String {
        self.sections.iter().map(|section| section.table.text()).collect::<Vec<_>>().join("\n")
    }

    /// The tables; pictures are linked from the same folder.
    pub(crate) fn markdown(&self) -> String {
        let sections = self.sections.iter().flat_map(|section| {
            [section.table.markdown()].into_iter().chain(section.pictures.iter().map(|shown| shown.markdown() + "\n"))
        });
        [format!("# {}\n", self.title)].into_iter().chain(sections).collect::<Vec<_>>().join("\n")
    }

    /// One file that needs no other.
    pub(crate) fn html(&self) -> anyhow::Result<String> {
        let mut environment = Environment::new();
        // The ending of the name turns escaping on.
        environment.add_template("page.html", include_str!("page.html")).context("the page's template")?;
        let template = environment.get_template("page.html").context("the page's template")?;
        template.render(Serde(self)).context("rendering the page")
    }
}

#[cfg(test)]
mod tests {
    use super::{super::Cell, *};

    fn page() -> Page {
        let table = ResultTable {
            title: "Table <0>".into(),
            setting: "|u| & more".into(),
            header: vec!["row".into(), "count".into()],
            rows: vec![
                vec!["<script>".into(), Cell::judged("3", Some(true))],
                vec!["b".into(), Cell::judged("4", Some(false))],
            ],
            notes: vec!["A \"note\".".into()],
        };
        let picture = Picture { name: "drawn", svg: "<svg><rect/></svg>".into(), png: vec![] };
        let pictures = vec![Shown::new(&picture, "What it shows.")];
        Page { title: "A & B".into(), sections: vec![Section { table: table.clone(), pictures }, table.into()] }
    }

    #[test]
    fn html_holds_everything_and_escapes_all_but_pictures() {
        let html = page().html().expect("it renders");
        for expected in [
            "<title>A &amp; B</title>",
            "Table &lt;0&gt;",
            "|u| &amp; more",
            "&lt;script&gt;",
            "<svg><rect/></svg>",
            "What it shows.",
            "3 =",
            "4 !=",
        ] {
            assert!(html.contains(expected), "{expected} is missing in\n{html}");
        }
        assert!(!html.contains("<script>") && !html.contains("{{") && !html.contains("{%"));
        assert_eq!(html.matches("<table>").count(), 2);
    }

    #[test]
    fn markdown_and_text_hold_every_table() {
        let markdown = page().markdown();
        assert_eq!(markdown.matches("## Table \\<0>").count(), 2);
        assert!(markdown.starts_with("# A & B\n\n## ") && markdown.contains("\n\n![What it shows.](drawn.png)\n\n## "));
        assert_eq!(page().text().matches("Table <0>").count(), 2);
    }
}
