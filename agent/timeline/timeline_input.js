// What a person does with the chart: pointing, dragging, the wheel, and keys.
//
// Invariant: whatever a pointer can do, keys can; a bar in focus is in sight and tells what it is.
"use strict";

class ChartInput {
  constructor(chart, tip, onPick) {
    this.chart = chart;
    this.tip = tip;
    this.onPick = onPick;
    const { host } = chart;
    host.addEventListener("pointerover", (event) => this.point(event));
    host.addEventListener("pointerleave", () => this.hide());
    host.addEventListener("pointerdown", (event) => this.drag(event));
    host.addEventListener("click", (event) => this.click(event));
    host.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    host.addEventListener("keydown", (event) => this.key(event));
    host.addEventListener("focusin", (event) => this.focus(event));
    host.addEventListener("focusout", () => this.hide());
    addEventListener("scroll", () => this.hide(), { passive: true });
  }

  bar(event) {
    return this.chart.barOf.get(event.target.closest(".bar"));
  }

  point(event) {
    const bar = this.bar(event);
    if (bar && !this.dragging) this.show(bar, event.clientX);
    else this.hide();
  }

  click(event) {
    const bar = this.bar(event);
    if (bar && !this.moved) this.onPick(bar, event.detail === 0);
  }

  drag(down) {
    if (down.button !== 0) return;
    const { chart } = this;
    const { start, span } = chart.view;
    this.time = undefined;
    this.dragging = true;
    this.moved = false;
    const move = (event) => {
      const distance = event.clientX - down.clientX;
      this.moved ||= Math.abs(distance) > 4;
      if (!this.moved) return;
      this.hide();
      chart.root.classList.add("moving");
      chart.look(start - (distance / (chart.width - chart.left)) * span, span);
    };
    const up = () => {
      this.dragging = false;
      chart.root.classList.remove("moving");
      for (const name of ["pointerup", "pointercancel"]) removeEventListener(name, up);
      removeEventListener("pointermove", move);
    };
    addEventListener("pointermove", move);
    for (const name of ["pointerup", "pointercancel"]) addEventListener(name, up);
  }

  // The wheel alone scrolls the page, as everywhere; trackpads report pinching as the wheel with Ctrl.
  wheel(event) {
    const { chart } = this;
    const width = chart.width - chart.left;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const share = (event.clientX - chart.host.getBoundingClientRect().left - chart.left) / width;
      chart.zoom(Math.exp(-event.deltaY / 300), Math.min(Math.max(share, 0), 1));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      chart.shift(event.deltaX / width);
    }
    this.hide();
  }

  key(event) {
    const bar = this.bar(event);
    const done = event.altKey || event.ctrlKey || event.metaKey ? undefined : this.does(event, bar);
    if (!done) return;
    event.preventDefault();
    done();
  }

  does(event, bar) {
    const { chart } = this;
    if (event.key === "Escape") return () => this.hide();
    if ("+=".includes(event.key)) return () => chart.zoom(1.5, this.shareOf(bar));
    if ("-_".includes(event.key)) return () => chart.zoom(1 / 1.5, this.shareOf(bar));
    if (event.key === "0") return () => chart.fit();
    if (event.shiftKey && event.key === "ArrowRight") return () => chart.shift(0.2);
    if (event.shiftKey && event.key === "ArrowLeft") return () => chart.shift(-0.2);
    if (!bar) return undefined;
    if (event.key === "Enter" || event.key === " ") return () => this.onPick(bar, true);
    const next = this.next(event.key, bar);
    return next && (() => next.element.focus({ preventScroll: true }));
  }

  shareOf(bar) {
    const { start, span } = this.chart.view;
    return bar ? Math.min(Math.max(((bar.start + bar.end) / 2 - start) / span, 0), 1) : 0.5;
  }

  next(key, bar) {
    const shown = this.chart.bars.filter((other) => other.shown);
    const lane = shown.filter((other) => other.row === bar.row);
    const at = lane.indexOf(bar);
    const beside = { ArrowRight: lane[at + 1], ArrowLeft: lane[at - 1], Home: lane[0], End: lane.at(-1) };
    const upright = key === "ArrowUp" || key === "ArrowDown";
    // Going up and down, one stays at the time at which one began to.
    this.time = upright ? (this.time ?? (bar.start + bar.end) / 2) : undefined;
    if (!upright) return beside[key];
    const rows = shown.map((other) => other.row).filter((row) => (key === "ArrowUp" ? row < bar.row : row > bar.row));
    const row = key === "ArrowUp" ? Math.max(...rows) : Math.min(...rows);
    const distance = (other) => Math.max(other.start - this.time, this.time - other.end, 0);
    return shown.filter((other) => other.row === row).sort((one, other) => distance(one) - distance(other))[0];
  }

  focus(event) {
    const bar = this.bar(event);
    if (!bar) return;
    const { chart } = this;
    const { start, span } = chart.view;
    chart.stop(bar);
    if (bar.end < start || bar.start > start + span) chart.look((bar.start + bar.end - span) / 2, span);
    if (bar.element.matches(":focus-visible")) requestAnimationFrame(() => this.show(bar));
  }

  show(bar, x) {
    const box = bar.element.getBoundingClientRect();
    const title = document.createElement("b");
    title.textContent = `${KINDS[bar.kind]}: ${bar.label}`;
    const list = document.createElement("dl");
    const when = bar.end > bar.start ? `${bar.start.toFixed(3)} s to ${bar.end.toFixed(3)} s` : `${bar.start.toFixed(3)} s`;
    for (const [name, text] of [["at", when], ...Object.entries(bar.facts)]) {
      const term = document.createElement("dt");
      const value = document.createElement("dd");
      term.textContent = name;
      value.textContent = text;
      list.append(term, value);
    }
    this.tip.replaceChildren(title, list);
    this.tip.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const left = Math.min(Math.max((x ?? Math.max(box.left, 0)) - 12, 8), innerWidth - width - 8);
    const below = box.bottom + 10;
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${below + height < innerHeight ? below : Math.max(box.top - height - 10, 4)}px`;
  }

  hide() {
    this.tip.hidden = true;
  }
}
