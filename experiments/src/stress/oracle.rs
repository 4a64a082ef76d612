//! The objective and the gap of an answer, in numbers with 32 digits and by formulas of their own.

use banach::{
    kernel::MonomialScale,
    loss::{Conjugate, LossSpec},
};
use qd::Quad;

use super::draw::{Draw, Kernel};

/// The primal and dual values of an answer, and the distance between them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Truth {
    pub primal: Quad,
    pub dual: Quad,
    pub gap: f64,
}

/// Recomputes an answer, with the predictions of its dual vector.
///
/// With `t_i = omega_i + b` and `qQ = <alpha, omega>`, `F + Lambda = sum_i [gamma_i L(y_i, t_i) + gamma_i L*(y_i, -alpha_i/gamma_i)] +
/// <alpha, omega>`, as in docs/notation.md. What rounding leaves of `b sum_i alpha_i` belongs to the terms of the gap, which are then not
/// negative one by one.
pub(super) fn truth(draw: &Draw, alpha: &[f64], b: f64) -> Truth {
    let omega = omega(draw, alpha);
    // 1/p in all digits too: that of the f64 next to p would not go with the gap.
    let share = Quad::from(1.0) / Quad::from(draw.exponent.q());
    let (mut loss, mut conjugate, mut energy, mut balance) = (zero(), zero(), zero(), zero());
    for i in 0..draw.n {
        let gamma = Quad::from(draw.gamma) * Quad::from(draw.weights[i]);
        if draw.weights[i] == 0.0 {
            continue;
        }
        let (a, y) = (Quad::from(alpha[i]), Quad::from(draw.y[i]));
        // Outside of its domain a conjugate is infinite; an end of it is known up to the rounding of a quotient.
        let (lower, upper) = draw.loss.build().expect("drawn within range").domain(draw.y[i]);
        let (s, unit) = ((a / gamma).0, 4.0 * f64::EPSILON);
        if s < lower - unit * lower.abs() || s > upper + unit * upper.abs() {
            return Truth { primal: zero(), dual: zero(), gap: f64::INFINITY };
        }
        let (value, dual) = terms(draw.loss, gamma, y, omega[i] + Quad::from(b), a);
        (loss, conjugate, energy) = (loss + value, conjugate + dual, energy + a * omega[i]);
        balance += a;
    }
    let primal = loss + energy * (Quad::from(1.0) - share);
    let dual = conjugate + energy * share;
    Truth { primal, dual, gap: (loss + conjugate + energy + balance * Quad::from(b)).0 }
}

fn zero() -> Quad {
    Quad::from(0.0)
}

fn max(a: Quad, b: Quad) -> Quad {
    if a > b { a } else { b }
}

/// `gamma L(y, t)` and `gamma L*(y, -a/gamma)`: the table in docs/notation.md. A loss with a quadratic conjugate is the supremum
/// of `-s t - psi(s)` over its domain.
fn terms(loss: LossSpec, gamma: Quad, y: Quad, t: Quad, a: Quad) -> (Quad, Quad) {
    let (one, half) = (Quad::from(1.0), Quad::from(0.5));
    let built = loss.build().expect("drawn from its range");
    let Conjugate::Quadratic { a: curvature, k } = built.conjugate_kind() else {
        let entropy = |c: Quad| if c.0 <= 0.0 { zero() } else { c * c.ln() };
        if loss == LossSpec::Poisson {
            let (mean, least) = (y - a / gamma, entropy(y) - y);
            return (gamma * (t.exp() - y * t + least), gamma * (entropy(mean) - mean - least));
        }
        assert_eq!(loss, LossSpec::Logistic, "every smooth conjugate is written here");
        let margin = y * t;
        let value = if margin.0 > 0.0 { ln_1p((-margin).exp()) } else { ln_1p(margin.exp()) - margin };
        let c = y * a / gamma;
        // 1 - c of a very small c is 1.
        let other = if c.0.abs() < 1e-6 { (one - c) * ln_1p(-c) } else { entropy(one - c) };
        return (gamma * value, gamma * (entropy(c) + other));
    };
    let (curvature, k) = (Quad::from(curvature), Quad::from(k));
    let without_target = |s: Quad| half * curvature * s * s + k * s.abs();
    // Where -t - psi'(s) changes its sign: at an end of the domain, at the kink, or between on one of its sides.
    let (lower, upper) = built.domain(y.0);
    let inside = |s: f64| lower < s && s < upper;
    let ends = [lower, upper].into_iter().filter(|end| end.is_finite()).map(Quad::from);
    let stationary = [k, -k].map(|k| (y - t - k) / curvature).into_iter().filter(|s| curvature.0 > 0.0 && inside(s.0));
    let kink = Some(zero()).filter(|_| k.0 > 0.0 && inside(0.0));
    let values = ends.chain(stationary).chain(kink).map(|s| s * (y - t) - without_target(s));
    (
        gamma * values.reduce(max).expect("a domain has an end, or a curvature"),
        gamma * without_target(a / gamma) - y * a,
    )
}

/// `ln(1 + x)` for `-1e-6 <= x <= 1`, to all digits for small x too.
fn ln_1p(x: Quad) -> Quad {
    if x.0.abs() > 1e-6 {
        return (Quad::from(1.0) + x).ln();
    }
    let (mut power, mut sum) = (x, zero());
    for k in 1..=7 {
        let term = power / Quad::from(f64::from(k));
        sum = if k % 2 == 1 { sum + term } else { sum - term };
        power *= x;
    }
    sum
}

/// `x^r` for `x > 0`.
fn power(x: Quad, r: f64) -> Quad {
    if r == 1.0 { x } else { (x.ln() * Quad::from(r)).exp() }
}

/// `omega_i = sum_k phi_k(x_i) J_q(u_k)`, or from the tensor for infinitely many features.
pub(super) fn omega(draw: &Draw, alpha: &[f64]) -> Vec<Quad> {
    if let Kernel::Exponential { scale, degrees: None } = draw.kernel {
        return omega_of_exponential(draw, scale, alpha);
    }
    let features = features(draw);
    let q = draw.exponent.q();
    let u: Vec<Quad> = features
        .iter()
        .map(|phi| phi.iter().zip(alpha).fold(zero(), |sum, (phi, alpha)| sum + *phi * Quad::from(*alpha)))
        .collect();
    // Relative to the largest, so that powers stay in range.
    let size = u.iter().fold(0.0_f64, |size, u| size.max(u.0.abs()));
    let mut omega = vec![zero(); draw.n];
    if size == 0.0 {
        return omega;
    }
    let size = Quad::from(size);
    for (phi, u) in features.iter().zip(&u).filter(|(_, u)| u.0 != 0.0) {
        let modulus = power(u.abs() / size, q - 1.0);
        let weight = if u.0 > 0.0 { modulus } else { -modulus };
        omega.iter_mut().zip(phi).for_each(|(omega, phi)| *omega += *phi * weight);
    }
    let factor = power(size, q - 1.0);
    omega.into_iter().map(|omega| omega * factor).collect()
}

/// The features of the samples, one after another.
fn features(draw: &Draw) -> Vec<Vec<Quad>> {
    let (n, d, q) = (draw.n, draw.d, draw.exponent.q());
    let columns: Vec<Vec<Quad>> =
        draw.x.chunks(n).map(|column| column.iter().map(|x| Quad::from(*x)).collect()).collect();
    let mut features = Vec::new();
    let highest = match draw.kernel {
        Kernel::Linear => 1,
        Kernel::Polynomial { degree, .. } => degree,
        Kernel::Anova { max, .. } | Kernel::Exponential { degrees: Some((_, max)), .. } => max,
        Kernel::Exponential { degrees: None, .. } => unreachable!("infinitely many"),
    };
    for_every_monomial(d, highest, &mut |exponents: &[usize]| {
        let c = coefficient(draw.kernel, exponents);
        if c.0 == 0.0 {
            return;
        }
        let mut phi = vec![power(c, 1.0 / q); n];
        if draw.scale != MonomialScale::Raw || c.0 == 1.0 {
            phi.fill(Quad::from(1.0));
        }
        for (j, exponent) in exponents.iter().enumerate() {
            for _ in 0..*exponent {
                phi.iter_mut().zip(&columns[j]).for_each(|(phi, x)| *phi *= *x);
            }
        }
        features.push(scaled(draw.scale, phi));
    });
    if draw.normalized {
        for i in 0..n {
            // Relative to the largest, so that powers stay in range.
            let size = features.iter().fold(0.0_f64, |size, phi| size.max(phi[i].0.abs()));
            if size > 0.0 {
                let size = Quad::from(size);
                let present = features.iter().filter(|phi| phi[i].0 != 0.0);
                let sum = present.fold(zero(), |sum, phi| sum + power(phi[i].abs() / size, q));
                let norm = size * power(sum, 1.0 / q);
                features.iter_mut().for_each(|phi| phi[i] /= norm);
            }
        }
    }
    features
}

/// A monomial at its scale over the samples.
fn scaled(scale: MonomialScale, mut phi: Vec<Quad>) -> Vec<Quad> {
    let n = Quad::from(phi.len() as f64);
    let mean = |values: &[Quad]| values.iter().fold(zero(), |sum, x| sum + *x) / n;
    let squares = |values: &[Quad]| mean(&values.iter().map(|x| *x * *x).collect::<Vec<_>>());
    if scale == MonomialScale::Raw {
        return phi;
    }
    let all = squares(&phi);
    if scale == MonomialScale::Standardized {
        let centre = mean(&phi);
        phi.iter_mut().for_each(|x| *x -= centre);
    }
    let square = squares(&phi);
    // Nearly constant ones count as constant (docs/interactions.md).
    if square.0 <= 1e-9 * all.0 || square.0 == 0.0 {
        return vec![zero(); phi.len()];
    }
    let deviation = square.sqrt();
    phi.into_iter().map(|x| x / deviation).collect()
}

/// `c_k` of the monomial with these exponents, one for every variable; 0 if there is none.
fn coefficient(kernel: Kernel, exponents: &[usize]) -> Quad {
    let degree: usize = exponents.iter().sum();
    let factorial = |m: usize| (1..=m).fold(Quad::from(1.0), |product, i| product * Quad::from(i as f64));
    let factorials = exponents.iter().fold(Quad::from(1.0), |product, k| product * factorial(*k));
    let raised = |x: f64, m: usize| (0..m).fold(Quad::from(1.0), |product, _| product * Quad::from(x));
    match kernel {
        Kernel::Linear => Quad::from(if degree == 1 { 1.0 } else { 0.0 }),
        Kernel::Polynomial { degree: s, coef0 } => {
            let rest = s - degree;
            factorial(s) / factorials / factorial(rest) * raised(coef0, rest)
        }
        Kernel::Anova { min, max } => {
            let distinct = exponents.iter().all(|k| *k <= 1) && (min..=max).contains(&degree);
            Quad::from(if distinct { 1.0 } else { 0.0 })
        }
        Kernel::Exponential { scale, degrees: Some((min, max)) } if (min..=max).contains(&degree) => {
            raised(scale, degree) / factorials
        }
        Kernel::Exponential { .. } => zero(),
    }
}

/// All exponents of d variables up to a degree.
fn for_every_monomial(d: usize, highest: usize, visit: &mut impl FnMut(&[usize])) {
    fn go(exponents: &mut [usize], at: usize, left: usize, visit: &mut impl FnMut(&[usize])) {
        if at == exponents.len() {
            return visit(exponents);
        }
        for exponent in 0..=left {
            exponents[at] = exponent;
            go(exponents, at + 1, left - exponent, visit);
        }
        exponents[at] = 0;
    }
    if highest == 1 {
        // Many variables: one at a time.
        let mut exponents = vec![0; d];
        visit(&exponents);
        for j in 0..d {
            exponents[j] = 1;
            visit(&exponents);
            exponents[j] = 0;
        }
        return;
    }
    go(&mut vec![0; d], 0, highest, visit);
}

/// `omega_i = sum K(x_i, x_j, ...) alpha_j ...` over all q - 1 others.
fn omega_of_exponential(draw: &Draw, scale: f64, alpha: &[f64]) -> Vec<Quad> {
    let (n, d, order) = (draw.n, draw.d, draw.exponent.q().round() as usize);
    let value = |indices: &[usize]| {
        let mut sum = zero();
        for j in 0..d {
            sum += indices.iter().fold(Quad::from(1.0), |product, i| product * Quad::from(draw.x[j * n + i]));
        }
        Quad::from(scale) * sum
    };
    let shifts: Vec<Quad> = (0..n).map(|i| value(&vec![i; order]) / Quad::from(order as f64)).collect();
    let mut omega = vec![zero(); n];
    let mut indices = vec![0; order];
    for code in 0..n.pow(order as u32) {
        let mut rest = code;
        for index in &mut indices {
            *index = rest % n;
            rest /= n;
        }
        let mut exponent = value(&indices);
        if draw.normalized {
            indices.iter().for_each(|&i| exponent -= shifts[i]);
        }
        let product = indices[1..].iter().fold(exponent.exp(), |product, &i| product * Quad::from(alpha[i]));
        omega[indices[0]] += product;
    }
    omega
}
