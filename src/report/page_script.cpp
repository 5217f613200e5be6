// The page's script: draws every panel on a canvas and tells the value under the pointer.
#include "report/page_assets.hpp"

namespace qkv {

const std::string_view page_script = R"js(
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const tip = document.getElementById("tip");

function numbers(text, kind) {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  const size = kind === "f64" ? 8 : 4;
  const cells = new Float64Array(bytes.length / size);
  for (let n = 0; n < cells.length; ++n)
    cells[n] = size === 8 ? view.getFloat64(8 * n, true) : view.getFloat32(4 * n, true);
  return cells;
}

/* The fewest digits that mean the same element. */
function exact(value, kind) {
  if (kind === "f64") return String(value);
  for (let digits = 1; digits < 9; ++digits) {
    const text = value.toPrecision(digits);
    if (Math.fround(Number(text)) === value) return String(Number(text));
  }
  return String(Number(value.toPrecision(9)));
}

/* What the slider makes of a scale's ends: small cells are seen beside one that is great. */
let share = 1;

/* From zero where the scale goes both ways, else from its low end. */
const nearer = (end, from) => from + (end - from) * share;

function position(value, stage) {
  const from = stage.low < 0 && stage.high > 0 ? 0 : stage.low;
  const low = nearer(stage.low, from), high = nearer(stage.high, from);
  if (value <= low) return 0;
  if (value >= high) return 1;
  if (stage.low < 0 && stage.high > 0) return value < 0 ? 0.5 - value / low / 2 : 0.5 + value / high / 2;
  return (value / 2 - low / 2) / (high / 2 - low / 2);
}

function colour(value, stage) {
  if (Number.isNaN(value)) return data.kinds.nan;
  if (value === -Infinity) return data.kinds.hidden;
  if (value === Infinity) return data.kinds.infinite;
  const map = stage.low < 0 && stage.high > 0 ? data.maps.diverging : data.maps.sequential;
  return map[Math.round(position(value, stage) * (map.length - 1))];
}

function channels(text) {
  return [1, 3, 5].map(at => parseInt(text.slice(at, at + 2), 16));
}

function ink(text) {
  const light = channels(text).map(channel => {
    const v = channel / 255;
    return v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2] > 0.179 ? "#000" : "#fff";
}

function clipped(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const letters = Array.from(text);
  while (letters.length && context.measureText(letters.join("") + "…").width > width) letters.pop();
  return letters.join("") + "…";
}

class Panel {
  constructor(canvas) {
    this.canvas = canvas;
    this.stage = data.stages[Number(canvas.dataset.stage)];
    const panel = this.stage.panels[Number(canvas.dataset.panel)];
    this.at = panel.at;
    this.cells = numbers(panel.cells, this.stage.kind);
    const labels = this.stage.labels.length > 1 ? this.stage.labels[panel.batch]
                                                : this.stage.labels[0];
    this.rowLabels = labels ? labels.rows : [];
    this.columnLabels = labels ? labels.columns : [];
    this.cursor = null;
    canvas.addEventListener("pointermove", event => this.point(event));
    canvas.addEventListener("pointerleave", () => { this.cursor = null; this.leave(); });
    canvas.addEventListener("blur", () => this.leave());
    canvas.addEventListener("keydown", event => this.key(event));
  }

  /* Sizes in CSS pixels; labels only where the cells have room for them. */
  measure() {
    const {rows, columns} = this.stage;
    const side = Math.max(rows, columns), few = this.stage.panelsOfRow <= 4;
    const most = this.stage.panelsOfRow === 1 ? 520 : few ? 330 : 250;
    const fits = Math.round(Math.min(most / columns, 1.5 * most / rows));
    this.cell = Math.max(1, Math.min(few ? 46 : 28, fits));
    if (side <= 40 && (this.rowLabels.length || this.columnLabels.length))
      this.cell = Math.max(this.cell, 14);
    const context = this.canvas.getContext("2d");
    context.font = "12px system-ui, sans-serif";
    const widest = labels => this.cell < 12 ? 0 : labels.reduce(
      (width, label) => Math.max(width, Math.min(110, context.measureText(label).width + 8)), 0);
    this.left = Math.ceil(widest(this.rowLabels));
    this.above = Math.ceil(widest(this.columnLabels));
  }

  draw() {
    this.measure();
    const {rows, columns} = this.stage, {cell, left, above, canvas} = this;
    const width = left + columns * cell, height = above + rows * cell;
    const scale = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const context = canvas.getContext("2d");
    context.scale(scale, scale);
    const picture = new OffscreenCanvas(columns, rows), small = picture.getContext("2d");
    const image = small.createImageData(columns, rows);
    for (let n = 0; n < this.cells.length; ++n) {
      const [r, g, b] = channels(colour(this.cells[n], this.stage));
      image.data.set([r, g, b, 255], 4 * n);
    }
    small.putImageData(image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, left, above, columns * cell, rows * cell);
    if (cell >= 8) this.hatch(context);
    if (cell >= 40) this.write(context);
    this.label(context);
  }

  each(visit) {
    const columns = this.stage.columns;
    this.cells.forEach((value, n) => visit(value, this.left + n % columns * this.cell,
                                           this.above + Math.floor(n / columns) * this.cell));
  }

  hatch(context) {
    const side = this.cell;
    this.each((value, x, y) => {
      if (value !== -Infinity) return;
      context.save();
      context.beginPath();
      context.rect(x, y, side, side);
      context.clip();
      context.fillStyle = "#c8c8c8";
      context.fillRect(x, y, side, side);
      context.strokeStyle = data.kinds.hidden;
      context.beginPath();
      /* The lines go on from one cell to the next. */
      for (let at = Math.floor((x + y) / 5) * 5; at <= x + y + 2 * side; at += 5) {
        context.moveTo(at - y, y);
        context.lineTo(at - y - side, y + side);
      }
      context.stroke();
      context.restore();
    });
  }

  write(context) {
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.each((value, x, y) => {
      if (value === -Infinity) return;
      context.fillStyle = ink(colour(value, this.stage));
      const text = Number.isFinite(value) ? String(Number(value.toPrecision(3)))
                 : Number.isNaN(value) ? "NaN" : "+Inf";
      context.fillText(text, x + this.cell / 2, y + this.cell / 2, this.cell - 2);
    });
  }

  label(context) {
    context.font = "12px system-ui, sans-serif";
    context.fillStyle = getComputedStyle(document.body).color;
    context.textBaseline = "middle";
    if (this.left) {
      context.textAlign = "right";
      this.rowLabels.forEach((text, row) => context.fillText(
        clipped(context, text, this.left - 6), this.left - 5, this.above + (row + 0.5) * this.cell));
    }
    if (!this.above) return;
    context.textAlign = "left";
    this.columnLabels.forEach((text, column) => {
      context.save();
      context.translate(this.left + (column + 0.5) * this.cell, this.above - 5);
      context.rotate(-Math.PI / 2);
      context.fillText(clipped(context, text, this.above - 6), 0, 0);
      context.restore();
    });
  }

  point(event) {
    const column = Math.floor((event.offsetX - this.left) / this.cell);
    const row = Math.floor((event.offsetY - this.above) / this.cell);
    if (row < 0 || column < 0 || row >= this.stage.rows || column >= this.stage.columns)
      return this.leave();
    this.cursor = [row, column];
    this.tell(event.clientX, event.clientY);
  }

  key(event) {
    const step = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};
    if (!(event.key in step)) return;
    event.preventDefault();
    const [row, column] = this.cursor || [-step[event.key][0], -step[event.key][1]];
    const within = (at, size) => Math.max(0, Math.min(size - 1, at));
    this.cursor = [within(row + step[event.key][0], this.stage.rows),
                   within(column + step[event.key][1], this.stage.columns)];
    const box = this.canvas.getBoundingClientRect();
    this.tell(box.left + this.left + (this.cursor[1] + 0.5) * this.cell,
              box.top + this.above + (this.cursor[0] + 0.5) * this.cell);
  }

  /* The value, its index in the tensor, and the words beside it. */
  tell(x, y) {
    const [row, column] = this.cursor, stage = this.stage;
    const value = this.cells[row * stage.columns + column];
    const text = Number.isNaN(value) ? "NaN" : value === -Infinity ? "hidden"
               : value === Infinity ? "+Inf" : exact(value, stage.kind);
    const span = (at, block, size) =>
      block === 1 ? String(at) : at * block + ":" + Math.min((at + 1) * block, size);
    const index = this.at.concat([span(row, stage.block[0], stage.matrix[0]),
                                  span(column, stage.block[1], stage.matrix[1])]);
    const mean = stage.block[0] > 1 || stage.block[1] > 1;
    let words = stage.name + "[" + index.join(",") + "]" + (mean ? ", mean" : "");
    const beside = [this.rowLabels[row], this.columnLabels[column]].filter(label => label);
    if (!mean && beside.length) words += "\n" + beside.join(" → ");
    tip.replaceChildren(Object.assign(document.createElement("b"), {textContent: text}), words);
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
    tip.style.top = (y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18) + "px";
  }

  leave() { tip.hidden = true; }
}

const panels = Array.from(document.querySelectorAll("canvas"), canvas => new Panel(canvas));
const draw = () => panels.forEach(panel => panel.draw());
draw();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

const ends = Array.from(document.querySelectorAll("[data-end]"),
                        end => [end, Number(end.dataset.end), Number(end.dataset.from), end.textContent]);
document.getElementById("share").addEventListener("input", event => {
  share = Math.pow(10, -Number(event.target.value));
  for (const [end, value, from, text] of ends)
    end.textContent = share === 1 ? text : String(Number(nearer(value, from).toPrecision(4)));
  draw();
});

const choice = document.getElementById("batch");
if (choice) {
  const show = () => document.querySelectorAll("figure[data-batch]").forEach(
    figure => { figure.hidden = figure.dataset.batch !== choice.value; });
  choice.addEventListener("change", show);
  show();
}
)js";

}  // namespace qkv
