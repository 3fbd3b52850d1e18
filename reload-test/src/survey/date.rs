//! The day, for a page that says when its figures were taken.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Today in UTC: `2026-11-21`.
pub(crate) fn today() -> String {
    of(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// The day so long after 1970 began. The calendar repeats every 400 years, and counted from March its months follow a
/// straight line.
fn of(since: Duration) -> String {
    let days = since.as_secs() / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::of;
    use std::time::Duration;

    #[test]
    fn days_have_the_names_of_the_calendar() {
        let check = |seconds, name: &str| assert_eq!(of(Duration::from_secs(seconds)), name);
        check(0, "1970-01-01");
        check(86_399, "1970-01-01");
        check(951_782_400, "2000-02-29");
        check(1_709_164_800, "2024-02-29");
        check(1_709_251_200, "2024-03-01");
        check(1_795_219_200, "2026-11-21");
        check(1_798_675_200, "2026-12-31");
    }
}
