//! Small files, written byte by byte.

use std::{fs, path::PathBuf};

use super::*;
use crate::{At, Format, Values};

/// Five samples and four variants. The genotypes of a variant, the first sample in the lowest bits: 00 two copies of A1, 10 one, 11 none,
/// 01 missing.
const BED: [u8; 11] = [
    0x6c,
    0x1b,
    0x01, //
    0b11_10_00_11,
    0b10, // rs1: 0 2 1 0 | 1
    0b01_11_10_00,
    0b11, // rs2: 2 1 0 missing | 0
    0b11_11_11_11,
    0b11, // rs3: none
    0b00_01_10_11,
    0b01, // rs4: 0 1 missing 2 | missing
];
const BIM: &str = "1 rs1 0 100 A G\n1\trs2\t0\t200\tT\tC\n2 . 0 300 G A\nX rs4 0 400 C CT\n";
const FAM: &str = "f1 s1 0 0 1 1.5\nf1 s2 0 0 2 -9\nf2 s3 0 0 0 2.5\nf2 s4 0 0 2 0\nf3 s1 0 0 1 -1\n";

fn read_from(bed: &[u8], bim: &str, fam: &str, request: &Request) -> Result<Dataset, Error> {
    request.read_genotypes([bed, bim.as_bytes(), fam.as_bytes()], "cohort.bed")
}

fn read(request: &Request) -> Dataset {
    read_from(&BED, BIM, FAM, request).expect("it can be read")
}

fn refused(bed: &[u8], bim: &str, fam: &str) -> String {
    read_from(bed, bim, fam, &Request::default()).expect_err("refused").to_string()
}

fn asked(cohort: Cohort) -> Request {
    Request { cohort, ..Request::default() }
}

/// A file beside the genotypes.
fn beside(name: &str, text: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("banach-plink-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join(name);
    fs::write(&path, text).expect("written");
    path
}

#[test]
fn two_bits_are_a_genotype_and_the_first_allele_is_counted() {
    let data = read(&Request::default());
    // s2 has no phenotype; rs3 is the same in all.
    assert_eq!(data.table.names(), ["rs1_A", "rs2_T", "rs4_C"]);
    assert_eq!(data.target.numbers(), Some(&[1.5, 2.5, 0.0, -1.0][..]));
    assert_eq!(data.table.column(0), [0.0, 1.0, 0.0, 1.0]);
    let (second, mean) = (data.table.column(1), 2.0 / 3.0);
    assert!((second[2] - mean).abs() < 1e-15 && [second[0], second[1], second[3]] == [2.0, 0.0, 0.0], "{second:?}");
    assert_eq!(data.table.column(2), [0.0, 1.0, 2.0, 1.0]);
    let fills: Vec<(&str, usize)> = data.fills.iter().map(|fill| (&fill.column[..], fill.count)).collect();
    assert_eq!((fills, data.impute), (vec![("rs2_T", 1), ("rs4_C", 2)], Some(Impute::Mean)));
    let names = [["f1", "s1"], ["f2", "s3"], ["f2", "s4"], ["f3", "s1"]].map(|pair| pair.map(str::to_owned)).to_vec();
    let told = Genotypes { samples: 5, without_phenotype: 1, variants: 4, constant: 1, names, ..Genotypes::default() };
    assert_eq!((data.genotypes, data.dropped), (Some(told), 1));
    assert_eq!([0, 1].map(|row| data.lines.at(row)), [1, 3].map(At::Row));
}

#[test]
fn the_second_allele_is_counted_on_request() {
    let second = read(&asked(Cohort { counted: Allele::A2, keep_constant: true, ..Cohort::default() }));
    assert_eq!(second.table.names(), ["rs1_G", "rs2_C", "2:300_A", "rs4_CT"]);
    assert_eq!((second.table.column(0), second.table.column(2)), (vec![2.0, 1.0, 2.0, 1.0], vec![2.0; 4]));
    assert_eq!(second.genotypes.map(|told| told.second_allele), Some(4));
}

#[test]
fn variants_are_left_out_by_chromosome_then_missing_then_rare_then_constant() {
    let with = |cohort: Cohort| {
        let data = read(&asked(cohort));
        (data.table.names().join(" "), data.genotypes.expect("of genotypes"))
    };
    for chromosomes in ["1-2", "chr1,02", "1,2"] {
        let (names, told) = with(Cohort { chromosomes: vec![chromosomes.to_owned()], ..Cohort::default() });
        assert_eq!((&names[..], told.other_chromosomes, told.constant), ("rs1_A rs2_T", 1, 1));
    }
    assert_eq!(with(Cohort { chromosomes: vec!["23".to_owned()], ..Cohort::default() }).0, "rs4_C");
    let (names, told) = with(Cohort { max_missing: Some(0.25), ..Cohort::default() });
    assert_eq!((&names[..], told.too_many_missing), ("rs1_A rs2_T", 1));
    // Among the samples that are left: 2 of 8, 2 of 6, 0 of 8, 2 of 4.
    let (names, told) = with(Cohort { min_frequency: Some(0.3), ..Cohort::default() });
    assert_eq!((&names[..], told.too_rare, told.constant), ("rs2_T rs4_C", 2, 0));
    let none = read_from(&BED, BIM, FAM, &asked(Cohort { chromosomes: vec!["7".to_owned()], ..Cohort::default() }));
    let message = none.expect_err("refused").to_string();
    assert!(message.contains("it has 1, 2, X"), "{message}");
    let none = read_from(
        &BED,
        BIM,
        FAM,
        &asked(Cohort { min_frequency: Some(0.5), max_missing: Some(0.0), ..Cohort::default() }),
    );
    let message = none.expect_err("refused").to_string();
    assert!(message.contains("none of 4 is left") && message.contains("2 are too rare"), "{message}");
}

#[test]
fn features_are_chosen_and_missing_values_filled_in_as_everywhere() {
    let request =
        Request { features: vec!["rs?_[AT]".to_owned()], drop: vec!["rs1_A".to_owned()], ..Request::default() };
    assert_eq!(read(&request).table.names(), ["rs2_T"]);
    let median = read(&Request { impute: Some(Impute::Median), ..Request::default() });
    assert_eq!((median.table.column(1)[2], median.impute), (0.0, Some(Impute::Median)));
    let dropped =
        read(&Request { impute: Some(Impute::Drop), features: vec!["rs2_T".to_owned()], ..Request::default() });
    assert_eq!((dropped.table.column(0), dropped.dropped), (vec![2.0, 0.0, 0.0], 2));
    // A genotype may be a label.
    let labels = read(&Request { categorical: vec!["rs1_A".to_owned()], ..Request::default() });
    assert_eq!(labels.table.names()[0], "rs1_A=1");
}

#[test]
fn phenotypes_and_covariates_are_found_by_the_names_of_samples() {
    let both = "#FID IID bp age site\nf3 s1 130 50 a\nf1 s1 120 -9 b\nf2 s3 NA 30 a\nf2 s4 110 40 b\nf9 s9 1 1 a\n";
    let phenotypes = Some(beside("both.txt", both));
    let cohort = Cohort { phenotypes, covariates: vec!["age,s*".to_owned()], ..Cohort::default() };
    let request = Request { target: Some("bp".to_owned()), ..asked(cohort.clone()) };
    let data = read(&request);
    // Of rs4 the genotype of one sample alone is known.
    assert_eq!(data.table.names(), ["rs1_A", "age", "site=b", "sex"]);
    assert_eq!(data.target.numbers(), Some(&[110.0, 130.0][..]));
    assert_eq!((data.table.column(1), data.table.column(3)), (vec![40.0, 50.0], vec![2.0, 1.0]));
    let told = data.genotypes.expect("of genotypes");
    assert_eq!((told.without_phenotype, told.without_covariate, told.unmatched), (2, 1, 1));
    // Features that are named are variants; covariates stay.
    let request = Request { features: vec!["rs1_A".to_owned()], id: Some("FID".to_owned()), ..request };
    let data = read(&request);
    assert_eq!(data.table.names(), ["rs1_A", "age", "site=b", "sex"]);
    assert_eq!(data.ids, Some(vec!["f2".to_owned(), "f3".to_owned()]));
    // Without the names of families a name is to be that of one sample.
    let phenotypes = Some(beside("names.csv", "IID,bp\ns2,1\ns3,2\ns4,\n"));
    let data = read(&asked(Cohort { phenotypes, ..Cohort::default() }));
    assert_eq!((data.target.name(), data.target.numbers()), ("bp", Some(&[1.0, 2.0][..])));
    for (name, text, expected) in [
        ("several.txt", "IID bp\ns1 1\n", "add the column FID"),
        ("twice.txt", "IID bp\ns2 1\ns2 2\n", "also in line 2"),
        ("strangers.txt", "IID bp\nf1_s1 1\n", "none of its samples is in the .fam of cohort.bed"),
        ("nameless.txt", "sample bp\ns2 1\n", "no column is called IID"),
        ("ragged.txt", "IID bp\ns2 1 2\n", "3 fields"),
        ("no-target.txt", "IID bp dbp\ns2 1 2\n", "bp"),
        ("empty.txt", "\n", "is empty"),
    ] {
        let phenotypes = Some(beside(name, text));
        let message = read_from(&BED, BIM, FAM, &asked(Cohort { phenotypes, ..Cohort::default() }));
        let message = message.expect_err(name).to_string();
        assert!(message.contains(expected), "{name}: {message}");
    }
}

#[test]
fn tables_of_plink_1_need_no_first_line() {
    let phenotypes = Some(beside("plain.phe", "f1\ts1\t1\r\nf1\ts2\t2\r\nf2\ts3\t4\r\n"));
    let covariate_file = Some(beside("plain.cov", "f2 s3 7 1\nf1 s2 8 2\nf1 s1 9 3\n"));
    let covariates = vec!["COVAR1".to_owned()];
    let data = read(&asked(Cohort { phenotypes, covariate_file, covariates, ..Cohort::default() }));
    assert_eq!((data.target.name(), data.target.numbers()), ("PHENO1", Some(&[1.0, 2.0, 4.0][..])));
    assert_eq!(data.table.names().last().map(|name| &name[..]), Some("COVAR1"));
    assert_eq!(data.table.column(data.table.names().len() - 1), [9.0, 8.0, 7.0]);
}

#[test]
fn of_cases_and_controls_0_is_missing() {
    let fam = "a 1 0 0 1 1\na 2 0 0 1 2\na 3 0 0 1 0\na 4 0 0 1 2\na 5 0 0 1 1\n";
    let data = read_from(&BED, BIM, fam, &Request::default()).expect("it can be read");
    assert_eq!(data.target.classes().map(|classes| &classes.labels[..]), Some(&["1".to_owned(), "2".to_owned()][..]));
    assert_eq!(data.genotypes.map(|told| told.without_phenotype), Some(1));
}

#[test]
fn a_model_finds_its_variants_by_name_and_allele() {
    let names = ["rs4_C", "sex", "rs1_A", "rs2_T"].map(str::to_owned).to_vec();
    let columns = ModelColumns { names, fills: Some(vec![0.25, 1.5, 0.5, 0.75]), ..ModelColumns::default() };
    let request = Request { impute: Some(Impute::Mean), ..Request::of_model(columns) };
    let data = read(&request);
    assert_eq!(data.table.names(), ["rs1_A", "rs2_T", "rs4_C", "sex"]);
    assert_eq!(data.table.column(1), [2.0, 1.0, 0.0, 0.75, 0.0]);
    assert_eq!((data.table.column(2)[2], data.table.column(3)[2]), (0.25, 1.5));
    assert_eq!(data.others, [""; 0]);
    // The alleles of rs1 the other way round, and none of rs2's first one.
    let other = BIM.replace("A G", "G A").replace("T\tC", "0\tC");
    let flipped = read_from(&BED, &other, FAM, &request).expect("it can be read");
    assert_eq!(flipped.table.names(), data.table.names());
    assert_eq!(
        (flipped.table.column(0), flipped.table.column(1)),
        (vec![2.0, 0.0, 1.0, 2.0, 1.0], data.table.column(1))
    );
    assert_eq!(flipped.genotypes.map(|told| told.second_allele), Some(1));
    for (from, to, expected) in [
        ("A G", "T G", "its alleles are T and G, and the model is made of \"rs1_A\""),
        ("rs1", "rs11", "a column that the model is made of: \"rs1_A\""),
        (". 0 300 G A", "rs1 0 300 A G", "line 1 is \"rs1_A\" as well"),
    ] {
        let message = read_from(&BED, &BIM.replace(from, to), FAM, &request).expect_err(expected).to_string();
        assert!(message.contains(expected), "{message}");
    }
    let message =
        read_from(&BED, BIM, FAM, &Request { impute: None, ..request.clone() }).expect_err("refused").to_string();
    assert!(message.contains("row 3, column \"rs4_C\""), "{message}");
    // A model without names takes all there is.
    let nameless = ModelColumns { fills: Some(vec![1.0; 4]), ..ModelColumns::default() };
    let request = Request { impute: Some(Impute::Mean), id: Some("IID".to_owned()), ..Request::of_model(nameless) };
    let data = read(&request);
    assert_eq!((data.table.names().len(), data.table.column(2)), (4, vec![0.0; 5]));
    assert_eq!(data.ids.map(|ids| ids.concat()), Some("s1s2s3s4s1".to_owned()));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let long = [&BED[..], &[0]].concat();
    for (bed, bim, fam, expected) in [
        (
            &BED[..10],
            BIM,
            FAM,
            "10 bytes, and the 4 variants of the .bim for the 5 samples of the .fam take 11: it is cut short",
        ),
        (&long, BIM, FAM, "it is longer"),
        (&BED, &BIM[..16], FAM, "it is longer"),
        (&BED, BIM, &FAM[..16], "take 7: it is longer"),
        (&BED[..2], BIM, FAM, "it ends after two bytes"),
        (&[0x6c, 0x1b, 0, 0xff], BIM, FAM, "its samples come one after another"),
        (&[0x6c, 0x1b, 0x10, 0xff], BIM, FAM, "perhaps a .pgen"),
        (b"chr1\t100\t200\n", BIM, FAM, "it begins with \"63 68 72\""),
        (b"", BIM, FAM, "it begins with \"\""),
        (&BED, "1 rs1 0 100 A\n", FAM, "the .bim of cohort.bed, line 1: 5 fields"),
        (&BED, BIM, "s1 1.5\n", "the .fam of cohort.bed, line 1: 2 fields"),
        (&BED, "", FAM, "the .bim of cohort.bed is empty"),
        (&BED, BIM, "\n\n", "the .fam of cohort.bed is empty"),
    ] {
        let message = refused(bed, bim, fam);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let message = refused(&BED, &BIM.replace("rs2\t0\t200\tT", "rs1\t0\t200\tA"), FAM);
    assert!(message.contains("line 2: line 1 is \"rs1_A\" as well"), "{message}");
    let message = refused(&BED, BIM, &FAM.replace("f3", "f1"));
    assert!(message.contains("line 5: the sample \"s1\" of the family \"f1\" is also in line 1"), "{message}");
    let message = refused(
        &BED,
        BIM,
        &FAM.replace("1.5", "-9").replace("2.5", "-9").replace(" 0\nf3", " NA\nf3").replace("-1\n", "nan\n"),
    );
    assert!(message.contains("no sample of the .fam has this phenotype"), "{message}");
}

#[test]
fn genotypes_alone_and_settings_of_genotypes_for_tables_are_refused() {
    let message = Request::default().read_from(&BED[..], "data").expect_err("alone").to_string();
    assert!(message.contains("name the .bed itself"), "{message}");
    let message = asked(Cohort { max_missing: Some(0.1), ..Cohort::default() });
    let message = message.read_from(&b"a,y\n1,2\n2,3\n"[..], "data.csv").expect_err("no genotypes").to_string();
    assert!(message.contains("leave maximal missing share out"), "{message}");
}

#[test]
fn files_are_found_by_any_of_their_names_and_columns_are_told() {
    let bed = beside("here.v1.bed", "");
    fs::write(&bed, BED).expect("written");
    beside("here.v1.bim", BIM);
    let fam = beside("here.v1.fam", FAM);
    let begin = bed.with_extension("");
    for path in [&bed, &fam, &begin] {
        let request = Request { format: Some(Format::Plink), ..Request::default() };
        assert_eq!(
            request.read(path).expect("it can be read").table,
            read(&Request::default()).table,
            "{}",
            path.display()
        );
    }
    let (columns, told) = Request::default().genotype_columns(&bed).expect("it can be read");
    assert_eq!((&columns.names[..], told.constant), (&["rs1_A", "rs2_T", "rs4_C"].map(str::to_owned)[..], 1));
    assert_eq!(columns.fills, Some(vec![0.8, 0.75, 1.0]));
    let data = Request { impute: Some(Impute::Mean), ..Request::of_model(columns) }.read(&bed).expect("it can be read");
    assert_eq!(data.table.column(1), [2.0, 1.0, 0.0, 0.75, 0.0]);
    fs::remove_file(&fam).expect("removed");
    assert!(Request::default().read(&bed).expect_err("no .fam").to_string().contains("here.v1.fam"));
}

/// Many samples and variants, in blocks of which some are left out.
#[test]
fn every_genotype_has_its_place() {
    let (samples, variants) = (1003, 8000_usize);
    let code = |variant: usize, sample: usize| ((variant * 7919 + sample * sample * 31 + variant * sample) >> 3) & 3;
    let mut bed = BED[..3].to_vec();
    for variant in 0..variants {
        let byte = |first: usize| {
            (first..samples.min(first + 4)).map(|s| code(variant, s) << (2 * (s - first))).sum::<usize>()
        };
        bed.extend((0..samples).step_by(4).map(|first| byte(first) as u8));
    }
    let line = |v: usize| format!("{} v{v} 0 {v} A G\n", 1 + usize::from(v.is_multiple_of(5)));
    let bim = (0..variants).map(line).collect::<Vec<_>>().concat();
    let person =
        |s: usize| format!("f s{s} 0 0 0 {}\n", if s.is_multiple_of(3) { "-9".to_owned() } else { s.to_string() });
    let fam = (0..samples).map(person).collect::<Vec<_>>().concat();
    let chromosomes = vec!["1".to_owned()];
    let data =
        read_from(&bed, &bim, &fam, &asked(Cohort { chromosomes, ..Cohort::default() })).expect("it can be read");
    assert_eq!((data.table.rows(), data.table.names().len()), (668, 6400));
    let Values::Dense(values) = data.table.values() else { panic!("dense") };
    let kept: Vec<usize> = (0..samples).filter(|s| !s.is_multiple_of(3)).collect();
    for (column, variant) in (0..variants).filter(|v| !v.is_multiple_of(5)).enumerate() {
        for (row, sample) in kept.iter().enumerate() {
            let value = values[column * 668 + row];
            let expected = [Some(2.0), None, Some(1.0), Some(0.0)][code(variant, *sample)];
            assert!(expected.is_none_or(|expected| value == expected), "{variant} {sample} {value}");
        }
    }
    // Memory for less than the matrix.
    let request = Request { memory: 20 << 20, ..Request::default() };
    let message = read_from(&bed, &bim, &fam, &request).expect_err("too large").to_string();
    assert!(message.contains("more memory than is allowed"), "{message}");
}
