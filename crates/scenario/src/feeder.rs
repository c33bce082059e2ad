//! Feeders: tables that supply rows to iterations.

use crate::DefinitionError;
use crate::definition::{self, AtEnd, Order, Share};
use crate::names::check_name;
use crate::random::Random;

/// A compiled table. A cell is found by index, and takes the memory of its text plus 8 bytes.
#[derive(Debug)]
pub(crate) struct Feeder {
    pub(crate) name: String,
    pub(crate) columns: Box<[String]>,
    /// At least 1.
    rows: u32,
    order: Order,
    share: Share,
    at_end: AtEnd,
    /// Each user keeps its row, which is that of its number.
    is_kept: bool,
    /// All cells, row after row.
    text: Box<str>,
    /// The end of each cell in `text`.
    ends: Box<[usize]>,
}

impl Feeder {
    pub(crate) fn new(feeder: definition::Feeder, field: &str) -> Result<Self, DefinitionError> {
        check_name(&feeder.name).map_err(|reason| DefinitionError::new(format!("{field}.name"), reason))?;
        check_columns(&feeder.columns, field)?;
        let rows_field = format!("{field}.rows");
        let wrong = |reason: &str| DefinitionError::new(&rows_field, reason);
        let rows = u32::try_from(feeder.rows.len()).map_err(|_| wrong("there are more than 2^32 rows"))?;
        if rows == 0 {
            return Err(wrong("there are no rows"));
        }
        let mut text = String::new();
        let mut ends = Vec::with_capacity(feeder.rows.len() * feeder.columns.len());
        for (index, row) in feeder.rows.iter().enumerate() {
            if row.len() != feeder.columns.len() {
                let reason = format!("it has {} cells, but there are {} columns", row.len(), feeder.columns.len());
                return Err(DefinitionError::new(format!("{rows_field}[{index}]"), reason));
            }
            for cell in row {
                text.push_str(cell);
                ends.push(text.len());
            }
        }
        let definition::Feeder { name, columns, order, share, at_end, .. } = feeder;
        let (columns, text, ends) = (columns.into(), text.into(), ends.into());
        Ok(Self { name, columns, rows, order, share, at_end, is_kept: false, text, ends })
    }

    /// Rejects a split that leaves a worker without rows, unless users may stop at the end.
    pub(crate) fn check_workers(&self, of: u32, field: &str) -> Result<(), DefinitionError> {
        if self.share == Share::Split && !self.is_kept && self.rows < of && self.at_end != AtEnd::Stop {
            let reason = format!("{} rows cannot be split over {of} workers; share them all, or use fewer", self.rows);
            return Err(DefinitionError::new(format!("{field}.rows"), reason));
        }
        Ok(())
    }

    /// `row` and `column` must be in the table.
    pub(crate) fn cell(&self, row: u32, column: u32) -> &str {
        let cell = row as usize * self.columns.len() + column as usize;
        let start = if cell == 0 { 0 } else { self.ends[cell - 1] };
        &self.text[start..self.ends[cell]]
    }

    /// Has each user keep its row.
    pub(crate) fn keep_rows(&mut self) {
        self.is_kept = true;
    }

    /// The row that the user with this number keeps; None if each iteration draws one.
    pub(crate) fn kept_row(&self, user: u64) -> Option<u32> {
        self.is_kept.then(|| (user % u64::from(self.rows)) as u32)
    }

    /// At least 1.
    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Whether rows come in their order.
    pub(crate) fn is_sequential(&self) -> bool {
        self.order == Order::Sequential
    }

    /// Whether there is nothing to do after the last row.
    pub(crate) fn ends(&self) -> bool {
        self.at_end != AtEnd::Recycle
    }

    /// Whether the run fails after the last row. Otherwise only its users stop.
    pub(crate) fn fails_at_end(&self) -> bool {
        self.at_end == AtEnd::Fail
    }
}

fn check_columns(columns: &[String], field: &str) -> Result<(), DefinitionError> {
    let wrong = |place: String, reason: &str| Err(DefinitionError::new(format!("{field}.columns{place}"), reason));
    if columns.is_empty() {
        return wrong(String::new(), "there are no columns");
    }
    for (index, column) in columns.iter().enumerate() {
        if column.is_empty() || column.contains('}') {
            return wrong(format!("[{index}]"), "a column needs a name, without }");
        }
        if columns[..index].contains(column) {
            return wrong(format!("[{index}]"), &format!("there is already a column {column:?}"));
        }
    }
    Ok(())
}

/// Selects the next row of a feeder for a worker.
#[derive(Debug)]
pub(crate) struct Feed {
    /// The worker's rows are first, first + stride, …, `count` of them.
    first: u32,
    stride: u32,
    count: u32,
    /// Rows used in this pass.
    given: u32,
    recycle: bool,
    /// For random order: a permutation of 0..count, a new one for each pass. Empty until the first draw.
    shuffled: Vec<u32>,
    random: bool,
}

impl Feed {
    /// For worker `index` of `of`; `check_workers` must have accepted the feeder.
    pub(crate) fn new(feeder: &Feeder, index: u32, of: u32) -> Self {
        let (first, stride) = if feeder.share == Share::Split { (index, of) } else { (0, 1) };
        let count = feeder.rows.saturating_sub(first).div_ceil(stride);
        let (recycle, random) = (feeder.at_end == AtEnd::Recycle, feeder.order == Order::Random);
        Self { first, stride, count, given: 0, recycle, shuffled: Vec::new(), random }
    }

    /// The next row; `None` after the last one, from then on.
    pub(crate) fn draw(&mut self, random: &mut Random) -> Option<u32> {
        if self.given == self.count {
            if !self.recycle {
                return None;
            }
            self.given = 0;
        }
        let place = if self.random { self.shuffle(random) } else { self.given };
        self.given += 1;
        Some(self.first + place * self.stride)
    }

    /// One step of a Fisher-Yates shuffle: the next element of a random permutation, for any start order.
    fn shuffle(&mut self, random: &mut Random) -> u32 {
        if self.shuffled.is_empty() {
            self.shuffled = (0..self.count).collect();
        }
        let other = self.given + random.below(self.count - self.given);
        self.shuffled.swap(self.given as usize, other as usize);
        self.shuffled[self.given as usize]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Feed, Feeder};
    use crate::definition::{AtEnd, Feeder as Given, Order, Share};
    use crate::random::Random;

    fn given(rows: u32, order: Order, share: Share, at_end: AtEnd) -> Given {
        let rows = (0..rows).map(|row| vec![format!("id{row}"), format!("name{row}")]).collect();
        Given { name: "f".into(), columns: vec!["id".into(), "name".into()], rows, order, share, at_end }
    }

    /// The rows that worker `index` of `of` draws, at most `most`.
    fn drawn(feeder: &Feeder, index: u32, of: u32, seed: u64, most: usize) -> Vec<u32> {
        let (mut feed, mut random) = (Feed::new(feeder, index, of), Random::new(seed, index));
        (0..most).map_while(|_| feed.draw(&mut random)).collect()
    }

    #[test]
    fn cells_are_found_by_row_and_column() {
        let mut table = given(3, Order::Sequential, Share::All, AtEnd::Stop);
        table.rows[1][0] = String::new();
        let feeder = Feeder::new(table, "f").unwrap();
        let cells: Vec<_> = (0..3).flat_map(|row| [feeder.cell(row, 0), feeder.cell(row, 1)]).collect();
        assert_eq!(cells, ["id0", "name0", "", "name1", "id2", "name2"]);
    }

    #[test]
    fn a_bad_table_is_refused_with_its_place() {
        let table = || given(2, Order::Sequential, Share::All, AtEnd::Stop);
        for (bad, expected) in [
            (
                Given { name: "a.b".into(), ..table() },
                "f.name: a name has letters, digits, _ and - only; it is \"a.b\"",
            ),
            (Given { columns: vec![], ..table() }, "f.columns: there are no columns"),
            (
                Given { columns: vec!["a".into(), "a".into()], ..table() },
                "f.columns[1]: there is already a column \"a\"",
            ),
            (
                Given { columns: vec!["a".into(), String::new()], ..table() },
                "f.columns[1]: a column needs a name, without }",
            ),
            (Given { columns: vec!["a}".into()], ..table() }, "f.columns[0]: a column needs a name, without }"),
            (Given { rows: vec![], ..table() }, "f.rows: there are no rows"),
            (
                Given { rows: vec![vec!["a".into(), "b".into()], vec!["a".into()]], ..table() },
                "f.rows[1]: it has 1 cells, but there are 2 columns",
            ),
        ] {
            assert_eq!(Feeder::new(bad, "f").map(|_| ()).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn too_few_rows_to_split_are_an_error_unless_the_users_just_end() {
        for (share, at_end, fine) in [
            (Share::Split, AtEnd::Recycle, false),
            (Share::Split, AtEnd::Fail, false),
            (Share::Split, AtEnd::Stop, true),
            (Share::All, AtEnd::Recycle, true),
        ] {
            let feeder = Feeder::new(given(2, Order::Sequential, share, at_end), "f").unwrap();
            assert_eq!(feeder.check_workers(3, "f").is_ok(), fine, "{share:?} {at_end:?}");
        }
        let feeder = Feeder::new(given(2, Order::Sequential, Share::Split, AtEnd::Stop), "f").unwrap();
        assert_eq!(drawn(&feeder, 1, 3, 0, 5), [1]);
        assert!(drawn(&feeder, 2, 3, 0, 5).is_empty());
        assert!(drawn(&feeder, 7, 9, 0, 5).is_empty());
    }

    #[test]
    fn users_that_keep_their_rows_need_no_split() {
        let mut feeder = Feeder::new(given(2, Order::Sequential, Share::Split, AtEnd::Recycle), "f").unwrap();
        assert_eq!(feeder.kept_row(1), None);
        feeder.keep_rows();
        assert!(feeder.check_workers(3, "f").is_ok());
        assert_eq!([0, 1, 2, 5].map(|user| feeder.kept_row(user)), [Some(0), Some(1), Some(0), Some(1)]);
    }

    proptest! {
        #[test]
        fn split_parts_are_disjoint_and_add_up(rows in 1_u32..50, of in 1_u32..8, random: bool, seed: u64) {
            let order = if random { Order::Random } else { Order::Sequential };
            let feeder = Feeder::new(given(rows, order, Share::Split, AtEnd::Stop), "f").unwrap();
            let parts: Vec<_> = (0..of).map(|index| drawn(&feeder, index, of, seed, 1000)).collect();
            let sizes: Vec<_> = parts.iter().map(Vec::len).collect();
            prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
            let mut all = parts.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..rows).collect::<Vec<_>>());
        }

        #[test]
        fn sequential_rows_come_in_order_and_again(rows in 1_u32..20, of in 1_u32..4, split: bool) {
            let share = if split { Share::Split } else { Share::All };
            let feeder = Feeder::new(given(rows.max(of), Order::Sequential, share, AtEnd::Recycle), "f").unwrap();
            for index in 0..of {
                let own: Vec<_> = (0..rows.max(of)).filter(|row| !split || row % of == index).collect();
                let expected: Vec<_> = own.iter().copied().cycle().take(50).collect();
                prop_assert_eq!(drawn(&feeder, index, of, 1, 50), expected);
            }
        }

        #[test]
        fn each_pass_in_random_order_has_every_row_once(rows in 1_u32..20, seed: u64) {
            let feeder = Feeder::new(given(rows, Order::Random, Share::All, AtEnd::Recycle), "f").unwrap();
            let drawn = drawn(&feeder, 0, 1, seed, 3 * rows as usize);
            for pass in drawn.chunks(rows as usize) {
                let mut pass = pass.to_vec();
                pass.sort_unstable();
                prop_assert_eq!(pass, (0..rows).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn passes_in_random_order_differ_and_all_rows_come_first_as_often() {
        let feeder = Feeder::new(given(5, Order::Random, Share::All, AtEnd::Recycle), "f").unwrap();
        let drawn = drawn(&feeder, 0, 1, 3, 50_000);
        let mut firsts = [0; 5];
        drawn.chunks(5).for_each(|pass| firsts[pass[0] as usize] += 1);
        assert!(firsts.iter().all(|&count| (1_700..2_300).contains(&count)), "{firsts:?}");
    }

    #[test]
    fn rows_that_ran_out_do_not_come_back() {
        let feeder = Feeder::new(given(2, Order::Random, Share::All, AtEnd::Fail), "f").unwrap();
        let (mut feed, mut random) = (Feed::new(&feeder, 0, 1), Random::new(1, 0));
        assert_eq!((0..5).filter(|_| feed.draw(&mut random).is_some()).count(), 2);
        assert!(feed.draw(&mut random).is_none() && feeder.fails_at_end());
    }
}
