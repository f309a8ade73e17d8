// The chart of a timeline: lanes of bars on one axis of time, of which a part is looked at.
//
// Invariant: what stands in the trace reaches the page as text and as numbers only, never as markup. Every bar of the run
// has one element, shown or not.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const LANE_HEIGHT = 30;
const AXIS_HEIGHT = 26;
const BAR = { top: 6, height: 18 };
const MIN_SPAN_SECONDS = 0.002;

const KINDS = {
  think: "thinking",
  predict: "guessing",
  hit: "hit",
  join: "join",
  miss: "miss",
  direct: "step, never ahead",
  wait: "waiting",
  hidden: "loaded ahead, used",
  unused: "loaded ahead, unused",
  dropped: "loaded ahead, given up",
  known: "guess already there",
  refused: "guess not loaded",
  failed: "guessing failed",
  request: "model request",
  lost: "request given up or failed",
  rescue: "retry, hedge, fallback",
  finish: "end",
  other: "other",
};
const WAITS = ["hit", "join", "miss", "direct", "wait"];

// Signs differ in shape, so that nothing is told by colour alone; all are drawn around 0,0.
const SIGNS = {
  hit: "M0-6 6 0 0 6-6 0Z",
  join: "M-5-6 6 0-5 6Z",
  miss: "M-5-3-3-5 0-2 3-5 5-3 2 0 5 3 3 5 0 2-3 5-5 3-2 0Z",
  direct: "M-4-4H4V4H-4Z",
  wait: "M-5-5H-1V5H-5ZM1-5H5V5H1Z",
  known: "M0-3A3 3 0 0 1 0 3 3 3 0 0 1 0-3Z",
  refused: "M-1.5-6H1.5V6H-1.5Z",
  failed: "M-5-3-3-5 0-2 3-5 5-3 2 0 5 3 3 5 0 2-3 5-5 3-2 0Z",
  rescue: "M0-6 5 3H-5Z",
  finish: "M-1.5-9H6L3-5.5 6-2H.5V9H-1.5Z",
  other: "M0-4A4 4 0 0 1 0 4 4 4 0 0 1 0-4Z",
};

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function swatch(kind) {
  const drawn =
    kind in SIGNS
      ? svg("path", { d: SIGNS[kind], class: "sign", transform: "translate(10 7) scale(.95)" })
      : svg("rect", { x: 1, y: 2, width: 18, height: 10, rx: 2, class: "body" });
  return svg("svg", { class: `swatch ${kind}`, viewBox: "0 0 20 14", "aria-hidden": "true" }, drawn);
}

function seconds(value) {
  return value < 0.1 ? `${Math.round(value * 1000)} ms` : `${value.toFixed(2)} s`;
}

function fitting(text, width) {
  const wide = /[^\u0000-\u04ff]/.test(text) ? 11.5 : 6.2;
  const room = Math.floor((width - 8) / wide);
  return room < 3 ? "" : text.length <= room ? text : `${text.slice(0, room - 1)}…`;
}

class Chart {
  constructor(host) {
    this.host = host;
    this.bars = [];
    this.barOf = new WeakMap();
    new ResizeObserver(() => this.run && this.width !== host.clientWidth && this.draw()).observe(host);
  }

  show(run) {
    this.run = run;
    this.total = Math.max(run.end_s, MIN_SPAN_SECONDS);
    this.bars = run.lanes.flatMap((lane, row) => lane.bars.map((bar) => ({ ...bar, row, lane: lane.name })));
    for (const bar of this.bars) {
      bar.told = [KINDS[bar.kind], bar.label, ...Object.entries(bar.facts).map(([name, text]) => `${name}: ${text}`)].join(", ");
      bar.shown = true;
    }
    this.view = this.whole();
    this.marked = this.current = undefined;
    this.draw();
  }

  filter(isShown) {
    for (const bar of this.bars) bar.shown = isShown(bar);
    this.place();
  }

  mark(turn) {
    this.marked = turn;
    for (const bar of this.bars) bar.element.classList.toggle("marked", bar.turn === turn);
  }

  whole() {
    return { start: -0.005 * this.total, span: 1.02 * this.total };
  }

  draw() {
    this.width = this.host.clientWidth || 800;
    this.left = this.width < 640 ? 84 : 132;
    this.height = AXIS_HEIGHT + this.run.lanes.length * LANE_HEIGHT + 6;
    const { width, height, left } = this;
    this.axis = svg("g", { "aria-hidden": "true" });
    this.bands = svg("g", { "aria-hidden": "true" });
    this.plot = svg("svg", { x: left, y: 0, width: Math.max(width - left, 1), height, overflow: "hidden" }, this.axis, this.bands);
    this.root = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Timeline" });
    const hatch = { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" };
    this.root.append(svg("defs", {}, svg("pattern", hatch, svg("path", { d: "M0 0V6", class: "hatch" }))), this.plot);
    this.run.lanes.forEach((lane, row) => this.drawLane(lane, row));
    this.host.replaceChildren(this.root);
    this.mark(this.marked);
    this.place();
  }

  drawLane(lane, row) {
    const top = AXIS_HEIGHT + row * LANE_HEIGHT;
    const name = svg("text", { x: 10, y: top + 19, class: "name" });
    name.textContent = fitting(lane.name, this.left);
    this.root.append(name, svg("path", { d: `M0 ${top + 0.5}H${this.width}`, class: "rule" }));
    const group = svg("g", { role: "group", "aria-label": lane.name, transform: `translate(0 ${top})` });
    for (const bar of this.bars) if (bar.row === row) group.append(this.drawBar(bar));
    this.plot.append(group);
  }

  drawBar(bar) {
    bar.element = svg("g", { class: `bar ${bar.kind}`, role: "button", tabindex: -1, "aria-label": bar.told });
    const takesTime = bar.end > bar.start;
    if (takesTime) bar.body = svg("rect", { y: BAR.top, height: BAR.height, rx: 3, class: "body" });
    if (bar.kind in SIGNS) bar.sign = svg("path", { d: SIGNS[bar.kind], class: "sign" });
    if (takesTime) bar.text = svg("text", { y: BAR.top + 13, class: "label", "aria-hidden": "true" });
    if (bar.kind === "think") bar.under = this.ahead(bar);
    bar.element.append(...[bar.body, bar.text, bar.sign, ...(bar.under ?? []).map((part) => part.element)].filter(Boolean));
    this.barOf.set(bar.element, bar);
    return bar.element;
  }

  // When, behind this thinking, a page was loading that the target used.
  ahead(thinking) {
    const loads = this.bars.filter((bar) => bar.kind === "hidden" && bar.start < thinking.end && bar.end > thinking.start);
    return loads.map((bar) => ({
      start: Math.max(bar.start, thinking.start),
      end: Math.min(bar.end, thinking.end),
      element: svg("rect", { y: BAR.top + BAR.height + 1, height: 4, class: "ahead" }),
    }));
  }

  x(at) {
    return ((at - this.view.start) / this.view.span) * (this.width - this.left);
  }

  place() {
    this.drawAxis();
    const end = this.view.start + this.view.span;
    for (const bar of this.bars) {
      const visible = bar.shown && bar.end >= this.view.start && bar.start <= end;
      bar.element.style.display = visible ? "" : "none";
      if (visible) this.placeBar(bar);
    }
    const waits = this.bars.filter((bar) => bar.shown && WAITS.includes(bar.kind) && bar.end > bar.start);
    this.bands.replaceChildren(...waits.map((bar) => this.span(svg("rect", { y: AXIS_HEIGHT, height: this.height, class: "band" }), bar, 0)));
    this.stop(this.current?.shown ? this.current : this.bars.find((bar) => bar.shown));
  }

  // The tab key stops at one bar; from there arrows lead on.
  stop(bar) {
    this.current?.element.setAttribute("tabindex", -1);
    bar?.element.setAttribute("tabindex", 0);
    this.current = bar;
  }

  span(element, { start, end }, least) {
    const from = Math.max(this.x(start), -10);
    const to = Math.min(this.x(end), this.width - this.left + 10);
    element.setAttribute("x", from);
    element.setAttribute("width", Math.max(to - from, least));
    return element;
  }

  placeBar(bar) {
    const least = bar.kind in SIGNS ? 0 : 2;
    if (bar.body) this.span(bar.body, bar, least);
    for (const part of bar.under ?? []) this.span(part.element, part, 0);
    bar.sign?.setAttribute("transform", `translate(${this.x(bar.end)} ${BAR.top + BAR.height / 2})`);
    if (!bar.text) return;
    const from = Math.max(this.x(bar.start), 0);
    const room = Math.min(this.x(bar.end), this.width - this.left) - from - (bar.sign ? 8 : 0);
    bar.text.textContent = fitting(bar.label, room);
    bar.text.setAttribute("x", from + 5);
  }

  drawAxis() {
    const width = this.width - this.left;
    const least = (this.view.span / width) * 80;
    const power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map((times) => times * power).find((candidate) => candidate >= least);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const parts = [];
    const last = (this.view.start + this.view.span) / step;
    for (let tick = Math.max(0, Math.ceil(this.view.start / step)); tick <= last; tick += 1) {
      const at = Math.round(this.x(tick * step)) + 0.5;
      const label = svg("text", { x: at + 4, y: 17 });
      label.textContent = at < width - 40 ? `${(tick * step).toFixed(digits)} s` : "";
      parts.push(svg("path", { d: `M${at} 0V${this.height}`, class: "grid" }), label);
    }
    this.axis.replaceChildren(...parts);
  }

  look(start, span) {
    const { start: from, span: whole } = this.whole();
    this.view.span = Math.min(Math.max(span, MIN_SPAN_SECONDS), whole);
    this.view.start = Math.min(Math.max(start, from), from + whole - this.view.span);
    this.pending ??= requestAnimationFrame(() => {
      this.pending = undefined;
      this.place();
    });
  }

  zoom(factor, share = 0.5) {
    const { start, span } = this.view;
    const next = Math.min(Math.max(span / factor, MIN_SPAN_SECONDS), this.whole().span);
    this.look(start + (span - next) * share, next);
  }

  fit() {
    const { start, span } = this.whole();
    this.look(start, span);
  }

  // Shows a time, with some room around it.
  reveal(start, end) {
    const span = Math.max((end - start) * 1.3, MIN_SPAN_SECONDS);
    this.look((start + end - span) / 2, span);
  }

  shift(share) {
    this.look(this.view.start + this.view.span * share, this.view.span);
  }
}
