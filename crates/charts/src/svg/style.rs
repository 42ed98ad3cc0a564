//! The style of each picture: eight colours that colour-blind readers can distinguish (after Okabe and Ito), darker on
//! a light background and lighter on a dark one.

/// Number of distinct series colours, after which they repeat.
pub(super) const COLOURS: usize = 8;

pub(super) const CSS: &str = "\
.mayfly-chart{color-scheme:light dark;max-width:100%;height:auto;font:13px system-ui,sans-serif;--ground:#fff;--ink:#1c1c1c;--faint:#595959;--grid:#dedede;--c0:#0067a8;--c1:#c24e00;--c2:#00785a;--c3:#a83d7f;--c4:#8a6500;--c5:#2f87b8;--c6:#5b3fa0;--c7:#5f5f5f}\
@media(prefers-color-scheme:dark){.mayfly-chart{--ground:#16181c;--ink:#ececec;--faint:#b0b0b0;--grid:#383c44;--c0:#5fb4ee;--c1:#ff9152;--c2:#35c79c;--c3:#e58abf;--c4:#e5b93c;--c5:#9bd4f5;--c6:#b09cf0;--c7:#bdbdbd}}\
.mayfly-chart .ground{fill:var(--ground)}\
.mayfly-chart text{fill:var(--ink)}\
.mayfly-chart .title{font-size:16px;font-weight:600}\
.mayfly-chart .mark{fill:var(--faint)}\
.mayfly-chart .grid{stroke:var(--grid)}\
.mayfly-chart .axis{stroke:var(--faint)}\
.mayfly-chart .s0{--c:var(--c0)}.mayfly-chart .s1{--c:var(--c1)}.mayfly-chart .s2{--c:var(--c2)}.mayfly-chart .s3{--c:var(--c3)}\
.mayfly-chart .s4{--c:var(--c4)}.mayfly-chart .s5{--c:var(--c5)}.mayfly-chart .s6{--c:var(--c6)}.mayfly-chart .s7{--c:var(--c7)}\
.mayfly-chart .path{fill:none;stroke:var(--c);stroke-width:2}\
.mayfly-chart .reference{stroke-dasharray:6 4}\
.mayfly-chart .spread{stroke:var(--c);stroke-width:1.5}\
.mayfly-chart .dot{fill:var(--c);stroke:var(--ground)}\
.mayfly-chart .bar{fill:var(--c)}\
.mayfly-chart .whisker{stroke:var(--ink);stroke-width:1.5}";
