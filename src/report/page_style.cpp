// The page's style sheet: light and dark as the reader's system has it.
#include "report/page_assets.hpp"

namespace qkv {

const std::string_view page_style = R"css(
:root {
  color-scheme: light dark;
  --paper: #fcfcfb; --card: #ffffff; --ink: #1d2126; --faint: #646b74; --line: #dcdfe3;
  --pass: #1a7f4b; --warn: #9a6400; --fail: #c0271d; --skip: #7a828c; --accent: #2a5ea8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14161a; --card: #1c1f25; --ink: #e6e8eb; --faint: #9aa2ad; --line: #333943;
    --pass: #4fc486; --warn: #e0ad4a; --fail: #ff7b70; --skip: #8d96a1; --accent: #86b4f5;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
main, header { max-width: 1240px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 24px; }
h1 { font-size: 22px; margin: 0 0 8px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 0; }
h2 small { font-weight: normal; font-size: 14px; color: var(--faint); margin-left: 8px; }
code, .number, td { font-variant-numeric: tabular-nums; }
a { color: var(--accent); }
.config { color: var(--faint); margin: 0 0 12px; display: flex; flex-wrap: wrap; gap: 2px 18px; }
.config b { color: var(--ink); font-weight: 600; }
nav { position: sticky; top: 0; z-index: 2; background: var(--paper);
  border-bottom: 1px solid var(--line); }
nav div { max-width: 1240px; margin: 0 auto; padding: 8px 24px; display: flex; flex-wrap: wrap;
  gap: 6px 14px; align-items: center; }
nav a { text-decoration: none; }
nav label { color: var(--faint); display: inline-flex; align-items: center; gap: 6px; font-size: 13px; }
nav label:first-of-type { margin-left: auto; }
nav input { width: 110px; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 16px 18px; margin: 18px 0; scroll-margin-top: 52px; }
.sides { display: grid; grid-template-columns: minmax(0, 1fr) 330px; gap: 20px; margin-top: 12px; }
@media (max-width: 900px) { .sides { grid-template-columns: minmax(0, 1fr); } }
.panels { display: flex; flex-wrap: wrap; gap: 14px 20px; align-items: flex-end; }
figure { margin: 0; max-width: 100%; overflow-x: auto; }
figcaption { font-size: 13px; color: var(--faint); margin-bottom: 2px; }
canvas { display: block; cursor: crosshair; outline-offset: 2px; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 18px; margin-top: 14px; font-size: 13px;
  color: var(--faint); align-items: center; }
.legend .bar { display: inline-block; width: 180px; height: 12px; vertical-align: middle;
  margin: 0 6px; border: 1px solid var(--line); }
.swatch { display: inline-block; width: 13px; height: 13px; vertical-align: -2px;
  margin-right: 5px; border: 1px solid var(--line); }
.swatch.hidden { background-image: repeating-linear-gradient(45deg, #c8c8c8 0 3px, #808080 3px 4px); }
table { border-collapse: collapse; font-size: 13px; width: 100%; }
td { padding: 1px 0; } td + td { text-align: right; }
ul.checks { list-style: none; margin: 12px 0 0; padding: 0; font-size: 13px; }
ul.checks li { border-top: 1px solid var(--line); padding: 6px 0; overflow-wrap: anywhere; }
ul.checks code { font-weight: 600; margin-right: 6px; }
.status { display: inline-block; min-width: 38px; font-weight: 600; }
.pass { color: var(--pass); } .warn { color: var(--warn); } .fail { color: var(--fail); }
.skip { color: var(--skip); }
.hint { display: block; color: var(--faint); }
p.note { color: var(--faint); font-size: 13px; margin: 8px 0 0; }
#tip { position: fixed; z-index: 3; pointer-events: none; background: var(--card);
  border: 1px solid var(--line); border-radius: 6px; padding: 6px 9px; font-size: 13px;
  box-shadow: 0 2px 10px rgb(0 0 0 / .25); max-width: 320px; overflow-wrap: anywhere;
  white-space: pre-line; }
#tip b { display: block; font-size: 15px; font-variant-numeric: tabular-nums; }
[hidden] { display: none !important; }
)css";

}  // namespace qkv
