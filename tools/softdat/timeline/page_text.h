// SPDX-License-Identifier: BSD-2-Clause
// The fixed parts of the page: kPageHead, the data as JSON, kPageTail.
#pragma once

namespace softdat::tools::timeline {

inline constexpr const char* kPageHead = R"html(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>SoftDAT timeline</title>
<style>
body { font: 13px sans-serif; margin: 12px; color: #222; background: #fff; }
#notes { color: #a40; } #box { border: 1px solid #bbb; max-height: 70vh; overflow-y: auto; }
svg { width: 100%; display: block; cursor: grab; } .lane.process { cursor: pointer; }
.lane text { font-size: 11px; } .lane .back { fill: #f6f6f6; } .lane.process .back { fill: #dde6f0; }
.call { fill: #e8b84a; } .call.pause { fill: #d07070; } .call.lmr { fill: #8a7cc8; }
.mark { fill: #27618f; } .arrow { stroke: #3a7; fill: none; stroke-width: 1; } .arrow.found { stroke: #d00; stroke-width: 2; }
.arrow.chosen { stroke: #c3c; stroke-width: 4; }
.dense { fill: #9ab; } table { border-collapse: collapse; margin-top: 10px; } td, th { padding: 2px 8px; text-align: right; }
td.t, th.t { text-align: left; } tr.slow { cursor: pointer; } tr.slow:hover { background: #eef; } tr.found { background: #fdd; }
</style></head><body>
<h1 id="title"></h1><p id="facts"></p><ul id="notes"></ul>
<p><button id="in">zoom in</button> <button id="out">zoom out</button> <button id="all">all</button>
<button id="fold">fold</button> <button id="unfold">unfold</button>
<input id="search" placeholder="search: send, endpoint 2, receive ..." size="40"> <span id="hits"></span></p>
<p>The wheel zooms, and over the names it scrolls. Dragging moves. A click on a process folds or unfolds it, a click on a row shows
the operation.</p>
<div id="box"><svg id="view"></svg></div>
<h2>Slow operations</h2>
<table><thead><tr><th class="t">operation</th><th>bytes</th><th>at ms</th><th>took &micro;s</th><th class="t">why</th>
<th>thereof &micro;s</th><th class="t">from</th><th class="t">to</th></tr></thead><tbody id="rows"></tbody></table>
<script type="application/json" id="data">)html";

inline constexpr const char* kPageTail = R"html(</script>
<script>
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const [POSTED, WIRE, PLACED, DONE, TAKEN, PDONE, PTAKEN, THREAD, EP, PEER, TAKER, PTAKER, BYTES, NAME, REASON, DELAY] =
  [...Array(16).keys()];
const LEFT = 190, ROW = 22, MOST_ARROWS = 2000, MOST_UNFOLDED = 100;
const view = document.getElementById("view"), box = document.getElementById("box");
const make = (tag, where, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text !== undefined) made.textContent = text;
  where.appendChild(made);
  return made;
};
const cell = (row, text, is_text) => {
  const made = document.createElement("td");
  made.textContent = text;
  if (is_text) made.className = "t";
  row.appendChild(made);
};
let from = 0, to = Math.max(data.length, 1), wanted = "";
const lane_name = index => index >= 0 && data.lanes[index] ? data.lanes[index].name : "";
// The process of each lane; the lane itself if it has none. Lanes follow their process.
const heads = [];
data.lanes.forEach((lane, index) => heads.push(lane.kind === "process" || index === 0 ? index : heads[index - 1]));
const place_name = index => lane_name(index) + (index >= 0 && heads[index] !== index ? " of " + lane_name(heads[index]) : "");
const processes = heads.filter(head => data.lanes[head].kind === "process");
const folded = new Set(data.lanes.length > MOST_UNFOLDED ? processes : []);
const is_shown = index => heads[index] === index || !folded.has(heads[index]);
let rows = [];  // of lanes; a lane that is folded is in the row of its process
function arrange() {
  let next = 0;
  rows = data.lanes.map((_, index) => is_shown(index) ? next++ : next - 1);
  return next;
}
// Counts the events of a lane in each of the equal parts of the time. A folded process counts those of its lanes, too.
function density_of(index) {
  const sum = [...data.lanes[index].density];
  if (folded.has(index))
    for (let i = index + 1; heads[i] === index; ++i) data.lanes[i].density.forEach((count, part) => sum[part] += count);
  return sum;
}
const words = op => [data.names[op[NAME]], data.reasons[op[REASON]], place_name(op[THREAD]), place_name(op[EP]),
  place_name(op[PEER])].join(" ").toLowerCase();
const is_found = op => wanted !== "" && words(op).includes(wanted);
function draw_lane(lane, index, width, x) {
  const group = make("g", view, {class: "lane " + lane.kind}), top = rows[index] * ROW, is_process = lane.kind === "process";
  make("rect", group, {class: "back", x: 0, y: top + 1, width: width, height: ROW - 2});
  const name = (is_process ? folded.has(index) ? "\u25b8 " : "\u25be " : "") + lane.name;
  make("title", make("text", group, {x: is_process ? 4 : 16, y: top + 15}, name.slice(0, 28)), {}, lane.name);
  if (is_process) group.onclick = () => { folded.delete(index) || folded.add(index); draw(); };
  const density = density_of(index), most = Math.max(...density, 1);
  let bars = "";
  density.forEach((count, bucket) => {
    const begin = bucket * data.length / density.length, end = begin + data.length / density.length;
    if (count === 0 || end < from || begin > to) return;
    const height = 2 + 6 * count / most, left = Math.max(x(begin), LEFT), length = Math.max(x(end) - left, 0.5);
    bars += `M${left} ${top + ROW - 1}v${-height}h${length}v${height}z`;
  });
  if (bars !== "") make("path", group, {class: "dense", d: bars});
}
const last_of = op => Math.max(op[POSTED], op[WIRE], op[PLACED], op[DONE], op[TAKEN], op[PDONE], op[PTAKEN]);
const chosen = new Set();  // what a click on a row shows
function draw_operation(op, kind, x, y) {
  const points = [[op[POSTED], op[THREAD]]];
  if (op[WIRE] >= 0) points.push([op[WIRE], op[EP]]);
  if (op[PLACED] >= 0) points.push([op[PLACED], op[PEER] >= 0 ? op[PEER] : op[EP]]);
  if (op[DONE] >= 0) points.push([op[DONE], op[EP]]);
  const path = points.filter(p => p[1] >= 0).map((p, i) => (i ? "L" : "M") + x(p[0]) + " " + y(p[1])).join(" ");
  const arrow = make("path", view, {class: "arrow" + kind, d: path});
  make("title", arrow, {}, data.names[op[NAME]] + ", " + op[BYTES] + " bytes: " + data.reasons[op[REASON]]);
  for (const [time, lane] of [...points, [op[TAKEN], op[TAKER]], [op[PTAKEN], op[PTAKER]]])
    if (time >= from && time <= to && lane >= 0) make("circle", view, {class: "mark", cx: x(time), cy: y(lane), r: 2.5});
}
function draw() {
  const width = Math.max(view.clientWidth || 1000, 400), scale = (width - LEFT) / (to - from);
  const x = time => LEFT + (time - from) * scale, y = lane => rows[lane] * ROW + ROW / 2;
  const is_seen = (a, b) => b >= from && a <= to;
  view.replaceChildren();
  view.setAttribute("height", arrange() * ROW + 4);
  data.lanes.forEach((lane, index) => is_shown(index) && draw_lane(lane, index, width, x));
  for (const [lane, begin, end, name, sleeps] of data.calls) {
    if (!is_seen(begin, end)) continue;
    const left = Math.max(x(begin), LEFT), kind = data.names[name];
    const box = make("rect", view, {class: "call" + (kind.startsWith("pause") ? " pause" : kind.includes("lmr") ? " lmr" : ""),
      x: left, y: rows[lane] * ROW + 3, width: Math.max(x(end) - left, 0.6), height: ROW - 12});
    make("title", box, {}, kind + ": " + (end - begin) / 1000 + " µs" + (sleeps ? ", asleep " + sleeps + " times" : ""));
  }
  const found = new Set(data.operations.filter(is_found));
  const seen = [...new Set([...chosen, ...found, ...data.operations])].filter(op => is_seen(op[POSTED], last_of(op)));
  const left_out = Math.max(seen.length - MOST_ARROWS, 0);
  // Operations that were chosen or found are drawn last, so that they lie above the others.
  for (const op of seen.slice(0, MOST_ARROWS).reverse())
    draw_operation(op, chosen.has(op) ? " chosen" : found.has(op) ? " found" : "", x, y);
  document.getElementById("hits").textContent = (wanted === "" ? "" : found.size + " found. ") +
    (left_out === 0 ? "" : left_out + " arrows are not drawn: zoom in. ");
}
function show(begin, end) {
  const length = Math.max(Math.min(end - begin, data.length), 1);
  from = Math.max(0, Math.min(begin, data.length - length));
  to = from + length;
  draw();
}
function scroll_to(lanes) {
  const tops = lanes.map(lane => rows[lane] * ROW);
  const first = Math.min(...tops), last = Math.max(...tops), room = box.clientHeight - 2 * ROW;
  if (first < box.scrollTop || last > box.scrollTop + room) box.scrollTop = first - ROW;
}
const zoom = (factor, at) => show(at - (at - from) * factor, at + (to - at) * factor);
const middle = () => (from + to) / 2;
document.getElementById("in").onclick = () => zoom(0.5, middle());
document.getElementById("out").onclick = () => zoom(2, middle());
document.getElementById("all").onclick = () => show(0, data.length);
document.getElementById("fold").onclick = () => { processes.forEach(head => folded.add(head)); draw(); };
document.getElementById("unfold").onclick = () => { folded.clear(); draw(); };
view.addEventListener("wheel", event => {
  if (event.offsetX < LEFT) return;
  event.preventDefault();
  const part = (event.offsetX - LEFT) / (view.clientWidth - LEFT);
  zoom(event.deltaY > 0 ? 1.3 : 0.77, from + Math.max(0, Math.min(part, 1)) * (to - from));
}, {passive: false});
view.addEventListener("pointermove", event => {
  if (event.buttons !== 1) return;
  const moved = event.movementX / (view.clientWidth - LEFT) * (to - from);
  if (event.movementX === 0 && event.movementY === 0) return;
  box.scrollTop -= event.movementY;
  show(from - moved, to - moved);
});
document.getElementById("search").oninput = event => {
  wanted = event.target.value.trim().toLowerCase();
  document.querySelectorAll("tr.slow").forEach((row, index) =>
    row.classList.toggle("found", is_found(data.operations[data.slow[index]])));
  draw();
};
document.getElementById("title").textContent = data.title;
document.getElementById("facts").textContent = data.facts;
for (const note of data.notes) {
  const item = document.createElement("li");
  item.textContent = note;
  document.getElementById("notes").appendChild(item);
}
for (const index of data.slow) {
  const op = data.operations[index], row = document.createElement("tr");
  const last = last_of(op);
  row.className = "slow";
  cell(row, data.names[op[NAME]].replace("post ", ""), true);
  cell(row, op[BYTES]);
  cell(row, (op[POSTED] / 1e6).toFixed(3));
  cell(row, ((last - op[POSTED]) / 1000).toFixed(1));
  cell(row, data.reasons[op[REASON]], true);
  cell(row, (op[DELAY] / 1000).toFixed(1));
  const target = op[PEER] >= 0 ? op[PEER] : op[EP];
  cell(row, lane_name(op[THREAD]), true);
  cell(row, place_name(target), true);
  row.onclick = () => {
    const lanes = [op[THREAD], target].filter(lane => lane >= 0);
    for (const lane of lanes) folded.delete(heads[lane]);
    chosen.clear();
    chosen.add(op);
    show(op[POSTED] - (last - op[POSTED]) * 0.2, last + (last - op[POSTED]) * 0.2);
    scroll_to(lanes);
    box.scrollIntoView({block: "nearest"});
  };
  document.getElementById("rows").appendChild(row);
}
window.onresize = draw;
draw();
</script></body></html>
)html";

}  // namespace softdat::tools::timeline
