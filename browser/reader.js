// Reads the rendered page in one pass: waits until it is ready, walks the flattened tree (open shadow roots, slots, frames of
// the same origin) and returns small clean HTML for the renderer, with every link and control numbered.
//
// Invariant: only what a person can see is read, and the document is not changed. Styles are computed once an element,
// boxes only where a style makes them suspicious.
async (options) => {
  const watcher = window[Symbol.for("speccache.readiness")];
  const readiness = (await watcher?.ready(options.capMilliseconds, options)) ?? "cap";
  const url = location.href; // scrolling may change it
  const lists = window[Symbol.for("speccache.lists")];
  const listLimits = { deadline: watcher?.deadline() ?? 0, maxItems: options.maxListItems };
  const { dropping, cuts } = readiness === "settled" ? await lists.open(listLimits) : { dropping: new Map(), cuts: [] };
  const readAt = performance.now();

  const CHUNK_CHARACTERS = 8_192; // the renderer takes the page in pieces of about this size
  const CONTEXT_CHARACTERS = 200;
  const NAME_CHARACTERS = 200;
  const LINK_CHARACTERS = 400; // a link round more text than this is a card: its name is the link, its text stays text
  const NESTING = 10; // lists and quotes nested deeper are written flat
  const DEPTH = 800; // elements nested deeper are read as plain text, since the walk recurses
  const COLUMNS = 50;
  const SELECT_OPTIONS = 30;

  const references = window[Symbol.for("speccache.references")];
  const { hasDialog, isHidden, isSeen, isIndentedAway, behind } = window[Symbol.for("speccache.sight")];
  const behindDialog = hasDialog();

  const chunks = [];
  const links = [];
  const controls = [];
  let dropped = false; // in a row whose elements may stand for another row by now
  const rooms = []; // lists that drop rows out of sight, and how they are seen
  const frames = []; // elements of frames of other origins, read through those frames
  const notes = new Set();
  let chunk = "";
  let paragraph = ""; // inline HTML of the block that is being read
  let plain = ""; // its plain text, for names and contexts
  let mentions = []; // links of this block: {link, from, to} in `plain`
  let heading = "";
  let nesting = 0; // open lists, items, quotes
  let flat = 0; // inside a link, a cell or a heading: blocks are only spaces
  let bare = false; // the next block is the first of its item and needs no <p>
  let linked = false;
  let preformatted = false;
  let pointing = false; // the mouse pointer says already that this can be clicked
  let clickable = null; // an element without a role that is to be read as a control, once its own tags are written
  let visible = true;
  let away = false; // indented out of the window
  let background = "rgb(255, 255, 255)"; // behind the text that is being read; null where it cannot be told
  let canvas = background; // the last one that could be
  let depth = 0;
  let elements = 0;
  let characters = 0;
  let full = "";

  // ---- writing -----------------------------------------------------------------------------------------------------

  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const quote = (text) => escape(text).replace(/"/g, "&quot;");
  // Characters that show nothing, among them those the renderer marks links with.
  const INVISIBLE = /[\u00AD\u200B\u2060\uFEFF\uE000-\uE003]|\uDB40[\uDC00-\uDC7F]/g;
  const clean = (text) => text.replace(INVISIBLE, "").replace(/[\s\u00A0]+/g, " ").toWellFormed();
  const shorten = (text, limit) => (text.length > limit ? `${text.slice(0, limit - 1).trimEnd()}…`.toWellFormed() : text);

  const write = (html) => {
    chunk += html;
    if (nesting === 0 && chunk.length > CHUNK_CHARACTERS) {
      chunks.push(chunk);
      chunk = "";
    }
  };

  const context = ({ from, to }) => {
    const room = CONTEXT_CHARACTERS - Math.min(heading.length, 60) - 3;
    const spare = Math.max(0, room - (to - from)) >> 1;
    let start = from <= spare || plain.length <= room ? 0 : plain.indexOf(" ", from - spare) + 1;
    if (start > from) start = from;
    const around = shorten(plain.slice(start).trim(), room);
    return [shorten(heading, 60), start > 0 ? `…${around}` : around].filter(Boolean).join(" › ");
  };

  // End the block that is being read.
  const flush = () => {
    if (flat) return void space();
    const text = plain.trim();
    if (text) {
      for (const mention of mentions) mention.link.context = context(mention);
      const html = paragraph.trim();
      paragraph = "";
      write(bare ? html : `<p>${html}</p>`);
      bare = false;
    }
    paragraph = plain = "";
    mentions = [];
  };

  const space = () => {
    if (plain && !plain.endsWith(" ")) {
      paragraph += " ";
      plain += " ";
    }
  };

  const append = (html, text) => {
    paragraph += html;
    plain += text;
    characters += text.length;
    if (characters > options.maxCharacters) full = "characters";
  };

  const readText = (data) => {
    if (!visible || away) return;
    if (preformatted) {
      const text = data.replace(INVISIBLE, "").replace(/\u00A0/g, " ").toWellFormed();
      return void append(escape(text), text);
    }
    let text = clean(data);
    if (text.startsWith(" ") && (!plain || plain.endsWith(" "))) text = text.slice(1);
    if (text) append(escape(text), text);
  };

  // Read with `read`, and hand back what it added to the block instead of leaving it there.
  const capture = (read) => {
    const [html, text, marks] = [paragraph, plain, mentions];
    paragraph = plain = "";
    mentions = [];
    flat += 1;
    read();
    flat -= 1;
    const captured = { html: paragraph.trim(), text: plain.trim(), mentions };
    [paragraph, plain, mentions] = [html, text, marks];
    return captured;
  };

  // Put what was captured behind what the block has already.
  const release = ({ html, text, mentions: marks }) => {
    for (const mark of marks) mentions.push({ link: mark.link, from: mark.from + plain.length, to: mark.to + plain.length });
    paragraph += html;
    plain += text;
  };

  // ---- links -------------------------------------------------------------------------------------------------------

  const attribute = (element, name) => {
    const value = element?.getAttribute(name);
    return value ? clean(value).trim() : "";
  };

  const labelled = (element) => {
    const ids = attribute(element, "aria-labelledby").split(" ").filter(Boolean);
    const texts = ids.map((id) => element.getRootNode().getElementById?.(id)?.textContent ?? "");
    return clean(texts.join(" ")).trim();
  };

  const standIn = (url) => {
    const last = url.pathname.split("/").filter(Boolean).pop() ?? url.hostname;
    try {
      return clean(decodeURIComponent(last));
    } catch {
      return last;
    }
  };

  // The name of something that shows no text.
  const silentName = (element) =>
    labelled(element) ||
    attribute(element, "aria-label") ||
    attribute(element, "alt") ||
    [...element.querySelectorAll("img[alt], [aria-label]")].map((e) => attribute(e, "alt") || attribute(e, "aria-label")).find(Boolean) ||
    clean(element.querySelector("svg title")?.textContent ?? "").trim() ||
    attribute(element, "title") ||
    attribute(element.querySelector("[title]"), "title") ||
    clean(element.textContent).trim();

  // The address of another page that this link leads to, or null.
  const destination = (element) => {
    const href = element.href?.baseVal ?? element.href;
    const url = href && URL.canParse(href, element.baseURI) ? new URL(href, element.baseURI) : null;
    if (!url || !/^https?:$/.test(url.protocol)) return null;
    const isRoute = /^#[/!]/.test(url.hash);
    const here = element.ownerDocument.location;
    const isHere = url.pathname === here.pathname && url.search === here.search && url.origin === here.origin;
    return isHere && url.href.includes("#") && !isRoute ? null : url;
  };

  // Whether there is room for one more in this table; where there is not, its text is still read.
  const counts = (table, limit, what) => {
    if (table.length < limit) return true;
    notes.add(`Only the first ${limit} ${what} of the page are numbered.`);
    return false;
  };

  const hasFace = (element) => {
    const box = element.getBoundingClientRect();
    return (box.width > 1 && box.height > 1) || element.querySelector("img[alt], svg") !== null;
  };

  const newLink = (element, url, text) => {
    const link = {
      number: references?.number("link", dropped ? element.cloneNode(true) : element, options.firstLink) ?? options.firstLink + links.length + 1,
      text: shorten(text, NAME_CHARACTERS),
      url: url.href.toWellFormed(),
      context: "",
      rel: attribute(element, "rel").toLowerCase(),
      download: element.hasAttribute("download"),
      language: attribute(element, "hreflang"),
    };
    links.push(link);
    return link;
  };

  const mark = (link, html, text) => {
    const from = plain.length;
    append(`<a n=${link.number}>${html}</a>`, text);
    mentions.push({ link, from, to: from + text.length });
  };

  const readLink = (element) => {
    const url = linked ? null : destination(element);
    if (!url || !counts(links, options.maxLinks, "links")) return readChildren(element);
    if (element.textContent.length > LINK_CHARACTERS) {
      const title = element.querySelector("h1, h2, h3, h4, h5, h6, [role=heading]")?.textContent;
      const name = shorten(clean(title || silentName(element)).trim() || standIn(url), 80);
      mark(newLink(element, url, name), escape(name), name);
      flush();
      return readChildren(element);
    }
    linked = true;
    const inside = capture(() => readChildren(element));
    linked = false;
    if (!inside.text && (!visible || !hasFace(element))) return;
    const name = inside.text || silentName(element) || standIn(url);
    mark(newLink(element, url, name), inside.html || escape(shorten(name, NAME_CHARACTERS)), name);
  };

  // ---- controls ----------------------------------------------------------------------------------------------------

  const ROLES = new Set(
    "button checkbox radio switch tab menuitem option combobox textbox searchbox slider spinbutton".split(" "),
  );
  const INPUTS = { submit: "button", reset: "button", image: "button", button: "button", checkbox: "checkbox", radio: "radio" };
  const PLAIN_INPUTS = { file: "file", range: "slider", number: "spinbutton", search: "searchbox", color: "color" };

  const isEditor = (element) => element.hasAttribute("contenteditable") && element.isContentEditable;

  // Whether this label is what a person sees of a box to tick or of a file to choose.
  const standsForHidden = (label) => {
    const field = label.control;
    if (!field || !/^(checkbox|radio|file)$/.test(field.type)) return false;
    const box = field.getBoundingClientRect();
    return box.width <= 1 || box.height <= 1 || !field.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  };

  // What kind of control this is, or null.
  const controlKind = (element) => {
    const role = attribute(element, "role").toLowerCase();
    switch (element.localName) {
      case "label":
        return standsForHidden(element) ? (INPUTS[element.control.type] ?? "file") : null;
      case "button":
        return ROLES.has(role) ? role : "button";
      case "input":
        if (element.type === "hidden") return null;
        return role === "switch" ? role : (INPUTS[element.type] ?? PLAIN_INPUTS[element.type] ?? "textbox");
      case "textarea":
        return "textbox";
      case "select":
        return "select";
      case "summary":
        return element.parentElement?.localName === "details" ? "disclosure" : null;
    }
    if (ROLES.has(role)) return role;
    if (isEditor(element)) return "textbox";
    const script = element.hasAttribute("onclick") || (element.localName === "a" && /^javascript:/i.test(attribute(element, "href")));
    return script && element.localName !== "body" ? "button" : null;
  };

  const INTERACTIVE = "a[href], button, input, select, textarea, summary, [role=button], [onclick], [contenteditable], iframe";

  // Whether a click does something here although no tag and no role says so.
  const isClickable = (element, pointed) => {
    if (linked || !(pointed || listensForClicks(element))) return false;
    if (element.matches('a[href]:not([href="#"])') && !listensForClicks(element)) return false; // a link, or one within the page
    if (element.matches("html, body, label, option, optgroup") || controlKind(element) !== null) return false;
    return destination(element) === null && !element.querySelector(INTERACTIVE);
  };

  // A large element more likely listens on behalf of what is in it.
  const listensForClicks = (element) =>
    referencesOf(element.ownerDocument)?.listens(element) && element.textContent.length <= NAME_CHARACTERS;

  const referencesOf = (owner) => (owner === document ? references : owner.defaultView[Symbol.for("speccache.references")]);

  const readClickable = (element) => {
    clickable = null;
    if (!visible || !counts(controls, options.maxControls, "controls")) return readChildren(element);
    if (element.textContent.length <= LINK_CHARACTERS) return readControl(element, "button");
    const title = element.querySelector("h1, h2, h3, h4, h5, h6, [role=heading]")?.textContent;
    writeControl(element, "button", shorten(clean(title || silentName(element)).trim(), 80));
    flush();
    readChildren(element);
  };

  const fieldName = (element) =>
    labelled(element) ||
    attribute(element, "aria-label") ||
    clean([...(element.labels ?? [])].map(labelText).join(" ")).trim() ||
    attribute(element, "placeholder") ||
    attribute(element, "title") ||
    attribute(element, "alt") ||
    (INPUTS[element.type] === "button" ? clean(element.value || element.type).trim() : "") ||
    attribute(element, "name");

  // The text of a label without that of the field it stands round.
  const labelText = (label) => {
    const copy = label.cloneNode(true);
    for (const field of copy.querySelectorAll("select, textarea, button, script, style")) field.remove();
    return copy.textContent;
  };

  const fieldValue = (element) => {
    if (element.localName === "select") {
      const texts = [...element.options].map((option) => clean(option.text).trim() + (option.disabled ? " (disabled)" : ""));
      const chosen = [...element.selectedOptions].map((option) => clean(option.text).trim());
      const more = texts.length > SELECT_OPTIONS ? `, and ${texts.length - SELECT_OPTIONS} more` : "";
      return `value: ${chosen.join(", ") || "none"}; options: ${texts.slice(0, SELECT_OPTIONS).join(", ")}${more}`;
    }
    if (!("value" in element) || element.localName === "button" || element.type in INPUTS || !element.value) return "";
    return element.type === "password" ? "value hidden" : `value: ${shorten(clean(element.value), NAME_CHARACTERS)}`;
  };

  const STATES = [
    ["partly checked", (e) => e.indeterminate === true || attribute(e, "aria-checked") === "mixed"],
    ["checked", (e) => e.checked === true || attribute(e, "aria-checked") === "true"],
    ["selected", (e) => attribute(e, "aria-selected") === "true"],
    ["pressed", (e) => attribute(e, "aria-pressed") === "true"],
    ["disabled", (e) => e.matches(":disabled") || attribute(e, "aria-disabled") === "true"],
    ["read-only", (e) => e.readOnly === true || attribute(e, "aria-readonly") === "true"],
    ["required", (e) => e.required === true || attribute(e, "aria-required") === "true"],
    ["invalid", (e) => attribute(e, "aria-invalid") === "true"],
    ["expanded", (e) => attribute(e, "aria-expanded") === "true" || (e.localName === "summary" && e.parentElement.open)],
    ["collapsed", (e) => attribute(e, "aria-expanded") === "false" || (e.localName === "summary" && !e.parentElement.open)],
  ];

  const FIELDS = new Set(["input", "select", "textarea"]);

  const writeControl = (element, kind, name) => {
    const field = element.localName === "label" ? element.control : element;
    const states = STATES.filter(([, holds]) => holds(field)).map(([state]) => state);
    const control = {
      number: references?.number("control", element, options.firstControl) ?? options.firstControl + controls.length + 1,
      kind,
      name: shorten(name || attribute(element, "id") || "unnamed", NAME_CHARACTERS),
      state: [...states, fieldValue(element)].filter(Boolean).join(", "),
    };
    controls.push(control);
    space();
    const { number, state } = control;
    append(`<control n=${number} kind=${kind} state="${quote(state)}">${escape(control.name)}</control>`, control.name);
    space();
  };

  const readControl = (element, kind) => {
    if (dropped) notes.add("Controls further down in a list that drops what is out of sight are read as text.");
    if (dropped) return readChildren(element);
    if (!visible || !counts(controls, options.maxControls, "controls")) return;
    const isField = FIELDS.has(element.localName) || isEditor(element);
    const name = isField ? fieldName(element) : capture(() => ((linked = true), readChildren(element), (linked = false))).text;
    writeControl(element, kind, name || silentName(element));
    if (isEditor(element)) readChildren(element);
  };

  // ---- tables ------------------------------------------------------------------------------------------------------

  const BLOCKS_IN_CELL = "table, h1, h2, h3, h4, blockquote, form, article, section, nav, iframe, fieldset";

  const CELLS = "[role=cell], [role=gridcell], [role=columnheader], [role=rowheader]";

  const rowsOf = (table) => [...(table.rows ?? table.querySelectorAll("[role=row]"))];
  const cellsOf = (row) => [...(row.cells ?? row.querySelectorAll(CELLS))];
  const spanOf = (cell, side) => cell[`${side}Span`] ?? (Number(attribute(cell, `aria-${side.toLowerCase()}span`)) || 1);
  const isHeadingCell = (cell) => cell.localName === "th" || /^(column|row)header$/.test(attribute(cell, "role"));

  const isGrid = (table) => {
    const role = attribute(table, "role");
    if (table.localName !== "table" && !/^(table|grid|treegrid)$/.test(role)) return false;
    if (/^(presentation|none)$/.test(role) || table.querySelector(BLOCKS_IN_CELL)) return false;
    if (!rowsOf(table).some((row) => cellsOf(row).length > 1) || [...dropping.keys()].some((list) => table.contains(list))) return false;
    // What its author called a table may hold more than its cells, and nothing of that may be lost.
    const ink = (element) => element.textContent.replace(/\s+/g, "").length;
    return Boolean(table.rows) || ink(table) === rowsOf(table).flatMap(cellsOf).reduce((sum, cell) => sum + ink(cell), 0);
  };

  // One row as cells under their columns. A cell that spans rows is repeated in each, a heading that spans columns in each.
  const gridRow = (row, spans) => {
    const cells = [];
    const fill = () => {
      while (spans[cells.length]?.rows > 0) {
        const span = spans[cells.length];
        span.rows -= 1;
        cells.push(span.cell);
      }
    };
    const elements = cellsOf(row);
    const alone = elements.length === 1; // a title or a note across the table
    for (const element of elements) {
      fill();
      const isHeading = isHeadingCell(element);
      const cell = { isHeading, ...capture(() => visit(element)) };
      for (let column = 0; column < Math.min(spanOf(element, "col"), COLUMNS); column += 1) {
        const rows = (spanOf(element, "row") || Infinity) - 1;
        const shown = column === 0 || (isHeading && !alone) ? cell : { isHeading, html: "", text: "", mentions: [] };
        if (rows > 0) spans[cells.length] = { rows, cell: { ...shown, mentions: [] } };
        cells.push(shown);
      }
    }
    fill();
    return cells;
  };

  const readRow = (row, spans) => {
    if (getComputedStyle(row).display === "none") return;
    const cells = gridRow(row, spans);
    if (!cells.some((cell) => cell.text)) return;
    for (const cell of cells) {
      if (plain) append(" | ", " | ");
      release(cell);
    }
    for (const mention of mentions) mention.link.context = context(mention);
    paragraph = plain = "";
    mentions = [];
    const tags = cells.map(({ isHeading, html }) => (isHeading ? `<th>${html}</th>` : `<td>${html}</td>`));
    write(`<tr>${tags.join("")}</tr>`);
  };

  const readTable = (table) => {
    const spans = [];
    if (table.caption) visit(table.caption);
    flush();
    nesting += 1;
    write("<table>");
    for (const row of rowsOf(table)) if (!full) readRow(row, spans);
    nesting -= 1;
    write("</table>");
  };

  // ---- elements ----------------------------------------------------------------------------------------------------

  const SKIPPED = new Set(
    ("script style template noscript head title meta link object embed audio video canvas map datalist defs symbol desc " +
      "metadata progress meter").split(" "),
  );
  const EMPHASIS = { b: "strong", strong: "strong", i: "em", em: "em", code: "code", kbd: "code", samp: "code", tt: "code" };

  const container = (tag, element, { first = false, attributes = "" } = {}) => {
    flush();
    if (nesting >= NESTING || flat) return readChildren(element);
    const outer = bare;
    nesting += 1;
    write(`<${tag}${attributes}>`);
    bare = first;
    readChildren(element);
    flush();
    bare = tag === "li" || tag === "dd" ? false : outer;
    nesting -= 1;
    write(`</${tag}>`);
  };

  const readItem = (element) => {
    const isNumbered = element.parentElement?.localName === "ol";
    container("li", element, { first: true, attributes: isNumbered ? ` value=${itemNumber(element)}` : "" });
  };

  const ordinals = new WeakMap(); // <ol> -> number of the item read last
  const itemNumber = (element) => {
    const list = element.parentElement;
    const explicit = element.hasAttribute("value") && element.value;
    const number = explicit ? explicit : ordinals.has(list) ? ordinals.get(list) + (list.reversed ? -1 : 1) : list.hasAttribute("start") ? list.start : 1;
    ordinals.set(list, number);
    return number;
  };

  const readHeading = (element, level) => {
    flush();
    const { html, text, mentions: marks } = capture(() => readChildren(element));
    if (!text || flat) return void (flat && release({ html, text, mentions: marks }));
    heading = "";
    plain = text;
    for (const mention of marks) mention.link.context = context(mention);
    plain = "";
    heading = text;
    write(`<h${level}>${html}</h${level}>`);
    bare = false;
  };

  const language = (element) => {
    const names = [element, element.firstElementChild, element.parentElement].map((e) => `${e?.className ?? ""}`).join(" ");
    return /(?:^|\s)(?:lang(?:uage)?-|highlight-source-|brush:\s*)([\w+#-]+)/.exec(names)?.[1] ?? attribute(element, "data-lang");
  };

  const readPreformatted = (element) => {
    flush();
    if (flat) return readChildren(element);
    preformatted = true;
    const { html } = capture(() => readChildren(element));
    preformatted = false;
    if (html) write(`<pre lang="${quote(language(element))}">${html}</pre>`);
    bare = false;
  };

  const readFrame = (element) => {
    const inner = element.contentDocument;
    // Until the document of another origin comes, an empty one of this origin stands in its place.
    const isComing = inner?.URL === "about:blank" && element.src && new URL(element.src).origin !== location.origin;
    if (!inner || isComing) return hasFace(element) ? leaveRoom("frame", frames.push(element) - 1) : undefined;
    flush();
    if (inner.body) visit(inner.body);
    flush();
  };

  // Mark where something belongs that is read later.
  const leaveRoom = (tag, number) => {
    const room = `<${tag} n=${number}></${tag}>`;
    flush();
    if (flat) return void (paragraph += room);
    if (nesting > 0) return write(room);
    chunks.push(chunk, room); // a piece of its own
    chunk = "";
  };

  const readEmphasis = (element, tag) => {
    const before = chunk;
    const from = paragraph.length;
    const start = plain.length;
    readChildren(element);
    // Blocks inside ended the paragraph: there is no piece of text to put the tags round.
    if (chunk !== before || plain.length <= start || preformatted) return;
    paragraph = `${paragraph.slice(0, from)}<${tag}>${paragraph.slice(from)}</${tag}>`;
  };

  const readBreak = () => {
    if (preformatted) append("\n", "\n");
    else if (flat) space();
    else if (plain.trim()) {
      paragraph = `${paragraph.trimEnd()}<br>`;
      plain = `${plain.trimEnd()} `;
    }
  };

  const children = (element) => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    if (element.localName !== "slot") return element.childNodes;
    const assigned = element.assignedNodes();
    return assigned.length ? assigned : element.childNodes;
  };

  const readChildren = (element) => {
    if (element === clickable) return readClickable(element);
    if (dropping.has(element)) return leaveRoom("list", rooms.push({ element, heading, visible, background }) - 1);
    if (element.localName === "details" && !element.open) {
      const summary = [...element.children].find((child) => child.localName === "summary");
      return summary && visit(summary);
    }
    for (const child of children(element)) {
      if (full) return;
      visit(child);
    }
  };

  const dispatch = (element) => {
    const kind = linked ? null : controlKind(element);
    if (kind) return readControl(element, kind);
    const name = element.localName;
    if (name in EMPHASIS) return readEmphasis(element, EMPHASIS[name]);
    const level = /^h[1-6]$/.test(name) ? name[1] : attribute(element, "role") === "heading" ? attribute(element, "aria-level") || 2 : 0;
    if (level) return readHeading(element, Math.min(6, Number(level) || 2));
    if ((name === "table" || element.hasAttribute("role")) && !flat && nesting < NESTING && isGrid(element)) return readTable(element);
    switch (name) {
      case "a":
      case "area":
        return readLink(element);
      case "br":
        return readBreak();
      case "hr":
        flush();
        return flat ? undefined : write("<hr>");
      case "img":
        return element === clickable ? readClickable(element) : undefined;
      case "wbr":
        return undefined;
      case "pre":
        return readPreformatted(element);
      case "ul":
      case "menu":
        return container("ul", element);
      case "ol":
      case "dl":
      case "blockquote":
        return container(name, element);
      case "li":
        return readItem(element);
      case "dt":
      case "dd":
        return container(name, element, { first: true });
      case "iframe":
      case "frame":
        return readFrame(element);
      case "text":
        readChildren(element);
        return space();
      default:
        return readChildren(element);
    }
  };

  const isBlock = (display) => !/^(inline|contents|ruby)/.test(display);

  const visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return readText(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || full || SKIPPED.has(node.localName)) return;
    elements += 1;
    if (elements > options.maxElements) return void (full = "elements");
    if (elements % 512 === 0 && performance.now() - readAt > options.readMilliseconds) return void (full = "time");
    if (depth >= DEPTH) return readText(node.textContent);
    const style = getComputedStyle(node);
    if (isHidden(node, style, { behindDialog })) return;
    const outer = [visible, background, pointing, away, canvas];
    const points = style.cursor === "pointer";
    if (isClickable(node, points && !pointing)) clickable = node;
    pointing = points;
    background = behind(style, background);
    canvas = background ?? canvas;
    visible = isSeen(node, style, background, canvas);
    const block = isBlock(style.display) && node.localName !== "br";
    if (block) away = isIndentedAway(style);
    depth += 1;
    if (block && preformatted && plain && !plain.endsWith("\n")) append("\n", "\n");
    else if (block && !preformatted) flush();
    dispatch(node);
    if (block && !preformatted) flush();
    depth -= 1;
    [visible, background, pointing, away, canvas] = outer;
  };

  // ---- lists that drop rows ----------------------------------------------------------------------------------------

  const ROW = "tr, [role=row]";

  // A row as HTML that can stand by itself.
  const rowHtml = (row) => {
    nesting += 1;
    if (row.matches(ROW)) readRow(row, []);
    else visit(row);
    flush();
    nesting -= 1;
    const html = chunk;
    chunk = "";
    return html;
  };

  const readLists = async () => {
    for (const [index, room] of rooms.entries()) {
      const scroller = dropping.get(room.element);
      const isTable = room.element.querySelector(`:scope > :is(${ROW})`) !== null;
      const rows = [];
      dropping.delete(room.element);
      const cut = await lists.sweep(scroller, listLimits, (row, screen) => {
        ({ heading, visible, background } = room);
        dropped = screen > 0;
        rows.push(rowHtml(row));
      });
      dropped = false;
      if (cut) cuts.push(cut);
      fill(`<list n=${index}></list>`, isTable ? [`<table>${rows.join("")}</table>`] : rows);
    }
  };

  // Put pieces where room was left for them.
  const fill = (room, pieces) => {
    const at = chunks.findIndex((piece) => piece.includes(room));
    const piece = chunks[at] ?? "";
    chunks.splice(at, 1, ...(piece === room ? pieces : [piece.replace(room, () => pieces.join(""))]));
  };

  // ---- the whole ---------------------------------------------------------------------------------------------------

  // A document that is no HTML, as text: JSON, XML, plain text. Null for a page.
  const rawText = () => {
    if (/html|svg/.test(document.contentType)) return null;
    if (/[/+]xml$/.test(document.contentType)) {
      const source = document.getElementById("webkit-xml-viewer-source-xml");
      return source ? source.innerHTML : new XMLSerializer().serializeToString(document);
    }
    return document.querySelector("body > pre")?.textContent ?? document.body?.textContent ?? "";
  };

  const raw = rawText();
  if (raw !== null) {
    if (raw.length > options.maxCharacters) full = "characters";
    const text = raw.slice(0, options.maxCharacters).replace(INVISIBLE, "").toWellFormed();
    for (let from = 0; from < text.length; from += CHUNK_CHARACTERS) chunks.push(text.slice(from, from + CHUNK_CHARACTERS));
  } else if (document.body ?? document.documentElement) {
    visit(document.body ?? document.documentElement);
    flush();
    chunks.push(chunk);
    chunk = "";
    await readLists();
  }

  // Tables go as JSON in batches: the client would take an object apart value by value on its event loop. What is empty is
  // left out.
  const batches = (rows) => {
    const texts = [];
    const filled = (key, value) => (value || key === "name" ? value : undefined);
    for (let from = 0; from < rows.length; from += 200) {
      texts.push(JSON.stringify(rows.slice(from, from + 200), filled));
    }
    return texts;
  };

  for (const { items } of cuts) notes.add(`A list goes on when it is scrolled further: ${items} of its items were read.`);
  if (frames.length) window[Symbol.for("speccache.frames")] = frames;
  const response = performance.getEntriesByType("navigation")[0];
  return {
    url,
    title: clean(document.title).trim(),
    status: response?.responseStatus || null,
    contentType: document.contentType,
    readiness: cuts.some(({ ended }) => ended === "time") ? "cap" : readiness,
    raw: raw !== null,
    chunks,
    links: batches(links),
    controls: batches(controls),
    linkCount: links.length,
    controlCount: controls.length,
    characters,
    frames: frames.map((element) => shorten(element.src || element.localName, 300)),
    polls: watcher?.polls() ?? [],
    notes: [...notes].slice(0, 10),
    full,
    readMilliseconds: performance.now() - readAt,
  };
}
