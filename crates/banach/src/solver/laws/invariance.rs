//! How a solution changes with its data: weights, order, units, threads.

use super::*;
use crate::form::laws::with_threads;

/// A sample of weight 0 is a sample left out, and its omega is the prediction `<x_i, w>`.
#[test]
fn weight_zero_leaves_a_sample_out() {
    let (x, _) = data();
    let kept = [0, 1, 3, 4, 6, 7];
    let part = x.rows(&kept);
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        let weights: Vec<f64> = (0..N).map(|i| if kept.contains(&i) { 1.0 } else { 0.0 }).collect();
        let (part_form, part_y) = (features(&part, 4.0 / 3.0), kept.map(|i| y[i]));
        let problems = both(form, loss, y, 1.9).into_iter().zip(both(&part_form, loss, &part_y, 1.9));
        for ((whole, alone), solver) in problems.flat_map(|pair| solvers().map(|solver| (pair.clone(), solver))) {
            let weighted = whole.with_sample_weights(&weights).expect("valid");
            let solution = converged(&*solver, &weighted);
            let model = Model::new(form, &solution);
            let alone = converged(&*solver, &alone);
            Model::new(&part_form, &alone).assert_same(&model, loss.name());
            assert_eq!((solution.alpha[2], solution.alpha[5]), (0.0, 0.0), "{loss:?}");
            let predictions = x.apply(&model.w);
            assert!(
                solution.omega.iter().zip(&predictions).all(|(a, b)| (a - b).abs() <= 1e-13),
                "{loss:?} {:?}",
                solution.omega
            );
            assert!(predictions[2].abs() > 1e-3 && predictions[5].abs() > 1e-3, "{loss:?}");
        }
    });
}

/// Whole weights repeat samples.
#[test]
fn integer_weights_repeat_samples() {
    let (x, _) = data();
    let repeated: Vec<usize> = vec![0, 1, 1, 2, 3, 3, 3, 4, 5, 6, 7, 7];
    let longer = x.rows(&repeated);
    for_every_loss(&[1.25], |form, loss, y| {
        let weights: Vec<f64> = (0..N).map(|i| repeated.iter().filter(|&&r| r == i).count() as f64).collect();
        let (longer_form, longer_y) = (features(&longer, 1.25), repeated.iter().map(|&i| y[i]).collect::<Vec<_>>());
        for solver in solvers() {
            let weighted = problem(form, loss, y, 0.8).with_sample_weights(&weights).expect("valid");
            let weighted = converged(&*solver, &weighted);
            let longer = converged(&*solver, &problem(&longer_form, loss, &longer_y, 0.8));
            Model::new(&longer_form, &longer).assert_same(&Model::new(form, &weighted), loss.name());
        }
    });
}

/// The order of samples and of features does not matter.
#[test]
fn permutations_carry_over() {
    let (x, _) = data();
    let samples = [3, 1, 4, 0, 5, 7, 2, 6];
    let permuted = x.rows(&samples);
    let reversed = Table { columns: permuted.columns.chunks(N).rev().flatten().copied().collect(), ..permuted };
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        let (other_form, other_y) = (features(&reversed, 4.0 / 3.0), samples.map(|i| y[i]));
        for solver in solvers() {
            let other = converged(&*solver, &problem(&other_form, loss, &other_y, 1.9));
            let mut model = Model::new(&other_form, &other);
            model.w.reverse();
            model.assert_same(&Model::new(form, &converged(&*solver, &problem(form, loss, y, 1.9))), loss.name());
        }
    });
}

/// `X -> c X` with `gamma -> c^-p gamma` gives `w/c`, for every loss.
#[test]
fn scaling_the_data_scales_the_weights() {
    let (x, _) = data();
    for_every_loss(&[4.0 / 3.0], |form, loss, y| {
        for (solver, c) in solvers().into_iter().flat_map(|solver| [0.2, 7.0, 1e4].map(|c| (solver.clone(), c))) {
            let expected = Model::new(form, &converged(&*solver, &problem(form, loss, y, 1.9)));
            let scaled = x.scaled(c);
            let scaled_form = features(&scaled, 4.0 / 3.0);
            let gamma = 1.9 * c.powf(-4.0 / 3.0);
            let model = Model::new(&scaled_form, &converged(&*solver, &problem(&scaled_form, loss, y, gamma)));
            let back = Model { w: model.w.iter().map(|w| c * w).collect(), distance: c * model.distance, ..model };
            back.assert_same(&expected, &format!("{loss:?} {c}"));
        }
    });
}

/// `y -> c y` with `gamma -> c^(p-2) gamma` gives `c w`, for the squared loss.
#[test]
fn scaling_the_targets_scales_the_weights() {
    let (x, y) = data();
    for p in [2.0, 4.0 / 3.0, 1.1] {
        let form = features(&x, p);
        let scales = [-1.0_f64, 0.2, 7.0, 1e4];
        for (solver, c) in solvers().into_iter().flat_map(|solver| scales.map(|c| (solver.clone(), c))) {
            let expected = Model::new(&form, &converged(&*solver, &problem(&form, &Squared, &y, 1.9)));
            let scaled: Vec<f64> = y.iter().map(|y| c * y).collect();
            let gamma = 1.9 * c.abs().powf(p - 2.0);
            let model = Model::new(&form, &converged(&*solver, &problem(&form, &Squared, &scaled, gamma)));
            let back =
                Model { w: model.w.iter().map(|w| w / c).collect(), distance: model.distance / c.abs(), ..model };
            back.assert_same(&expected, &format!("p = {p}, {c}"));
        }
    }
}

/// A run gives the same bits on 1 and on 3 threads, on data of several stripes and leaves.
#[test]
fn threads_do_not_change_a_run() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    let x = Table::random(20, 140_000, 0.0, &mut rng);
    let form = features(&x, 4.0 / 3.0);
    for loss in all().iter().filter(|loss| ["squared", "hinge"].contains(&loss.name())) {
        let y: Vec<f64> = (0..20).map(|i| target(&**loss, x.columns[i])).collect();
        let problem = problem(&form, &**loss, &y, 0.1);
        let stopping = Stopping { tolerance: 1e-14, max_iterations: 4 };
        for solver in [&proximal_gradient(1e-14, 4) as &(dyn Solver + Sync), &Newton { stopping, ..Newton::default() }]
        {
            let run = |threads| {
                let solution = with_threads(threads, || solver.solve(&problem, &mut Unobserved).expect("valid"));
                let numbers = [&solution.alpha[..], &solution.omega, &[solution.certificate.gap]].concat();
                (numbers.iter().map(|number| number.to_bits()).collect::<Vec<_>>(), solution.passes)
            };
            assert_eq!(run(1), run(3), "{loss:?}");
        }
    }
}
