// Links: where a page leads.
//
// Invariant: only what leads to another page is a link; a place on the same page, a script or a mail address is none. All
// links that do the same have one number, which means the first of them.
({ blocks, names, numbers, text: { attribute, escape, shorten }, walk }) => {
  const NAME_CHARACTERS = 200;
  const OTHER_NAMES = 20;
  const CARD_CHARACTERS = 400; // a link round more text than this is a card: its name is the link, its text stays text

  // The address of another page that this element leads to, or null.
  const destination = (element) => {
    const href = element.href?.baseVal ?? element.href;
    const url = href && URL.canParse(href, element.baseURI) ? new URL(href, element.baseURI) : null;
    if (!url || !/^https?:$/.test(url.protocol)) return null;
    const isRoute = /^#[/!]/.test(url.hash);
    const here = element.ownerDocument.location;
    const isHere = url.pathname === here.pathname && url.search === here.search && url.origin === here.origin;
    return isHere && url.href.includes("#") && !isRoute ? null : url;
  };

  // Whether its own script hears of a click on it.
  const isPressed = (element) => {
    const { defaultView } = element.ownerDocument;
    return defaultView?.[Symbol.for("speccache.listeners")]?.awaitPresses(element) ?? false;
  };

  // ---- one entry for each address ----------------------------------------------------------------------------------

  const desks = new WeakMap(); // document -> {target, entries: what a link does -> {row, shows}}
  const met = new WeakSet(); // elements that were read

  const deskOf = (owner) => {
    if (!desks.has(owner)) {
      desks.set(owner, { target: owner.querySelector("base[target]")?.target ?? "", entries: new Map() });
    }
    return desks.get(owner);
  };

  // What following a link does: a new tab, a download or a script of its own is something else than the address alone.
  const deed = (element, url, { target }) => {
    const window = (element.getAttribute("target") ?? target).replace(/^_self$/i, "");
    return [url.href, window, element.hasAttribute("download"), isPressed(element)].join(" ");
  };

  // The entry of a link, a new one where none does the same; none where there is no room for it.
  const entryFor = (element, url) => {
    const desk = deskOf(element.ownerDocument);
    const key = deed(element, url, desk);
    if (!desk.entries.has(key) && numbers.hasRoom("link")) {
      const facts = { url: url.href.toWellFormed(), text: "", context: "", rel: "", language: "", other_texts: [] };
      desk.entries.set(key, { row: numbers.add("link", element, facts), shows: false });
    }
    return desk.entries.get(key);
  };

  const addName = (row, name) => {
    const known = name === row.text || row.other_texts.includes(name);
    if (name && !known && row.other_texts.length < OTHER_NAMES) row.other_texts.push(name);
  };

  // What speaks against following it unasked holds for the address, whichever of its links says so.
  const addFacts = (row, element) => {
    row.rel = [...new Set([...row.rel.split(" "), ...attribute(element, "rel").toLowerCase().split(" ")])].join(" ").trim();
    row.download ||= element.hasAttribute("download");
    row.language ||= attribute(element, "hreflang");
    addName(row, shorten(attribute(element, "aria-label"), NAME_CHARACTERS));
    addName(row, shorten(attribute(element, "title"), NAME_CHARACTERS));
  };

  // Note another link to the same address; its best name is the longest that can be seen.
  const add = (entry, element, name, { shows }) => {
    const { row } = entry;
    const short = shorten(name, NAME_CHARACTERS);
    const isBetter = shows === entry.shows ? short.length > row.text.length : shows;
    const worse = isBetter ? row.text : short;
    if (isBetter) Object.assign(row, { text: short, other_texts: row.other_texts.filter((other) => other !== short) });
    entry.shows ||= shows;
    addName(row, worse);
    addFacts(row, element);
    met.add(element);
    return row;
  };

  // ---- reading -----------------------------------------------------------------------------------------------------

  const readCard = (entry, element, url) => {
    const name = names.title(element, names.standIn(url));
    blocks.mark(add(entry, element, name, { shows: true }), escape(name), name);
    blocks.flush();
    walk.into(element);
  };

  const read = (element) => {
    const url = walk.linked ? null : destination(element);
    const isCard = url && element.textContent.length > CARD_CHARACTERS;
    const inside = url && !isCard ? blocks.capture(() => walk.plainly(element)) : null;
    if (inside && !inside.plain && (!walk.visible || !names.hasFace(element))) return;
    const entry = url && entryFor(element, url);
    if (!entry) return inside ? blocks.release(inside) : walk.into(element);
    if (isCard) return readCard(entry, element, url);
    const name = names.telling(element, inside.plain) || names.standIn(url);
    const row = add(entry, element, name, { shows: inside.plain !== "" });
    blocks.mark(row, name === inside.plain ? inside.html : escape(shorten(name, NAME_CHARACTERS)), name);
  };

  // Learn what links that nobody sees say of the addresses that others lead to.
  const learnHidden = () => {
    for (const root of walk.roots) {
      const rows = [...deskOf(root.ownerDocument ?? root).entries.values()].map(({ row }) => row);
      const byUrl = Map.groupBy(rows, ({ url }) => url);
      for (const element of root.querySelectorAll("a[href], area[href]")) {
        if (met.has(element)) continue;
        for (const row of byUrl.get(destination(element)?.href) ?? []) {
          addName(row, shorten(names.silent(element), NAME_CHARACTERS));
          addFacts(row, element);
        }
      }
    }
  };

  return { links: { destination, isPressed, read, learnHidden } };
}
