//! Whether a text is a date or a time.

const MONTHS: [&str; 16] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "mär", "mai", "okt", "dez"];

/// The longest text that is looked at.
const LONGEST: usize = 40;

/// Dates in the order of ISO, of Germany or of the United States, with figures or a month's name, and times.
pub(crate) fn is_date(text: &str) -> bool {
    let text = text.trim();
    if text.len() > LONGEST || !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return false;
    }
    let (day, clock) = match text.split_once(['T', ' ']) {
        Some((day, clock)) if is_day(day) => (day, Some(clock.trim())),
        _ if is_time(text) => return true,
        _ => (text, None),
    };
    is_day(day) && clock.is_none_or(is_time)
}

/// Three parts, of which one may be a year, one a month and one a day.
fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split(['-', '/', '.', ' ', ',']).filter(|part| !part.is_empty()).collect();
    let [a, b, c] = parts[..] else { return false };
    let figure = |text: &str, most: u32| {
        text.len() <= 2
            && text.bytes().all(|byte| byte.is_ascii_digit())
            && text.parse().is_ok_and(|n: u32| (1..=most).contains(&n))
    };
    let year = |text: &str| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        digits && (text.len() == 2 || text.len() == 4 && (text.starts_with("19") || text.starts_with("20")))
    };
    let name = |text: &str| {
        let text = text.to_lowercase();
        text.chars().all(char::is_alphabetic) && MONTHS.iter().any(|month| text.starts_with(month))
    };
    let month = |text: &str| figure(text, 12) || name(text);
    let day = |text: &str| figure(text, 31);
    year(a) && a.len() == 4 && month(b) && day(c) || year(c) && (day(a) && month(b) || month(a) && day(b))
}

/// Hours and minutes, with what may follow.
fn is_time(text: &str) -> bool {
    let half = ["AM", "PM", "am", "pm", "Z"].iter().find_map(|end| text.strip_suffix(end));
    let text = half.unwrap_or(text).trim_end();
    let text = text.rsplit_once(['+', '-']).map_or(text, |(clock, _)| clock);
    let mut parts = text.split(':');
    // The most, and the fewest digits, of hours, minutes and seconds.
    let limits = [(24, 1), (59, 2), (60, 2)];
    let count = parts.clone().count();
    (2..=3).contains(&count)
        && limits.iter().zip(&mut parts).all(|(&(most, fewest), part)| {
            let whole = part.split('.').next().unwrap_or_default();
            (fewest..=2).contains(&whole.len()) && whole.parse().is_ok_and(|n: u32| n <= most)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_told_from_numbers_and_words() {
        for text in [
            "2024-01-31",
            "2024/1/31",
            "31.01.2024",
            "1.2.24",
            "01/31/2024",
            "31/01/2024",
            "2024-01-31T10:15:00Z",
            "2024-01-31 10:15:00.250",
            "2024-01-31T10:15:00+02:00",
            "31-Jan-2024",
            "5 March 2024",
            "Mar 5, 2024",
            "3. Dez 2023",
            "10:30",
            "10:30:59",
            "9:05 PM",
            "31.01.2024 10:30",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "",
            "2024",
            "1.5",
            "a-b-c",
            "1.2.3",
            "13.13.2024",
            "10.0.0.1",
            "1:2",
            "99:10",
            "red",
            "3-1",
            "2024-13-01",
            "A1-2-20",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }
}
