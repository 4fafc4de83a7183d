use super::*;
use sprs::TriMat;

fn matrix(d: usize, entries: &[(usize, usize, f64)]) -> CsMat<f64> {
    let mut triplets = TriMat::new((d, d));
    for &(i, j, v) in entries {
        triplets.add_triplet(i, j, v);
    }
    triplets.to_csr()
}

#[test]
fn noise_precision_defaults_to_the_smallest_diagonal_entry() {
    let theta = matrix(2, &[(0, 0, 3.0), (1, 1, 2.0), (0, 1, 0.5), (1, 0, 0.5)]);
    let problem = Problem::new(theta.view(), None).unwrap();
    assert_eq!(problem.noise_precision(), [2.0, 2.0]);
    assert_eq!(problem.to_matrix(problem.theta()).unwrap(), theta);
    let problem = Problem::new(theta.view(), Some(&[0.5, 4.0])).unwrap();
    let of_name = |name: u32| problem.names.iter().position(|&n| n == name).unwrap();
    assert_eq!([0, 1].map(|name| problem.noise_precision()[of_name(name)]), [2.0, 0.25]);
}

#[test]
fn stored_zeros_do_not_enter_the_support_and_rounding_is_averaged_away() {
    let theta = matrix(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 1, 0.0), (1, 2, 0.25), (2, 1, 0.25 + 1e-12)]);
    let problem = Problem::new(theta.view(), None).unwrap();
    let symmetric = problem.to_matrix(problem.theta()).unwrap();
    assert_eq!((symmetric.nnz(), symmetric.get(0, 1)), (5, None));
    assert_eq!(symmetric.get(1, 2).unwrap().to_bits(), symmetric.get(2, 1).unwrap().to_bits());
}

#[test]
fn each_fault_is_named_with_its_place() {
    let fault = |entries: &[(usize, usize, f64)], variances: Option<&[f64]>| {
        Problem::new(matrix(2, entries).view(), variances).unwrap_err().to_string()
    };
    let identity = [(0, 0, 1.0), (1, 1, 1.0)];
    assert!(fault(&[(0, 0, 1.0)], None).contains("theta[1, 1] = 0"));
    assert!(fault(&[(0, 0, -1.0), (1, 1, 1.0)], None).contains("theta[0, 0] = -1"));
    assert!(fault(&[(0, 0, 1.0), (1, 1, 1.0), (0, 1, f64::NAN)], None).contains("theta[0, 1] is NaN"));
    assert!(fault(&[(0, 0, 1.0), (1, 1, 1.0), (0, 1, 0.5)], None).contains("theta[0, 1] = 0.5"));
    assert!(fault(&identity, Some(&[1.0])).contains("length 1"));
    assert!(fault(&identity, Some(&[1.0, 0.0])).contains("noise_variances[1] = 0"));
    assert!(fault(&identity, Some(&[f64::INFINITY, 1.0])).contains("noise_variances[0] = inf"));
    let wide = CsMat::<f64>::zero((2, 3));
    assert!(Problem::new(wide.view(), None).unwrap_err().to_string().contains("2 x 3"));
    let empty = CsMat::<f64>::zero((0, 0));
    assert_eq!(Problem::new(empty.view(), None).unwrap_err(), IcidError::Empty { what: "theta" });
}

#[test]
fn rounding_is_a_millionth_of_the_scale() {
    // The scale of entry (0, 1) is the root of 4 · 9.
    let theta = |gap: f64| matrix(2, &[(0, 0, 4.0), (1, 1, 9.0), (0, 1, 1.0), (1, 0, 1.0 + gap)]);
    let problem = Problem::new(theta(5e-6).view(), None).unwrap();
    assert_eq!(problem.to_matrix(problem.theta()).unwrap().get(0, 1), Some(&(1.0 + 2.5e-6)));
    for gap in [7e-6, -7e-6, 1.0] {
        assert!(matches!(Problem::new(theta(gap).view(), None), Err(IcidError::NotSymmetric { .. })));
    }
    // A large entry is a scale of its own.
    let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 1.0), (0, 1, 100.0), (1, 0, 100.0 + 5e-5)]);
    assert!(Problem::new(theta.view(), None).is_ok());
    // An entry that only one side has, and one that vanishes in the mean.
    let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 1.0), (0, 1, 4e-7)]);
    let problem = Problem::new(theta.view(), None).unwrap();
    assert_eq!(problem.to_matrix(problem.theta()).unwrap().get(1, 0), Some(&2e-7));
    let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 1.0), (0, 1, 1e-9), (1, 0, -1e-9)]);
    assert_eq!(Problem::new(theta.view(), None).unwrap().support().len(), 2);
}

#[test]
fn an_entry_is_compared_with_its_own_mirror_image() {
    // The same numbers above and below the diagonal, in other places.
    let entries = [(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 1, 0.1), (1, 2, 0.2), (1, 0, 0.2), (2, 1, 0.1)];
    let error = Problem::new(matrix(3, &entries).view(), None).unwrap_err();
    assert!(matches!(error, IcidError::NotSymmetric { .. }), "{error}");
}

#[test]
fn skewness_is_weighted_on_the_support_off_the_diagonal() {
    let theta = matrix(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 1, 0.5), (1, 0, 0.5)]);
    let problem = || Problem::new(theta.view(), None).unwrap();
    let m = matrix(3, &[(0, 0, 9.0), (0, 1, 2.0), (1, 0, -2.0), (0, 2, 5.0), (2, 0, -5.0)]);
    let weighted = problem().with_skewness(m.view(), 0.25).unwrap();
    assert_eq!(weighted.to_matrix(weighted.skewness().unwrap()).unwrap(), matrix(3, &[(0, 1, 0.5), (1, 0, -0.5)]));
    assert_eq!(problem().with_skewness(m.view(), 0.0).unwrap().skewness(), None);
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(problem().with_skewness(m.view(), weight), Err(IcidError::Parameter { .. })));
    }
    let fault = |matrix: CsMat<f64>| problem().with_skewness(matrix.view(), 1.0).unwrap_err();
    assert!(matches!(fault(CsMat::zero((3, 2))), IcidError::NotSquare { rows: 3, columns: 2, .. }));
    assert!(matches!(fault(CsMat::zero((2, 2))), IcidError::Length { expected: 3, found: 2, .. }));
    assert!(matches!(fault(matrix(3, &[(0, 2, f64::NAN)])), IcidError::NotFinite { row: 0, column: 2, .. }));
}

#[test]
fn components_keep_what_belongs_to_them() {
    let mut entries: Vec<_> = (0..6).map(|i| (i, i, 1.0)).collect();
    for (i, j, v) in [(0, 1, 0.1), (2, 3, 0.2), (3, 4, 0.3)] {
        entries.extend([(i, j, v), (j, i, v)]);
    }
    let theta = matrix(6, &entries);
    let edges = matrix(6, &[(1, 0, 1.0), (3, 2, 1.0), (4, 3, 1.0), (0, 5, 1.0)]);
    let whole = Problem::new(theta.view(), None).unwrap().with_forbidden(edges.view()).unwrap();
    assert_eq!(whole.forbidden().len(), 3);
    let mut found = 0;
    for variables in whole.components() {
        let part = whole.component(variables.clone()).unwrap();
        let first = whole.component_entries(&variables).start;
        for &k in part.forbidden() {
            found += 1;
            assert!(whole.forbidden().contains(&(k + first as u32)));
            assert_eq!(part.theta()[k as usize], whole.theta()[first + k as usize]);
        }
        assert_eq!((part.dim(), part.components().len()), (variables.len(), 1));
    }
    assert_eq!(found, 3);
    for shape in [(6, 5), (5, 6)] {
        let fault = whole.clone().with_forbidden(CsMat::zero(shape).view());
        assert!(matches!(fault, Err(IcidError::NotSquare { .. })));
    }
    let fault = whole.clone().with_forbidden(CsMat::zero((5, 5)).view());
    assert!(matches!(fault, Err(IcidError::Length { expected: 6, found: 5, .. })));
}

#[test]
fn an_indefinite_pair_is_found() {
    let theta = matrix(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 4.0), (1, 2, 2.5), (2, 1, 2.5)]);
    assert_eq!(Problem::new(theta.view(), None).unwrap().indefinite_pair(), Some((1, 2)));
    let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 1.0)]);
    assert_eq!(Problem::new(theta.view(), None).unwrap().indefinite_pair(), None);
    for (entry, pair) in [(1.999, None), (2.0, Some((0, 1))), (-2.0, Some((0, 1)))] {
        let theta = matrix(2, &[(0, 0, 1.0), (1, 1, 4.0), (0, 1, entry), (1, 0, entry)]);
        assert_eq!(Problem::new(theta.view(), None).unwrap().indefinite_pair(), pair);
    }
}

#[test]
fn renumbering_is_invisible() {
    // A star around 3 with a bystander 0.
    let mut entries: Vec<_> = (0..5).map(|i| (i, i, 2.0 + f64::from(i as u8))).collect();
    for leaf in [1, 2, 4] {
        let value = leaf as f64 / 10.0;
        entries.extend([(3, leaf, value), (leaf, 3, value)]);
    }
    let theta = matrix(5, &entries);
    let variances = [1.0, 0.5, 0.25, 0.125, 1.0];
    let problem = Problem::new(theta.view(), Some(&variances)).unwrap();
    let expected: Vec<f64> = problem.names.iter().map(|&i| 1.0 / variances[i as usize]).collect();
    assert_eq!(problem.noise_precision(), expected);
    assert_eq!(problem.to_matrix(problem.theta()).unwrap(), theta);
    assert_eq!(problem.gather(theta.view()).unwrap(), problem.theta());
    let sizes: Vec<_> = problem.components().map(|c| c.len()).collect();
    assert!(sizes == [1, 4] || sizes == [4, 1]);
    let range = problem.components().find(|c| c.len() == 4).unwrap();
    let star = problem.component(range.clone()).unwrap();
    assert_eq!(star.theta(), &problem.theta()[problem.component_entries(&range)]);
    assert_eq!(star.noise_precision(), &expected[range]);
}

#[test]
fn numbers_of_the_caller_do_not_matter_inside() {
    let entries = [(0, 0, 3.0), (1, 1, 2.0), (2, 2, 2.0), (0, 1, 0.5), (1, 0, 0.5), (0, 2, -0.5), (2, 0, -0.5)];
    let permuted = entries.map(|(i, j, v)| ((i + 2) % 3, (j + 2) % 3, v));
    let [one, other] = [entries, permuted].map(|e| Problem::new(matrix(3, &e).view(), None).unwrap());
    assert_eq!(one.theta(), other.theta());
    assert_eq!(one.names.iter().map(|i| (i + 2) % 3).collect::<Vec<_>>(), other.names);
}

#[test]
fn matrices_come_back_from_the_support() {
    let theta = matrix(2, &[(0, 0, 3.0), (1, 1, 2.0), (0, 1, 0.5), (1, 0, 0.5)]);
    let problem = Problem::new(theta.view(), None).unwrap();
    let b = matrix(2, &[(0, 1, 7.0)]);
    assert_eq!(problem.to_matrix(&problem.gather(b.view()).unwrap()).unwrap(), b);
}
