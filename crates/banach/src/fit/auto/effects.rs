//! What a variable does to the predictions of a mixture.

use super::AutoModel;
use crate::Error;

/// Predictions along one variable, all others at their centres.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoEffect {
    /// The variable.
    pub variable: usize,
    /// Its values, in the units of the table.
    pub grid: Vec<f64>,
    /// What is predicted there, as [`AutoModel::predictions`] has it: numbers, or the probabilities of all classes.
    pub predictions: Vec<f64>,
}

impl AutoModel {
    /// What is predicted with one variable at each of some values and all others at their centres, the means of the samples (0 for the
    /// columns of a sparse table): numbers, or the probabilities of all classes, as [`predictions`](Self::predictions) has them.
    ///
    /// The curve less its height at the centre is what [`explain`](Self::explain) calls the contribution of the variable alone. It takes one
    /// prediction for every value, however many samples there are. What the variable does together with others is not on it
    /// ([`pair_relevance`](Self::pair_relevance)).
    pub fn effect(&self, variable: usize, grid: &[f64]) -> Result<Vec<f64>, Error> {
        self.effect_beside(variable, grid, &[])
    }

    /// As [`effect`](Self::effect), with some other variables at values of their own: what a variable does where another is small, and where it
    /// is large. Of a product of two variables, neither does anything while the other is at its mean.
    pub fn effect_beside(&self, variable: usize, grid: &[f64], others: &[(usize, f64)]) -> Result<Vec<f64>, Error> {
        self.check_variables(&[variable])?;
        let (others, values): (Vec<usize>, Vec<f64>) = others.iter().copied().unzip();
        self.check_variables(&others)?;
        let columns: Vec<Vec<f64>> = values.iter().map(|value| vec![*value; grid.len()]).collect();
        let fixed = others.into_iter().zip(&columns).map(|(other, column)| (other, &column[..]));
        let moved: Vec<(usize, &[f64])> = [(variable, grid)].into_iter().chain(fixed).collect();
        self.predictions(&self.ranges().moved(grid.len(), &moved)?)
    }

    /// The effects of some variables, such as the [leading ones](Self::leading_variables), each at so many values (at least two) between its
    /// least and its largest; a variable of two values at these.
    pub fn effects(&self, variables: &[usize], points: usize) -> Result<Vec<AutoEffect>, Error> {
        self.check_variables(variables)?;
        let effect = |&variable: &usize| {
            let grid = self.ranges().grid(variable, points);
            Ok(AutoEffect { variable, predictions: self.effect(variable, &grid)?, grid })
        };
        variables.iter().map(effect).collect()
    }
}
