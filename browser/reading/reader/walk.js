// Walk: goes through the flattened tree (open shadow roots, slots, frames of the same origin) and knows what can be seen.
//
// Invariant: only what a person can see is read, and the document is not changed. Styles are computed once an element,
// boxes only where a style makes them suspicious.
(reader) => {
  const { blocks, generated, options } = reader;
  const { backdrop, hasDialog, isHidden, isSeen, isIndentedAway, behind } = window[Symbol.for("speccache.sight")];
  const DEPTH = 800; // elements nested deeper are read as plain text, since the walk recurses
  const SKIPPED = new Set(
    ("script style template noscript head title meta link audio video map datalist " +
      "defs symbol desc metadata param").split(" "),
  );
  const behindDialog = hasDialog();

  const walk = {
    roots: new Set([document]), // whose elements the walk goes through: documents and shadow roots
    visible: true, // what is read now can be seen
    linked: false, // inside a link or a control, where there are no others
    clickable: null, // an element without a role that is to be read as a control, once its own tags are written
  };
  let background = backdrop(document); // behind the text that is being read; null where it cannot be told
  let canvas = background ?? "rgb(255, 255, 255)"; // the last one that could be
  let pointing = false; // the mouse pointer says already that this can be clicked
  let away = false; // indented out of the window
  let depth = 0;
  let elements = 0;

  const isBlock = (display) => !/^(inline|contents|ruby|math|block math)/.test(display);

  const isOver = () => {
    elements += 1;
    if (elements > options.maxElements) blocks.full = "elements";
    else if (elements % 512 === 0 && performance.now() - reader.began > options.readMilliseconds) blocks.full = "time";
    return Boolean(blocks.full);
  };

  const readText = (data) => {
    if (walk.visible && !away) blocks.say(data);
  };

  // Read a node, and what is in it.
  walk.visit = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return readText(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || blocks.full || SKIPPED.has(node.localName) || isOver()) return;
    if (depth >= DEPTH) return readText(node.textContent);
    const style = getComputedStyle(node);
    if (isHidden(node, style, { behindDialog })) {
      const formula = reader.math.spoken(node);
      return formula && reader.math.read(formula);
    }
    const outer = [walk.visible, background, pointing, away, canvas, blocks.lines];
    const points = style.cursor === "pointer";
    if (reader.controls.isClickable(node, points && !pointing)) walk.clickable = node;
    pointing = points;
    background = behind(style, background);
    canvas = background ?? canvas;
    walk.visible = isSeen(node, style, background, canvas);
    const block = isBlock(style.display) && node.localName !== "br";
    if (block) away = isIndentedAway(style);
    blocks.lines = style.whiteSpaceCollapse.startsWith("preserve");
    depth += 1;
    if (block && blocks.preformatted && blocks.plain && !blocks.plain.endsWith("\n")) blocks.append("\n", "\n");
    else if (block && !blocks.preformatted) blocks.flush();
    reader.elements.read(node, style);
    if (block && !blocks.preformatted) blocks.flush();
    depth -= 1;
    [walk.visible, background, pointing, away, canvas, blocks.lines] = outer;
  };

  const children = (element) => {
    if (element.shadowRoot) {
      walk.roots.add(element.shadowRoot);
      return element.shadowRoot.childNodes;
    }
    if (element.localName !== "slot") return element.childNodes;
    const assigned = element.assignedNodes();
    return assigned.length ? assigned : element.childNodes;
  };

  // Read what is in an element.
  walk.into = (element) => {
    if (element === walk.clickable) return reader.controls.readClickable(element);
    if (reader.rows.isDropping(element)) return reader.rows.leaveRoom(element);
    if (element.localName === "details" && !element.open) {
      const summary = [...element.children].find((child) => child.localName === "summary");
      return summary && walk.visit(summary);
    }
    readText(generated.text(element, "before"));
    for (const child of children(element)) {
      if (blocks.full) return;
      walk.visit(child);
    }
    readText(generated.text(element, "after"));
  };

  // Read what is in an element as text without links and controls.
  walk.plainly = (element) => {
    walk.linked = true;
    walk.into(element);
    walk.linked = false;
  };

  // Read the document of a frame.
  walk.intoFrame = (inner) => {
    const outer = [background, canvas];
    walk.roots.add(inner);
    background = backdrop(inner);
    canvas = background ?? canvas;
    walk.visit(inner.body);
    [background, canvas] = outer;
  };

  // What can be seen here, to go on from it later.
  walk.sight = () => ({ visible: walk.visible, background });
  walk.resume = (sight) => {
    walk.visible = sight.visible;
    background = sight.background;
  };

  return { walk };
}
