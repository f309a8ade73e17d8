// Init script: keeps which element each number of an observation stands for.
//
// Invariant: within one document a number means one element and no other, however often the document is read: an element
// that was numbered once keeps its number, a new one gets a new number, and none is given twice.
(() => {
  const KEY = Symbol.for("speccache.references");
  if (window[KEY]) return;

  const { Map, WeakMap, WeakRef } = window;

  const tables = {};
  for (const kind of ["link", "control"]) tables[kind] = { shown: new Map(), numbers: new WeakMap(), last: 0 };

  const squeeze = (text) => (text ?? "").replace(/\s+/g, " ").trim();

  // What an element says of itself that its own use does not change: a field's content is no part of it.
  const caption = (element) => {
    const isField = "value" in element && element.localName !== "button" && element.localName !== "li";
    const text = isField || element.isContentEditable ? "" : squeeze(element.textContent);
    return squeeze(element.getAttribute("aria-label")) || text || squeeze(element.getAttribute("title"));
  };

  const meaning = (kind, element) => (kind === "link" ? `${element.href}` : caption(element));

  // Return the element's number; a new one is greater than all before it and than `first`, up to which other frames count.
  const number = (kind, element, first) => {
    const table = tables[kind];
    const { shown, numbers } = table;
    if (!numbers.has(element)) numbers.set(element, (table.last = Math.max(table.last, first) + 1));
    const chosen = numbers.get(element);
    shown.set(chosen, { element: new WeakRef(element), meaning: meaning(kind, element) });
    return chosen;
  };

  const isGone = (element) => !element?.isConnected || !element.ownerDocument.defaultView;

  // Say why a number no longer means what it meant when it was shown; empty where it still does, null where this
  // document never showed it.
  const staleness = (kind, chosen) => {
    const entry = tables[kind].shown.get(chosen);
    if (!entry) return null;
    const element = entry.element.deref();
    if (isGone(element)) return "it is no longer on the page";
    const now = meaning(kind, element);
    if (now !== entry.meaning) return kind === "link" ? `it now leads to ${now}` : `it now says "${now.slice(0, 200)}"`;
    return "";
  };

  const element = (kind, chosen) => tables[kind].shown.get(chosen)?.element.deref() ?? null;

  Object.defineProperty(window, KEY, { value: Object.freeze({ number, staleness, element }) });
})();
