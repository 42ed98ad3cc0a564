//! Any chart, with any numbers and texts, is well-formed SVG whose coordinates are numbers, and fits the terminal.

use mayfly_charts::html::Page;
use mayfly_charts::{
    Axis, Bar, BarChart, BarGroup, LineChart, Point, Scale, Series, Unit, svg, terminal,
};
use proptest::prelude::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => -1e3..1e3_f64,
        2 => 1e-6..1e9_f64,
        1 => any::<f64>(),
        1 => prop::sample::select(vec![
            0.0, -0.0, 1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324
        ]),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z <>&\"']{0,90}",
        any::<String>(),
        Just("</title><script>\u{1b}[2J".to_owned())
    ]
}

fn axis() -> impl Strategy<Value = Axis> {
    let scale = prop::sample::select(vec![Scale::Linear, Scale::Log2, Scale::Log10]);
    let units = vec![
        Unit::Number,
        Unit::Bytes,
        Unit::Seconds,
        Unit::Percent,
        Unit::Times,
    ];
    (text(), scale, prop::sample::select(units)).prop_map(|(label, scale, unit)| Axis {
        label,
        scale,
        unit,
    })
}

fn line_chart() -> impl Strategy<Value = LineChart> {
    let point = (number(), number(), prop::option::of((number(), number())))
        .prop_map(|(x, y, range)| Point { x, y, range });
    let series = (text(), prop::collection::vec(point, 0..8), any::<bool>()).prop_map(
        |(name, points, is_reference)| Series {
            name,
            points,
            is_reference,
        },
    );
    (
        text(),
        text(),
        axis(),
        axis(),
        prop::collection::vec(series, 0..11),
    )
        .prop_map(|(title, description, x, y, series)| LineChart {
            title,
            description,
            x,
            y,
            series,
        })
}

fn bar_chart() -> impl Strategy<Value = BarChart> {
    let bar = (number(), prop::option::of((number(), number())))
        .prop_map(|(value, range)| Bar { value, range });
    let bars = prop::collection::vec(prop::option::of(bar), 0..4);
    let group = (text(), bars).prop_map(|(label, bars)| BarGroup { label, bars });
    let series = prop::collection::vec(text(), 0..4);
    (
        text(),
        text(),
        axis(),
        series,
        prop::collection::vec(group, 0..5),
    )
        .prop_map(|(title, description, value, series, groups)| BarChart {
            title,
            description,
            value,
            series,
            groups,
        })
}

/// Checks that a picture is XML, has finite coordinates, and has a title and description.
fn check_svg(picture: &str) {
    let document = roxmltree::Document::parse(picture).expect("it is well-formed");
    let root = document.root_element();
    for name in ["title", "desc", "style"] {
        assert!(
            root.children()
                .any(|child| child.has_tag_name(("http://www.w3.org/2000/svg", name)))
        );
    }
    let ids = root
        .attribute("aria-labelledby")
        .expect("it has a name")
        .split(' ');
    for id in ids {
        assert!(
            document
                .descendants()
                .any(|node| node.attribute("id") == Some(id)),
            "{id}"
        );
    }
    let view: Vec<f64> = root
        .attribute("viewBox")
        .expect("it has a size")
        .split(' ')
        .map(|number| number.parse().expect("it is a number"))
        .collect();
    let numbers = [
        "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "width", "height", "points",
    ];
    for node in document.descendants() {
        assert!(!node.has_tag_name("script"));
        for attribute in node.attributes().filter(|it| numbers.contains(&it.name())) {
            let values = attribute
                .value()
                .split([' ', ','])
                .filter(|it| !it.is_empty());
            for value in values {
                let value: f64 = value.parse().expect("it is a number");
                assert!(
                    (-10.0..=view[2].max(view[3]) + 10.0).contains(&value),
                    "{attribute:?}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn any_line_chart_can_be_drawn(chart in line_chart(), width in 0..130_usize, height in 0..40_usize) {
        check_svg(&svg::line_chart(&chart));
        let drawn = terminal::line_chart(&chart, width, height);
        for line in drawn.lines() {
            prop_assert!(line.chars().count() <= width.max(24), "{line:?}");
            prop_assert!(!line.chars().any(char::is_control));
        }
    }

    #[test]
    fn any_bar_chart_can_be_drawn(chart in bar_chart(), width in 0..130_usize) {
        check_svg(&svg::bar_chart(&chart));
        for line in terminal::bar_chart(&chart, width).lines() {
            prop_assert!(line.chars().count() <= width.max(24), "{line:?}");
            prop_assert!(!line.chars().any(char::is_control));
        }
    }

    #[test]
    fn charts_stand_in_one_picture_and_page(charts in prop::collection::vec(line_chart(), 0..4), columns in 0..4_usize, words in text()) {
        let picture = svg::line_charts(&words, &words, &charts, columns);
        check_svg(&picture);
        let mut page = Page::new(&words);
        page.heading(&words);
        page.paragraph(&words);
        page.preformatted(&words);
        page.figure(&picture);
        page.table(&words, &[&words], &[vec![words.clone()]], |_| true);
        // The page is XML too, except for its first line.
        let page = page.finish();
        let body = page.split_once('\n').expect("it has lines").1;
        roxmltree::Document::parse(body).expect("it is well-formed");
    }
}

/// Each value of a chart is in its picture, with its spread.
#[test]
fn values_are_told() {
    let points = [(8192.0, 45.2), (131_072.0, 43.0)];
    let chart = LineChart {
        title: "Scans".into(),
        description: "128K is best.".into(),
        x: Axis {
            label: "read_buffer_size".into(),
            scale: Scale::Log2,
            unit: Unit::Bytes,
        },
        y: Axis {
            label: "time".into(),
            scale: Scale::Linear,
            unit: Unit::Seconds,
        },
        series: vec![Series {
            name: "disk".into(),
            points: points
                .map(|(x, y)| Point {
                    x,
                    y,
                    range: Some((y - 1.0, y + 2.0)),
                })
                .to_vec(),
            is_reference: false,
        }],
    };
    let picture = svg::line_chart(&chart);
    for told in [
        "<title>disk, 8K: 45.2 s (44.2 s to 47.2 s)</title>",
        "<title>disk, 128K: 43 s (42 s to 45 s)</title>",
        ">read_buffer_size</text>",
        ">128K is best.</desc>",
        "prefers-color-scheme:dark",
    ] {
        assert!(picture.contains(told), "{told}");
    }
    // 131072 is at the right end of the axis, 8192 at the left one; a longer time is higher up.
    let document = roxmltree::Document::parse(&picture).expect("it is well-formed");
    let circles: Vec<(f64, f64)> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("dot"))
        .map(|node| {
            let number = |name| node.attribute(name).expect("it is there").parse::<f64>();
            (
                number("cx").expect("a number"),
                number("cy").expect("a number"),
            )
        })
        .collect();
    assert_eq!(circles.len(), 2);
    assert!(
        circles[0].0 < circles[1].0 && circles[0].1 < circles[1].1,
        "{circles:?}"
    );
}
