//! Reads cron expressions strictly and writes them plainly.
//!
//! What comes out has six fields, each `*` or a list of numbers, `L`, `LW`, `15W`, `5#2` and `5#L`: no names, ranges or
//! steps, Sunday always 0.

use super::error::{CronError, CronProblem};
use super::field::CronField;

const NAMED: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// An expression taken apart.
pub(super) struct Fields<'a> {
    expression: &'a str,
    fields: Vec<Field<'a>>,
}

struct Field<'a> {
    field: CronField,
    text: &'a str,
    position: usize,
    canonical: String,
}

pub(super) fn fields(expression: &str) -> Result<Fields<'_>, CronError> {
    let text = match expression.trim() {
        name if name.starts_with('@') => {
            let known = NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            let unknown = || CronError::UnknownName {
                expression: expression.to_owned(),
            };
            known.ok_or_else(unknown)?.1
        }
        _ => expression,
    };
    let parts: Vec<&str> = text.split_whitespace().collect();
    let meant = match parts.len() {
        5 => &CronField::ALL[1..],
        6 => &CronField::ALL[..],
        count => {
            return Err(CronError::FieldCount {
                expression: expression.to_owned(),
                count,
            });
        }
    };
    let mut fields = Vec::with_capacity(parts.len());
    for (field, part) in meant.iter().zip(parts) {
        let position = part.as_ptr().addr() - text.as_ptr().addr();
        let canonical = read(*field, part).map_err(|problem| CronError::Field {
            expression: expression.to_owned(),
            field: *field,
            text: part.to_owned(),
            position,
            problem,
        })?;
        fields.push(Field {
            field: *field,
            text: part,
            position,
            canonical,
        });
    }
    Ok(Fields { expression, fields })
}

impl Fields<'_> {
    /// Six plain fields.
    pub(super) fn canonical(&self) -> String {
        let mut canonical = String::new();
        if self.fields.len() == 5 {
            canonical.push('0');
        }
        for field in &self.fields {
            if !canonical.is_empty() {
                canonical.push(' ');
            }
            canonical.push_str(&field.canonical);
        }
        canonical
    }

    /// That no date fits. The month alone always has days, so the day of the month is to blame, unless it is free.
    pub(super) fn never(&self) -> CronError {
        let is_day_of_month = |field: &&Field<'_>| field.field == CronField::DayOfMonth;
        let day = self.fields.iter().find(is_day_of_month);
        let day = day.expect("every expression has a day of month");
        CronError::Field {
            expression: self.expression.to_owned(),
            field: day.field,
            text: day.text.to_owned(),
            position: day.position,
            problem: CronProblem::NoSuchDate,
        }
    }
}

/// Reads one field.
fn read(field: CronField, text: &str) -> Result<String, CronProblem> {
    let text = text.to_ascii_uppercase();
    if let (CronField::DayOfWeek, Some(rest)) = (field, text.strip_prefix('+')) {
        return Ok(format!("+{}", read_list(field, rest)?));
    }
    read_list(field, &text)
}

fn read_list(field: CronField, text: &str) -> Result<String, CronProblem> {
    let is_day = matches!(field, CronField::DayOfMonth | CronField::DayOfWeek);
    if matches!(text, "*" | "*/1") || is_day && text == "?" {
        return Ok("*".to_owned());
    }
    let mut values = 0_u64;
    let mut special = Vec::new();
    for item in text.split(',') {
        if item.is_empty() {
            return Err(CronProblem::Missing);
        }
        match read_special(field, item)? {
            Some(day) => special.push(day),
            None => values |= read_values(field, item)?,
        }
    }
    let has = |day: &str| special.iter().any(|special| special == day);
    if has("L") && has("LW") {
        return Err(CronProblem::LastTwice);
    }
    let values = (0..u64::BITS).filter(|value| values & 1 << value != 0);
    let items: Vec<String> = values.map(|value| value.to_string()).chain(special).collect();
    Ok(items.join(","))
}

/// A day that depends on the month.
fn read_special(field: CronField, item: &str) -> Result<Option<String>, CronProblem> {
    match field {
        CronField::DayOfMonth if matches!(item, "L" | "LW") => Ok(Some(item.to_owned())),
        CronField::DayOfMonth => match item.strip_suffix('W') {
            Some(day) => Ok(Some(format!("{}W", read_value(field, day, item)?))),
            None => Ok(None),
        },
        CronField::DayOfWeek => {
            let (day, nth) = match (item.split_once('#'), item.strip_suffix('L')) {
                (Some(parts), _) => parts,
                (None, Some(day)) => (day, "L"),
                (None, None) => return Ok(None),
            };
            let day = read_value(field, day, item)? % 7;
            match nth {
                "L" | "1" | "2" | "3" | "4" | "5" => Ok(Some(format!("{day}#{nth}"))),
                _ => Err(not_understood(field, item)),
            }
        }
        _ => Ok(None),
    }
}

/// A value, a range or a step, as a set of bits.
fn read_values(field: CronField, item: &str) -> Result<u64, CronProblem> {
    let (range, step) = match item.split_once('/') {
        Some((range, step)) => (range, Some(step)),
        None => (item, None),
    };
    let (from, to) = match (range, range.split_once('-'), step) {
        // Seven is Sunday again.
        ("*", _, Some(_)) if field == CronField::DayOfWeek => (0, 6),
        ("*", _, Some(_)) => (field.low(), field.high()),
        (_, Some((from, to)), _) => read_range(field, from, to, item)?,
        (value, None, None) => {
            let value = read_value(field, value, item)?;
            (value, value)
        }
        (value, None, Some(step)) => {
            read_value(field, value, item)?;
            return Err(CronProblem::StepOfOne {
                value: value.to_owned(),
                step: step.to_owned(),
            });
        }
    };
    let step = step.map_or(Ok(1), |step| read_step(field, step))?;
    let days_in_week = if field == CronField::DayOfWeek { 7 } else { u8::MAX };
    let values = (from..=to).step_by(usize::from(step));
    Ok(values.fold(0, |bits, value| bits | 1 << (value % days_in_week)))
}

fn read_range(field: CronField, from_text: &str, to_text: &str, item: &str) -> Result<(u8, u8), CronProblem> {
    let from = read_value(field, from_text, item)?;
    let mut to = read_value(field, to_text, item)?;
    // A week that ends on Sunday ends on seven.
    if field == CronField::DayOfWeek && to == 0 && from > 0 {
        to = 7;
    }
    if from <= to {
        return Ok((from, to));
    }
    let (first, last) = match (field.names().first(), field.names().last()) {
        (Some(first), Some(last)) if from_text.starts_with(char::is_alphabetic) => {
            ((*first).to_owned(), (*last).to_owned())
        }
        _ => (field.low().to_string(), field.high().to_string()),
    };
    Err(CronProblem::Backwards {
        range: format!("{from_text}-{to_text}"),
        instead: format!("{from_text}-{last},{first}-{to_text}"),
    })
}

fn read_value(field: CronField, text: &str, item: &str) -> Result<u8, CronProblem> {
    if let Some(at) = field.names().iter().position(|name| *name == text) {
        // Twelve names at most.
        return Ok(field.low() + at as u8);
    }
    if !is_number(text) {
        return Err(not_understood(field, item));
    }
    let (low, high) = (field.low(), field.high());
    match text.parse::<u8>() {
        Ok(value) if (low..=high).contains(&value) => Ok(value),
        _ => Err(CronProblem::OutOfRange {
            value: text.to_owned(),
            low,
            high,
        }),
    }
}

fn read_step(field: CronField, text: &str) -> Result<u8, CronProblem> {
    let high = field.high();
    match text.parse::<u8>() {
        Ok(step) if is_number(text) && (1..=high).contains(&step) => Ok(step),
        _ => Err(CronProblem::Step {
            step: text.to_owned(),
            high,
        }),
    }
}

/// Digits only: the standard library would also read `+5`.
fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn not_understood(field: CronField, item: &str) -> CronProblem {
    CronProblem::NotUnderstood {
        part: item.to_owned(),
        allowed: field.allowed(),
    }
}
