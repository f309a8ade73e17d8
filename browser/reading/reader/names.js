// Names: what links and controls are called, as a person or a screen reader would say it.
//
// Invariant: everything numbered has a name; where a page gives none, one is made of the address or the `id`.
({ text: { attribute, clean, shorten } }) => {
  const TITLE_CHARACTERS = 80;
  const WORD = /\p{L}{2}|\p{Lo}/u;
  const HEADINGS = "h1, h2, h3, h4, h5, h6, [role=heading]";

  const labelled = (element) => {
    const ids = attribute(element, "aria-labelledby").split(" ").filter(Boolean);
    const texts = ids.map((id) => element.getRootNode().getElementById?.(id)?.textContent ?? "");
    return clean(texts.join(" ")).trim();
  };

  // All elements in an element, those in open shadow roots included, in the order in which they are shown.
  const within = function* (element) {
    for (const child of (element.shadowRoot ?? element).children) {
      yield child;
      yield* within(child);
    }
    for (const assigned of element.localName === "slot" ? element.assignedElements() : []) {
      yield assigned;
      yield* within(assigned);
    }
  };

  const ICON = /(?:^|\s)(?:fa|bi|mdi|ri|ti|icon|glyphicon|codicon|octicon|lucide|tabler-icon)-([a-z][\w-]+)/;

  // What an icon that says nothing is called in the page's own source: its symbol, or its class.
  const icon = (element) => {
    if (element.localName === "use") return (attribute(element, "href") || attribute(element, "xlink:href")).split("#")[1] ?? "";
    return ICON.exec(attribute(element, "class"))?.[1] ?? "";
  };

  const said = (element) =>
    attribute(element, "aria-label") ||
    attribute(element, "alt") ||
    (element.localName === "title" && element.namespaceURI.endsWith("svg") ? clean(element.textContent).trim() : "");

  // Its text, that for screen readers included.
  const rendered = (element) => clean(element.innerText ?? element.textContent).trim();

  // The name of something that shows no text.
  const silent = (element) => {
    const parts = [...within(element)];
    const first = (name) => parts.map(name).find(Boolean);
    return (
      labelled(element) ||
      said(element) ||
      first(said) ||
      attribute(element, "title") ||
      first((part) => attribute(part, "title")) ||
      rendered(element) ||
      icon(element) ||
      first(icon) ||
      ""
    );
  };

  // What it says for itself where what it shows is only a sign: an arrow, a cross, a number.
  const telling = (element, shown) => {
    if (WORD.test(shown)) return shown;
    const text = rendered(element);
    return labelled(element) || said(element) || (WORD.test(text) && text) || shown || silent(element);
  };

  // The name of something that holds a whole card: its heading, shortened.
  const title = (element, otherwise = "") => {
    const heading = element.querySelector(HEADINGS)?.textContent;
    return shorten(clean(heading || silent(element)).trim() || otherwise, TITLE_CHARACTERS);
  };

  // The name of a field to fill in.
  const field = (element, isButton) =>
    labelled(element) ||
    attribute(element, "aria-label") ||
    clean([...(element.labels ?? [])].map(labelText).join(" ")).trim() ||
    attribute(element, "placeholder") ||
    attribute(element, "title") ||
    attribute(element, "alt") ||
    (isButton ? clean(element.value || element.type).trim() : "") ||
    attribute(element, "name");

  // The text of a label without that of the field it stands round.
  const labelText = (label) => {
    const copy = label.cloneNode(true);
    for (const field of copy.querySelectorAll("select, textarea, button, script, style")) field.remove();
    return copy.textContent;
  };

  // The last part of an address.
  const standIn = (url) => {
    const last = url.pathname.split("/").filter(Boolean).pop() ?? url.hostname;
    try {
      return clean(decodeURIComponent(last));
    } catch {
      return last;
    }
  };

  // Whether an element that shows no text shows anything.
  const hasFace = (element) => {
    if (element.localName === "area") return true;
    const box = element.getBoundingClientRect();
    return (box.width > 1 && box.height > 1) || element.querySelector("img[alt], svg") !== null;
  };

  return { names: { silent, telling, title, field, standIn, hasFace } };
}
