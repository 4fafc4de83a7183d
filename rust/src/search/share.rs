//! Combining the graphs of several chains.
//!
//! The score is a sum over variables, and chains improve different parts of the graph. Where two graphs differ, the
//! variables concerned fall into regions that no edge connects; each region is taken from the graph in which it has the
//! better score, unless that closes a cycle.

use super::state::State;
use crate::algebra::components::DisjointSets;
use rayon::prelude::*;

/// Combine the best regions of all graphs into one, and set all states to it.
pub(crate) fn share(states: &mut [State]) {
    let Some(best) = (0..states.len()).min_by(|&a, &b| states[a].rank().total_cmp(&states[b].rank())) else { return };
    let old = Graph::of(&states[best]);
    let before = states[best].score();
    let tolerance = states[best].tolerance();
    let mut joint = old.clone();
    for state in &*states {
        for region in regions(&joint.causes, state) {
            let change: f64 = region.iter().map(|&i| state.score_of(i) - joint.scores[i as usize]).sum();
            if change < -tolerance {
                joint.transplant(state, &region);
            }
        }
    }
    states.par_iter_mut().for_each(|state| state.adopt(&joint.order, &joint.causes));
    // Along the new order, variables outside the regions may have got worse parents.
    if states[best].score() > before + tolerance {
        for state in states {
            state.adopt(&old.order, &old.causes);
        }
    }
}

/// The parents of all variables, their scores, and a causal order.
#[derive(Clone)]
struct Graph {
    order: Vec<u32>,
    causes: Vec<Vec<u32>>,
    scores: Vec<f64>,
}

impl Graph {
    fn of(state: &State) -> Self {
        let all = 0..state.dim() as u32;
        Self {
            order: state.order(),
            causes: all.clone().map(|i| state.causes(i).to_vec()).collect(),
            scores: all.map(|i| state.score_of(i)).collect(),
        }
    }

    /// Take the parents of a region from another graph, unless that closes a cycle.
    fn transplant(&mut self, state: &State, region: &[u32]) {
        let replaced: Vec<Vec<u32>> =
            region.iter().map(|&i| std::mem::replace(&mut self.causes[i as usize], state.causes(i).to_vec())).collect();
        if let Some(order) = arranged(&self.causes, &self.order) {
            self.order = order;
            for &i in region {
                self.scores[i as usize] = state.score_of(i);
            }
        } else {
            for (&i, causes) in region.iter().zip(replaced) {
                self.causes[i as usize] = causes;
            }
        }
    }
}

/// The variables whose parents differ, in sets that no edge of either graph connects.
fn regions(causes: &[Vec<u32>], state: &State) -> Vec<Vec<u32>> {
    let sorted = |list: &[u32]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    let differing: Vec<u32> =
        (0..causes.len() as u32).filter(|&i| sorted(&causes[i as usize]) != sorted(state.causes(i))).collect();
    let mut differs = vec![false; causes.len()];
    for &i in &differing {
        differs[i as usize] = true;
    }
    let mut sets = DisjointSets::new(causes.len());
    for &i in &differing {
        for &j in causes[i as usize].iter().chain(state.causes(i)).filter(|&&j| differs[j as usize]) {
            sets.join(i, j);
        }
    }
    let mut regions = sets.into_sets();
    regions.retain(|region| differs[region[0] as usize]);
    regions
}

/// A causal order close to a given one, by a depth-first walk along it; `None` if there is a cycle.
fn arranged(causes: &[Vec<u32>], order: &[u32]) -> Option<Vec<u32>> {
    const NEW: u8 = 0;
    const OPEN: u8 = 1;
    const DONE: u8 = 2;
    let mut marks = vec![NEW; causes.len()];
    let mut sorted = Vec::with_capacity(causes.len());
    let mut stack: Vec<(u32, usize)> = Vec::new();
    for &variable in order {
        if marks[variable as usize] == NEW {
            stack.push((variable, 0));
            marks[variable as usize] = OPEN;
        }
        while let Some((at, next)) = stack.last_mut() {
            if let Some(&cause) = causes[*at as usize].get(*next) {
                *next += 1;
                match marks[cause as usize] {
                    NEW => {
                        marks[cause as usize] = OPEN;
                        stack.push((cause, 0));
                    }
                    OPEN => return None,
                    _ => {}
                }
            } else {
                marks[*at as usize] = DONE;
                sorted.push(*at);
                stack.pop();
            }
        }
    }
    Some(sorted)
}

#[cfg(test)]
mod tests {
    use super::arranged;

    #[test]
    fn causes_come_first_and_the_order_stays_otherwise() {
        let causes = [vec![3], vec![], vec![1], vec![]];
        assert_eq!(arranged(&causes, &[0, 1, 2, 3]), Some(vec![3, 0, 1, 2]));
        assert_eq!(arranged(&causes, &[3, 1, 0, 2]), Some(vec![3, 1, 0, 2]));
    }

    #[test]
    fn a_cycle_has_no_order() {
        assert_eq!(arranged(&[vec![2], vec![0], vec![1]], &[0, 1, 2]), None);
    }
}
