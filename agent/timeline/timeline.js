// The page around the chart: what is known of the run, where its time went, its turns, and what of all this is shown.
//
// Invariant: what stands in the trace reaches the page as text and as numbers only, never as markup; an address becomes a
// link only if it is one of the web.
"use strict";

const byId = (id) => document.getElementById(id);
const percent = (part, whole) => `${Math.round((100 * part) / (whole || 1))} %`;
const number = (value) => value.toLocaleString("en-US");

function el(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter((child) => child !== undefined && child !== ""));
  return element;
}

function link(url) {
  const isWeb = /^https?:\/\//i.test(url);
  return isWeb ? el("a", { href: url, rel: "noreferrer noopener", textContent: url }) : el("span", { textContent: url });
}

function showHead(run) {
  document.title = `${run.question || "Run"} · SpecCache`;
  byId("question").textContent = run.question || "A run without a question";
  const began = run.started_at ? new Date(run.started_at).toLocaleString() : "";
  const about = [run.status, run.target && `target ${run.target}`, run.start, began, run.source];
  byId("about").textContent = about.filter(Boolean).join(" · ");
  const answer = byId("answer");
  answer.className = run.answer ? "answer" : "answer none";
  answer.replaceChildren(el("p", { textContent: run.answer || run.reason || "The trace ends before the run did." }));
  for (const source of run.sources) answer.append(el("p", { className: "quiet" }, "source: ", link(source)));
  if (run.answer && run.support) answer.append(el("p", { className: "quiet" }, "stands on: ", link(run.support)));
  if (run.answer && !run.support) answer.append(el("p", { className: "quiet", textContent: "No page that was read says this in these words." }));
  byId("notes").replaceChildren(...run.notes.map((note) => el("li", { textContent: note })));
}

function shareBar(name, parts, whole, scale) {
  const bar = el("div", { className: "share" });
  for (const [kind, part, text] of parts) {
    const share = el("div", { className: `share-${kind}`, textContent: `${text} ${seconds(part)}`, title: `${text}: ${percent(part, whole)}` });
    share.style.flexBasis = `${(100 * part) / (scale || 1)}%`;
    bar.append(share);
  }
  const label = el("div", { className: "share-name" }, el("b", { textContent: seconds(whole) }), name);
  return [label, bar];
}

function showTimes({ time, shares, a_turn: turn, cache, tokens, turns }, waste) {
  const other = time.other_s > 0.01 * time.total_s ? [["other", time.other_s, "other"]] : [];
  const spent = [["think", time.llm_s, "thinking"], ["wait", time.web_exposed_s, "waiting"], ...other];
  const serial = time.total_s + time.web_hidden_s;
  const rows = [shareBar("this run", spent, time.total_s, serial)];
  if (time.web_hidden_s > 0) {
    const after = [spent[0], spent[1], ["hidden", time.web_hidden_s, "saved"], ...other];
    rows.push(shareBar("one after the other", after, serial, serial));
  }
  byId("shares").replaceChildren(...rows.flat());
  const hasTokens = tokens.in + tokens.out > 0;
  const figures = [
    ["Target thinking (LLM)", seconds(time.llm_s), `${percent(time.llm_s, time.total_s)} of the run`],
    ["Waiting for pages (exposed)", seconds(time.web_exposed_s), `${percent(time.web_exposed_s, time.total_s)} of the run`],
    ["Saved (hidden)", seconds(time.web_hidden_s), "loading behind the thinking"],
    ["Other", seconds(time.other_s), `${percent(time.other_s, time.total_s)} of the run`],
    ["Hits · joins · misses", `${cache.hits} · ${cache.joins} · ${cache.misses}`, `${cache.refused} guesses refused`],
    ["Loaded ahead", number(cache.speculated), `${cache.wasted} unused: ${seconds(waste)} of loading, ${number(Math.round(cache.wasted_bytes / 1000))} kB`],
    ["Web's share of LLM and web time", `${Math.round(100 * shares.web_of_llm_and_web)} %`,
      time.web_hidden_s > 0 ? `${Math.round(100 * shares.web_of_llm_and_web_serial)} % one after the other` : "as the paper counts"],
    [`A turn, of ${turns}`, `${seconds(turn.llm_s)} + ${seconds(turn.web_exposed_s)}`,
      hasTokens ? `LLM + web; ${number(Math.round(turn.tokens_in))} tokens in, ${number(Math.round(turn.tokens_out))} out` : "LLM + web; no tokens counted"],
  ];
  byId("figures").replaceChildren(
    ...figures.map(([name, figure, detail]) => el("div", {}, el("dt", { textContent: name }), el("dd", {}, figure, el("small", { textContent: detail })))),
  );
}

function chip(kind, text) {
  return el("span", {}, swatch(kind), text);
}

function guessesOf(turn, bars) {
  const loads = bars.filter((bar) => bar.turn === turn && ["hidden", "unused", "dropped"].includes(bar.kind));
  if (!loads.length) return "";
  const items = loads.map((bar) => el("li", {}, chip(bar.kind, `${bar.facts.guess}: ${bar.kind === "hidden" ? `used ${bar.facts.used}` : bar.facts.why || "not used"}`)));
  return el("details", {}, el("summary", { textContent: `${loads.length} loaded ahead` }), el("ul", {}, ...items));
}

function turnItem(turn, bars, onPick) {
  const item = el("li");
  item.dataset.turn = turn.turn;
  const name = turn.sums_up ? "End" : turn.turn ? `${turn.turn}` : "Start";
  const button = el("button", { type: "button", className: "number", textContent: name, title: "Show in the timeline" });
  button.setAttribute("aria-label", `Show ${turn.turn ? `turn ${turn.turn}` : "the start"} in the timeline`);
  button.addEventListener("click", () => onPick(turn.turn));
  const chips = el("div", { className: "chips" });
  if (turn.thought_s > 0) chips.append(chip("think", `thought ${seconds(turn.thought_s)}`));
  if (turn.step) chips.append(chip(turn.step, KINDS[turn.step] + (turn.waited_s < 0.001 ? ", no wait" : `, waited ${seconds(turn.waited_s)}`)));
  if (turn.tokens_in + turn.tokens_out > 0) chips.append(el("span", {}, `${number(turn.tokens_in)} tokens in, ${number(turn.tokens_out)} out`));
  const body = el("div", {}, el("h3", { textContent: turn.action || (turn.turn ? "nothing decided" : "opens the first page") }), chips);
  if (turn.thought) body.append(el("p", { className: "thought", textContent: turn.thought }));
  if (turn.noted) body.append(el("p", { className: "noted", textContent: `Noted: ${turn.noted}${turn.satisfied ? " (the critic is satisfied)" : ""}` }));
  if (turn.url) body.append(el("p", {}, turn.title, turn.title ? " · " : "", link(turn.url), turn.status ? ` · ${turn.status}` : ""));
  if (turn.problem) body.append(el("p", { textContent: turn.problem }));
  if (turn.text) {
    const more = turn.more_chars ? `\n… ${number(turn.more_chars)} more characters are in the trace` : "";
    body.append(el("details", {}, el("summary", { textContent: "what it saw" }), el("pre", { tabIndex: 0, textContent: turn.text + more })));
  }
  if (!turn.sums_up) body.append(guessesOf(turn.turn, bars));
  item.append(button, body);
  return item;
}

class Timeline {
  constructor(runs) {
    this.runs = runs;
    this.hiddenKinds = new Set();
    this.chart = new Chart(byId("chart"));
    this.input = new ChartInput(this.chart, byId("tip"), (bar, byKey) => this.pick(bar.turn, byKey));
    for (const id of ["text", "lane"]) byId(id).addEventListener("input", () => this.filter());
    byId("zoom-in").addEventListener("click", () => this.chart.zoom(1.5));
    byId("zoom-out").addEventListener("click", () => this.chart.zoom(1 / 1.5));
    byId("zoom-fit").addEventListener("click", () => this.chart.fit());
    this.listRuns();
    this.show(runs[0]);
  }

  listRuns() {
    const nav = byId("runs");
    nav.hidden = this.runs.length < 2;
    for (const run of this.runs) {
      const { time, cache } = run.breakdown;
      const told = `${seconds(time.total_s)}, waited ${seconds(time.web_exposed_s)}, ${cache.hits + cache.joins} hits and joins`;
      const button = el("button", { type: "button" }, run.question || run.source, el("span", { textContent: told }));
      button.addEventListener("click", () => this.show(run));
      nav.append(button);
    }
  }

  show(run) {
    this.run = run;
    [...byId("runs").children].forEach((button, at) => button.setAttribute("aria-current", this.runs[at] === run));
    showHead(run);
    this.chart.show(run);
    const { bars } = this.chart;
    const wasted = bars.filter((bar) => bar.kind === "unused" || bar.kind === "dropped");
    showTimes(run.breakdown, wasted.reduce((sum, bar) => sum + bar.end - bar.start, 0));
    const lanes = run.lanes.map((lane) => el("option", { value: lane.name, textContent: lane.name }));
    byId("lane").replaceChildren(el("option", { value: "", textContent: "all" }), ...lanes);
    this.listKinds(bars);
    byId("turns").replaceChildren(...run.turns.map((turn) => turnItem(turn, bars, (number) => this.reveal(number))));
    this.filter();
  }

  listKinds(bars) {
    const kinds = Object.keys(KINDS).filter((kind) => bars.some((bar) => bar.kind === kind));
    const buttons = kinds.map((kind) => {
      const button = el("button", { type: "button" }, swatch(kind), KINDS[kind]);
      button.dataset.kind = kind;
      button.setAttribute("aria-pressed", !this.hiddenKinds.has(kind));
      button.addEventListener("click", () => {
        if (!this.hiddenKinds.delete(kind)) this.hiddenKinds.add(kind);
        button.setAttribute("aria-pressed", !this.hiddenKinds.has(kind));
        this.filter();
      });
      return button;
    });
    byId("legend").replaceChildren(...buttons);
  }

  filter() {
    const text = byId("text").value.trim().toLowerCase();
    const lane = byId("lane").value;
    const { bars } = this.chart;
    this.chart.filter(
      (bar) => !this.hiddenKinds.has(bar.kind) && (!lane || bar.lane === lane) && (!text || `${bar.lane} ${bar.kind} ${bar.told}`.toLowerCase().includes(text)),
    );
    const matching = new Set(bars.filter((bar) => bar.shown).map((bar) => bar.turn));
    const items = [...byId("turns").children];
    items.forEach((item, at) => {
      item.hidden = Boolean(text) && !matching.has(this.run.turns[at].turn) && !item.textContent.toLowerCase().includes(text);
    });
    const shown = bars.filter((bar) => bar.shown).length;
    byId("shown").textContent = `${shown} of ${bars.length} bars, ${items.filter((item) => !item.hidden).length} of ${items.length} turns`;
  }

  mark(turn) {
    this.chart.mark(turn);
    for (const item of byId("turns").children) item.classList.toggle("marked", item.dataset.turn === `${turn}`);
  }

  // From a bar to its turn; by key the focus goes along.
  pick(turn, byKey) {
    this.mark(turn);
    const item = [...byId("turns").children].find((entry) => entry.dataset.turn === `${turn}`);
    item?.scrollIntoView({ block: "nearest" });
    if (byKey) item?.querySelector("button").focus({ preventScroll: true });
  }

  // From a turn to its bars.
  reveal(turn) {
    this.mark(turn);
    const bars = this.chart.bars.filter((bar) => bar.turn === turn && bar.end > bar.start);
    if (bars.length) this.chart.reveal(Math.min(...bars.map((bar) => bar.start)), Math.max(...bars.map((bar) => bar.end)));
    this.chart.host.scrollIntoView({ block: "nearest" });
    const first = this.chart.bars.find((bar) => bar.turn === turn && bar.shown);
    first?.element.focus({ preventScroll: true });
  }
}

new Timeline(JSON.parse(byId("trace").textContent).runs);
