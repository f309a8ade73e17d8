// Init script: knows the lists of a page that show more of themselves when they are scrolled, and the places that are
// filled when they come into view, and scrolls there for the reader. Runs before readiness.js, so that its own timers are
// none of the page's.
//
// Invariant: where nothing on the page waits for scrolling next to something that looks like a list, or in a place that is
// empty, nothing is scrolled; and every scroll position is put back.
(() => {
  const KEY = Symbol.for("speccache.lists");
  if (window[KEY]) return;

  const MIN_ROWS = 5; // fewer elements of one kind under one parent are no list
  const MIN_WIDTH = 400; // in pixels; narrower lists are menus
  const MIN_SHARE = 0.5; // of what is scrolled; smaller lists are not what the page is about
  const MAX_LISTS = 3; // that are tried on one page
  const MAX_SCREENS = 500; // that one list is scrolled through
  const MAX_PLACES = 30; // empty ones that are scrolled to
  const VAIN_PLACES = 3; // so many that stay empty one after the other are the last
  const SENTINEL_CHARACTERS = 60; // what marks the end of a list says at most "Loading more…"
  const ROWS = "li, article, section, div, tr, a, [role=row], [role=listitem], [role=option]";
  const ASIDE = "nav, header, footer, aside, [role=navigation]";

  const { Map, Promise, Proxy, Reflect, Set } = window;
  const nativeTimeout = window.setTimeout.bind(window);
  const nativeFrame = window.requestAnimationFrame.bind(window);
  const now = performance.now.bind(performance);

  // ---- who waits for scrolling -------------------------------------------------------------------------------------

  const listeners = window[Symbol.for("speccache.listeners")];
  const awaited = new Map(); // element whose coming into view is waited for -> the observer that tells of it

  const wrap = (owner, name, note) => {
    const native = owner?.[name];
    if (typeof native !== "function") return;
    owner[name] = new Proxy(native, {
      apply(target, self, args) {
        note(self, args);
        return Reflect.apply(target, self, args);
      },
    });
  };
  wrap(window.IntersectionObserver?.prototype, "observe", (self, [element]) => awaited.set(element, self));
  wrap(window.IntersectionObserver?.prototype, "unobserve", (_, [element]) => awaited.delete(element));
  wrap(window.IntersectionObserver?.prototype, "disconnect", (self) => {
    for (const [element, observer] of awaited) if (observer === self) awaited.delete(element);
  });

  // ---- what looks like a list --------------------------------------------------------------------------------------

  // The parent of most elements of the kinds that rows are, or null.
  const rowParent = (scroller) => {
    const counts = new Map();
    let [most, best] = [MIN_ROWS - 1, null];
    for (const { parentElement: parent } of scroller.querySelectorAll(ROWS)) {
      const count = (counts.get(parent) ?? 0) + 1;
      counts.set(parent, count === MIN_ROWS && parent.closest(ASIDE) ? -Infinity : count);
      if (counts.get(parent) > most) [most, best] = [count, parent];
    }
    return best;
  };

  // What it is recognised by, however its elements are used again for other rows.
  const keyOf = (row) => {
    const place = ["aria-rowindex", "aria-posinset", "data-index", "id"].map((name) => row.getAttribute(name));
    return [...place, row.textContent.trim(), ...[...row.querySelectorAll("a[href]")].map((link) => link.href)].join("\n");
  };

  const rowsIn = (parent) => {
    const top = (row) => row.getBoundingClientRect().top;
    const shows = (row) => row.checkVisibility() && (row.textContent.trim() || row.querySelector("a[href]"));
    const rows = [...parent.children].filter(shows);
    return rows.map((row) => ({ row, key: keyOf(row), top: top(row) })).sort((one, other) => one.top - other.top);
  };

  const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowY);

  const scrollerOf = (element) => {
    for (let parent = element.parentElement; parent && parent !== document.body; parent = parent.parentElement) {
      if (scrolls(parent)) return parent;
    }
    return document.scrollingElement;
  };

  const isSentinel = (element) => {
    if (!element.isConnected || element.matches("img, picture, video, iframe, h1, h2, h3, h4, h5, h6")) return false;
    const isLast = !element.nextElementSibling && element.parentElement?.childElementCount > MIN_ROWS;
    return isLast || (element.textContent.trim().length <= SENTINEL_CHARACTERS && !element.querySelector("img"));
  };

  // Whether most of what is scrolled is one list.
  const isMostlyList = (scroller) => {
    const list = rowParent(scroller);
    if (!list) return false;
    const range = document.createRange();
    range.selectNodeContents(scroller === document.scrollingElement ? document.body : scroller);
    // Rows may be in a window that is moved within a tall parent, or between two spacers.
    const parent = list.parentElement;
    const outer = list !== scroller && parent !== document.body && parent.childElementCount <= 3 ? parent : list;
    const { width, height } = outer.getBoundingClientRect();
    const whole = Math.max(height, outer.scrollHeight);
    return width >= MIN_WIDTH && whole >= range.getBoundingClientRect().height * MIN_SHARE;
  };

  const scrollers = () => {
    const found = new Set();
    for (const target of listeners.awaitScrolling()) {
      if (!(target instanceof Element)) found.add(document.scrollingElement);
      else if (target.isConnected && scrolls(target)) found.add(target);
    }
    for (const element of awaited.keys()) if (isSentinel(element)) found.add(scrollerOf(element));
    return [...found].filter((scroller) => scroller && isMostlyList(scroller)).slice(0, MAX_LISTS);
  };

  // ---- scrolling ---------------------------------------------------------------------------------------------------

  const READINESS = Symbol.for("speccache.readiness");
  const pause = (milliseconds) => new Promise((resolve) => nativeTimeout(resolve, milliseconds));
  // A page that is not drawn has no animation frames.
  const frame = () => Promise.race([new Promise((resolve) => nativeFrame(resolve)), pause(50)]);

  // Who waits for scrolling is told also where the position stays the same: a list may be shorter than the window.
  const scrollTo = (scroller, top) => {
    scroller.scrollTo({ top, behavior: "instant" });
    for (const [element, observer] of [...awaited]) {
      if (!isSentinel(element)) continue;
      observer.unobserve(element);
      observer.observe(element);
    }
    const target = scroller === document.scrollingElement ? document : scroller;
    target.dispatchEvent(new Event("scroll", { bubbles: target === document }));
  };

  const settle = async (deadline) => {
    await frame();
    await frame();
    while (window[READINESS].busy() && now() < deadline) await pause(10);
  };

  const hasChanged = ({ row, key }) => !row.isConnected || keyOf(row) !== key;

  // Scroll to the end until the list is no longer. Says whether it drops rows that are out of sight.
  const grow = async (scroller, limits) => {
    const size = () => scroller.getElementsByTagName("*").length;
    const [first] = rowsIn(rowParent(scroller));
    for (let round = 0; round < MAX_SCREENS; round += 1) {
      const before = size();
      scrollTo(scroller, scroller.scrollHeight);
      await frame();
      await (awaited.size ? frame() : pause(0)); // observers are told after the frame
      if (!window[READINESS].waits() && size() === before && first && !hasChanged(first)) break;
      await settle(limits.deadline);
      if (!first || hasChanged(first)) return { drops: Boolean(first) };
      const late = now() >= limits.deadline;
      if (size() <= before && !(late && window[READINESS].waits())) break;
      const items = rowParent(scroller)?.childElementCount ?? 0;
      const ended = late ? "time" : items >= limits.maxItems ? "items" : "";
      if (ended) return { drops: false, ended, items };
    }
    return { drops: false };
  };

  // Let all lists grow to their ends. Returns those that drop rows, by the parent of the rows, and what was cut.
  const open = async (limits) => {
    const dropping = new Map();
    const cuts = [];
    for (const scroller of scrollers()) {
      const top = scroller.scrollTop;
      const { drops, ended, items } = await grow(scroller, limits);
      scrollTo(scroller, top);
      if (ended) cuts.push({ ended, items });
      if (!drops) continue;
      await settle(limits.deadline);
      dropping.set(rowParent(scroller), scroller);
    }
    return { dropping, cuts };
  };

  const FILLED = "img, picture, video, iframe, canvas, svg, input";

  // Whether an element waits, empty, to come into view.
  const isPlace = (element) => {
    const isEmpty = element.textContent.trim() === "" && !element.matches(FILLED) && !element.querySelector(FILLED);
    return isEmpty && element.isConnected && element.checkVisibility();
  };

  // Let what is filled only when it comes into view be filled. Says whether places are left that were not tried.
  const reveal = async (limits) => {
    const tried = new Set();
    const { scrollX, scrollY } = window;
    let cut = false;
    for (let vain = 0; vain < VAIN_PLACES && !cut; ) {
      const place = [...awaited.keys()].find((element) => !tried.has(element) && isPlace(element));
      if (!place) break;
      cut = tried.size >= MAX_PLACES || now() >= limits.deadline;
      tried.add(place);
      place.scrollIntoView({ block: "center", behavior: "instant" });
      await frame();
      await frame(); // observers are told after the frame
      if (window[READINESS].waits()) await settle(limits.deadline);
      vain = isPlace(place) ? vain + 1 : 0;
    }
    if (tried.size) window.scrollTo({ left: scrollX, top: scrollY, behavior: "instant" });
    return cut;
  };

  // How many rows at the end of those seen are the first of these.
  const overlap = (seen, rows) => {
    for (let count = Math.min(seen.length, rows.length); count > 0; count -= 1) {
      if (rows.slice(0, count).every(({ key }, index) => key === seen[seen.length - count + index])) return count;
    }
    return 0;
  };

  // Wait until the rows of the new place are there.
  const arrive = async (before, deadline) => {
    for (let frames = 0; frames < 3; frames += 1) {
      await (frames ? frame() : pause(0));
      if (!window[READINESS].waits() && before.some(hasChanged)) return;
    }
    if (window[READINESS].waits()) await settle(deadline);
  };

  // Go through a list that drops rows, and hand over each row once, while it is there.
  const sweep = async (scroller, limits, take) => {
    const seen = [];
    const top = scroller.scrollTop;
    let cut = null;
    for (let screen = 0; screen < MAX_SCREENS; screen += 1) {
      const parent = rowParent(scroller);
      const rows = parent ? rowsIn(parent) : [];
      const unseen = rows.slice(overlap(seen, rows));
      const fresh = unseen.slice(0, limits.maxItems - seen.length);
      for (const { row, key } of fresh) {
        seen.push(key);
        take(row, screen);
      }
      const atEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1;
      if (atEnd && !unseen.length) break;
      const ended = unseen.length > fresh.length ? "items" : now() >= limits.deadline ? "time" : "";
      if (ended) cut = { ended, items: seen.length };
      if (ended) break;
      scrollTo(scroller, scroller.scrollTop + Math.max(50, scroller.clientHeight * 0.8));
      await arrive(rows, limits.deadline);
    }
    scrollTo(scroller, top);
    await settle(limits.deadline);
    return cut;
  };

  Object.defineProperty(window, KEY, { value: Object.freeze({ open, reveal, sweep }) });
})();
