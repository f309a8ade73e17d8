// Elements: what each becomes.
//
// Invariant: an element that is not known here is read as what is in it.
({ blocks, code, controls, frames, links, math, tables, text: { attribute }, walk }) => {
  const NESTING = 10; // lists and quotes nested deeper are written flat
  const EMPHASIS = {
    ...{ b: "strong", strong: "strong", i: "em", em: "em", del: "del", s: "del", strike: "del" },
    ...{ code: "code", kbd: "code", samp: "code", tt: "code" },
  };
  const ORDINAL = /^(st|nd|rd|th|er|re|e|o|a|n?os?|as?|tm|sm|[®™©*†‡§¶º°ª]+|\[.*)$/i;

  const container = (tag, element, { first = false, attributes = "" } = {}) => {
    blocks.flush();
    if (blocks.nesting >= NESTING || blocks.flat) return walk.into(element);
    const outer = blocks.bare;
    blocks.nesting += 1;
    blocks.write(`<${tag}${attributes}>`);
    blocks.bare = first;
    walk.into(element);
    blocks.flush();
    blocks.bare = tag === "li" || tag === "dd" ? false : outer;
    blocks.nesting -= 1;
    blocks.write(`</${tag}>`);
  };

  const readItem = (element) => {
    const isNumbered = element.parentElement?.localName === "ol";
    container("li", element, { first: true, attributes: isNumbered ? ` value=${ordinal(element)}` : "" });
  };

  // A term labels what describes it.
  const readTerm = (element) => {
    blocks.flush();
    blocks.label = blocks.ended = "";
    container("dt", element, { first: true });
    blocks.label = element.closest("dl") ? blocks.ended : ""; // else nothing would end it
  };

  const readTerms = (element) => {
    const outer = blocks.label;
    blocks.label = "";
    container("dl", element);
    blocks.label = outer;
  };

  const ordinals = new WeakMap(); // <ol> -> number of the item read last
  const ordinal = (element) => {
    const list = element.parentElement;
    const step = list.reversed ? -1 : 1;
    const next = ordinals.has(list) ? ordinals.get(list) + step : list.hasAttribute("start") ? list.start : 1;
    const number = (element.hasAttribute("value") && element.value) || next;
    ordinals.set(list, number);
    return number;
  };

  const readHeading = (element, level) => {
    blocks.flush();
    const captured = blocks.capture(() => walk.into(element));
    if (blocks.flat) blocks.release(captured);
    if (!captured.plain || blocks.flat) return;
    blocks.heading = "";
    blocks.release(captured);
    blocks.forget();
    blocks.heading = captured.plain;
    blocks.write(`<h${level}>${captured.html}</h${level}>`);
    blocks.bare = false;
  };

  const headingLevel = (element) => {
    const { localName } = element;
    if (/^h[1-6]$/.test(localName)) return Number(localName[1]);
    if (attribute(element, "role") !== "heading") return 0;
    return Math.min(6, Number(attribute(element, "aria-level")) || 2);
  };

  const readEmphasis = (element, tag) => {
    const place = blocks.place();
    walk.into(element);
    blocks.wrap(place, tag);
  };

  // A power is not a further digit: 10² must not be read as 102. Marks of footnotes and of ordinals stay as they are.
  const readRaised = (element, mark) => {
    const { plain, html, mentions } = blocks.capture(() => walk.into(element));
    const joins = /[\p{L}\p{N})\]]$/u.test(blocks.plain) && plain && !mentions.length && !ORDINAL.test(plain);
    if (joins && (mark === "^" || !/^\d+$/.test(plain))) {
      const group = /^([-+−]?\d+|.)$/u.test(plain) ? ["", ""] : ["(", ")"];
      blocks.append(mark + group[0], mark + group[0]);
      blocks.release({ plain, html, mentions });
      return blocks.append(group[1], group[1]);
    }
    blocks.release({ plain, html, mentions });
  };

  // What stands around an element's text though it is none of it.
  const readBetween = (element, before, after) => {
    const { plain, html, mentions } = blocks.capture(() => walk.into(element));
    if (!plain) return;
    blocks.append(before, before);
    blocks.release({ plain, html, mentions });
    blocks.append(after, after);
  };

  const readImage = (element) => {
    if (element === walk.clickable) return controls.readClickable(element);
    const map = element.useMap && element.getRootNode().querySelector(`map[name="${CSS.escape(element.useMap.slice(1))}"]`);
    for (const area of map ? map.querySelectorAll("area[href]") : []) links.read(area);
  };

  const readMeter = (element) => {
    const { min = 0, max, value } = element;
    const share = element.hasAttribute("value") ? (value - min) / (max - min) : NaN; // without a value nobody knows
    if (walk.visible && share >= 0) blocks.say(` ${Math.round(100 * share)} % `);
  };

  const isTable = (element) => {
    const mayBe = element.localName === "table" || element.hasAttribute("role");
    return mayBe && !blocks.flat && blocks.nesting < NESTING && tables.isGrid(element);
  };

  const readRule = () => {
    blocks.flush();
    if (!blocks.flat) blocks.write("<hr>");
  };

  // Read an element that can be seen.
  const read = (element, style) => {
    const kind = walk.linked ? null : controls.kindOf(element);
    if (kind) return controls.read(element, kind);
    const name = element.localName;
    const showsSpace = blocks.lines && name !== "pre" && !blocks.preformatted;
    if (showsSpace && code.looksLikeCode(element, style)) return code.read(element);
    if (name in EMPHASIS) return readEmphasis(element, EMPHASIS[name]);
    const level = headingLevel(element);
    if (level) return readHeading(element, level);
    if (isTable(element)) return tables.read(element);
    switch (name) {
      case "a":
      case "area":
        return links.read(element);
      case "br":
        return blocks.breakLine();
      case "hr":
        return readRule();
      case "img":
        return readImage(element);
      case "math":
        return math.read(element);
      case "meter":
      case "progress":
        return readMeter(element);
      case "q":
        return readBetween(element, "“", "”");
      case "rt":
        return readBetween(element, "(", ")");
      case "sub":
        return readRaised(element, "_");
      case "sup":
        return readRaised(element, "^");
      case "wbr":
        return undefined;
      case "pre":
        return code.read(element);
      case "ul":
      case "menu":
        return container("ul", element);
      case "dl":
        return readTerms(element);
      case "ol":
      case "blockquote":
        return container(name, element);
      case "li":
        return readItem(element);
      case "dt":
        return readTerm(element);
      case "dd":
        return container(name, element, { first: true });
      case "iframe":
      case "frame":
        return frames.read(element);
      case "object":
      case "embed":
      case "canvas":
        return frames.readEmbedded(element);
      case "text":
        walk.into(element);
        return blocks.space();
      default:
        return walk.into(element);
    }
  };

  return { elements: { read } };
}
