//! Genotypes from the three files of PLINK to predictions for another cohort.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    banach,
    invocation::{folder, text},
    json, printed,
};

const VARIANTS: usize = 60;

/// Copies of the first allele, or none where it is not known. The last two variants are rare and constant.
fn copies(sample: usize, variant: usize) -> Option<usize> {
    let mixed = |salt: usize| {
        let mut x = (sample * 7919 + variant * 104_729 + salt * 15_485_863 + 1) as u64;
        x = (x ^ x >> 16).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((x ^ x >> 29) >> 11) as f64 / (1_u64 << 53) as f64
    };
    if variant == VARIANTS - 1 {
        return Some(0);
    }
    if variant == VARIANTS - 2 {
        return Some(usize::from(sample.is_multiple_of(97)));
    }
    let frequency = 0.2 + 0.3 * (variant % 7) as f64 / 6.0;
    let missing = if variant == 5 { 0.3 } else { 0.02 };
    (mixed(3) >= missing).then(|| usize::from(mixed(1) < frequency) + usize::from(mixed(2) < frequency))
}

fn age(sample: usize) -> f64 {
    30.0 + (sample * 37 % 41) as f64
}

fn pressure(sample: usize) -> f64 {
    let of = |variant| copies(sample, variant).unwrap_or(1) as f64;
    120.0 + 3.0 * of(7) - 2.0 * of(20) + 0.2 * age(sample) + (sample * 31 % 17) as f64 / 17.0
}

/// Writes a cohort; every variant that `turned` names has its alleles the other way round.
fn cohort(folder: &Path, name: &str, samples: std::ops::Range<usize>, turned: impl Fn(usize) -> bool) -> String {
    let (mut bed, mut bim, mut fam) = (vec![0x6c, 0x1b, 0x01], String::new(), String::new());
    for variant in 0..VARIANTS {
        let code = |sample| match (copies(sample, variant), turned(variant)) {
            (None, _) => 0b01_u8,
            (Some(1), _) => 0b10,
            (Some(2), false) | (Some(0), true) => 0b00,
            _ => 0b11,
        };
        let all: Vec<u8> = samples.clone().map(code).collect();
        bed.extend(all.chunks(4).map(|four| four.iter().rev().fold(0, |byte, code| byte << 2 | code)));
        let (first, second) = if turned(variant) { ("G", "A") } else { ("A", "G") };
        let chromosome = 1 + variant % 3;
        writeln!(bim, "{chromosome}\trs{variant}\t0\t{}\t{first}\t{second}", 1000 + variant).expect("a string");
    }
    for sample in samples {
        writeln!(fam, "f{} s{sample} 0 0 {} {}", sample / 2, 1 + sample % 2, pressure(sample)).expect("a string");
    }
    fs::create_dir_all(folder).expect("a folder");
    let path = folder.join(format!("{name}.bed"));
    fs::write(&path, bed).expect("written");
    fs::write(path.with_extension("bim"), bim).expect("written");
    fs::write(path.with_extension("fam"), fam).expect("written");
    of(path)
}

fn of(path: PathBuf) -> String {
    path.into_os_string().into_string().expect("a plain path")
}

/// A table of phenotypes and covariates of samples, in another order.
fn traits(folder: &Path, samples: std::ops::Range<usize>) -> String {
    let mut table = "#FID\tIID\tbp\tage\tw\n".to_owned();
    for sample in samples.rev() {
        let bp = if sample % 10 == 3 { "-9".to_owned() } else { pressure(sample).to_string() };
        let age = if sample == 8 { "NA".to_owned() } else { age(sample).to_string() };
        writeln!(table, "f{}\ts{sample}\t{bp}\t{age}\t{}", sample / 2, 1 + sample % 3).expect("a string");
    }
    let path = folder.join("traits.tsv");
    fs::write(&path, table).expect("written");
    of(path)
}

fn refused(arguments: &[&str]) -> String {
    let run = banach(arguments);
    assert_eq!(run.status.code(), Some(2), "{arguments:?}: {}", text(&run.stderr));
    text(&run.stderr)
}

fn names(object: &Value) -> Vec<&str> {
    let variables = object["data"]["variables"].as_array().expect("a list");
    variables.iter().map(|one| one["name"].as_str().expect("text")).collect()
}

fn numbers(predicted: &str) -> Vec<f64> {
    let field = |line: &str| line.rsplit(',').next().expect("a field").parse().expect("a number");
    predicted.lines().skip(1).map(field).collect()
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-7 * b.abs())
}

#[test]
fn genotypes_go_all_the_way_to_a_cohort_with_other_first_alleles() {
    let here = folder("plink");
    let (first, second) = (cohort(&here, "first", 0..150, |_| false), cohort(&here, "second", 150..190, |_| false));
    let turned = cohort(&here, "turned", 150..190, |variant| variant % 2 == 1);
    let (table, model) = (traits(&here, 0..200), of(here.join("bp.banach")));
    let fit = ["fit", &first, "--pheno", &table, "--target", "bp", "--covariates", "age,sex", "--gamma", "1"];
    let filters = ["--chr", "1-2,X", "--maf", "0.05", "--geno", "0.1", "-o", &model];
    let fitted = json(&[&fit[..], &filters].concat());
    let told = &fitted["data"]["genotypes"];
    let expected = [
        ("samples", 150),
        ("without_phenotype", 15),
        ("without_covariate", 1),
        ("unmatched", 50),
        ("variants", 60),
        ("other_chromosomes", 20),
        ("too_many_missing", 0),
        ("too_rare", 1),
        ("constant", 0),
        ("second_allele", 0),
    ];
    for (key, count) in expected {
        assert_eq!(told[key], count, "{key}: {told}");
    }
    assert_eq!((&fitted["data"]["rows"], &fitted["data"]["dropped"]), (&134.into(), &16.into()));
    assert_eq!((names(&fitted).len(), names(&fitted)[0], names(&fitted)[39]), (41, "rs0_A", "age"));
    let notes = fitted["notes"].to_string();
    for note in [
        "samples: 134 of 150; 15 without a phenotype; 1 without a covariate",
        "rows of --pheno and --covar whose sample the .fam does not have: 50",
        "variants: 39 of 60; 20 on other chromosomes; 1 too rare (--maf)",
        "missing values that were filled in",
    ] {
        assert!(notes.contains(note), "{note} is missing in {notes}");
    }
    // Missing genotypes become the means of the cohort that the model was fitted to, whichever allele comes first.
    let predict = |bed: &str| printed(&["predict", &model, bed, "--covar", &table, "--id", "IID", "-q"]);
    let predicted = predict(&second);
    assert!(predicted.starts_with("IID,prediction\ns150,"), "{predicted}");
    assert!(near(&numbers(&predict(&turned)), &numbers(&predicted)), "{predicted}");
    let said = text(&banach(&["predict", &model, &turned, "--covar", &table]).stderr);
    assert!(said.contains("the second allele of the .bim is counted") && said.contains("filled in"), "{said}");
    // The same table as text.
    let mut csv = format!("{},sex,age,bp\n", (0..VARIANTS).map(|v| format!("rs{v}_A")).collect::<Vec<_>>().join(","));
    for sample in (0..150).filter(|sample| sample % 10 != 3 && *sample != 8) {
        let row: Vec<String> =
            (0..VARIANTS).map(|v| copies(sample, v).map_or(String::new(), |c| c.to_string())).collect();
        writeln!(csv, "{},{},{},{}", row.join(","), 1 + sample % 2, age(sample), pressure(sample)).expect("a string");
    }
    let (csv_file, csv_model) = (of(here.join("same.csv")), of(here.join("csv.banach")));
    fs::write(&csv_file, csv).expect("written");
    let variables = names(&fitted).join(",");
    let fit = ["fit", &csv_file, "--target", "bp", "--features", &variables, "--impute", "mean", "--gamma", "1"];
    printed(&[&fit[..], &["-o", &csv_model]].concat());
    let of_csv = printed(&["predict", &csv_model, &second, "--covar", &table, "-q"]);
    assert!(near(&numbers(&of_csv), &numbers(&predicted)), "{of_csv}");
    // What a model needs of the samples, and what it cannot be told.
    let message = refused(&["predict", &model, &second]);
    assert!(message.contains("a column that the model is made of: \"age\""), "{message}");
    let bim = here.join("second.bim");
    fs::write(&bim, fs::read_to_string(&bim).expect("read").replace("rs4\t0\t1004\tA\tG", "rs4\t0\t1004\tT\tC"))
        .expect("written");
    let message = refused(&["predict", &model, &second, "--covar", &table]);
    assert!(message.contains("line 5: its alleles are T and C, and the model is made of \"rs4_A\""), "{message}");
}

#[test]
fn rows_are_held_out_weighed_and_tested_by_columns_beside_genotypes() {
    let here = folder("plink-held");
    let (first, second) = (cohort(&here, "first", 0..120, |_| false), cohort(&here, "second", 120..150, |v| v < 30));
    let table = traits(&here, 0..120);
    let fit = ["fit", &first, "--gamma", "1", "--groups", "FID", "--covariates", "sex", "--test", &second];
    let fitted = json(&fit);
    // The phenotype is that of the .fam, and samples of one family are held out together.
    assert_eq!((&fitted["data"]["target"], &fitted["data"]["rows"]), (&"phenotype".into(), &120.into()));
    assert!(fitted["test"].is_object() && fitted["assessment"].is_object(), "{fitted}");
    let fit = ["fit", &first, "--pheno", &table, "--target", "bp", "--gamma", "1", "--features", "rs7_?,rs20_*"];
    let weighed = json(&[&fit[..], &["--weights", "w"]].concat());
    assert_eq!((names(&weighed), &weighed["data"]["rows"]), (vec!["rs7_A", "rs20_A"], &108.into()));
    assert_eq!(names(&json(&[&fit[..], &["--a2", "--model", "lp"]].concat())), ["rs7_G", "rs20_G"]);
    let sparse = json(&["fit", &first, "--sparse", "--covariates", "sex"]);
    let equation = sparse["functions"][0]["equation"].as_str().expect("text");
    assert!(equation.contains("rs7_A") && equation.contains("rs20_A"), "{equation}");
}

#[test]
fn wrong_files_and_flags_are_refused_in_words_of_the_command() {
    let here = folder("plink-wrong");
    let bed = cohort(&here, "cohort", 0..40, |_| false);
    let table = traits(&here, 0..40);
    for (more, expected) in [
        (&["--pheno", &table, "--target", "pb"][..], "traits.tsv has no column \"pb\" for --target"),
        (&["--pheno", &table], "Name it with --target"),
        (&["--pheno", &table, "--target", "bp", "--covariates", "PC*"], "no column \"PC*\" for --covariates"),
        (&["--chr", "22"], "it has 1, 2, 3"),
        (&["--maf", "1.5"], "a number from 0 to 1"),
        (&["--covar", &bed], "not UTF-8"),
        (&["--pheno", "nowhere.tsv"], "cannot read nowhere.tsv"),
    ] {
        let message = refused(&[&["fit", &bed], more].concat());
        assert!(message.contains(expected), "{more:?}: {message}");
    }
    let csv = of(here.join("table.csv"));
    fs::write(&csv, "x,y\n1,2\n2,3\n").expect("written");
    let message = refused(&["fit", &csv, "--target", "y", "--maf", "0.1"]);
    assert!(message.contains("leave --maf out"), "{message}");
    let bytes = fs::read(&bed).expect("read");
    fs::write(&bed, &bytes[..bytes.len() - 1]).expect("written");
    let message = refused(&["fit", &bed]);
    assert!(message.contains("602 bytes") && message.contains("it is cut short"), "{message}");
}
