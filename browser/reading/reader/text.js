// Text: what stands in the page, fit to be written down.
//
// Invariant: what is cleaned has no character that shows nothing, so the renderer may mark links with such characters.
() => {
  const INVISIBLE = /[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF\uE000-\uE003]|\uDB40[\uDC00-\uDC7F]/g;

  const escape = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
  const quote = (text) => escape(text).replace(/"/g, "&quot;");
  const visible = (text) => text.replace(INVISIBLE, "").toWellFormed();
  const clean = (text) => text.replace(INVISIBLE, "").replace(/[\s\u00A0]+/g, " ").toWellFormed();
  const shorten = (text, limit) => (text.length > limit ? `${text.slice(0, limit - 1).trimEnd()}…`.toWellFormed() : text);

  // An element's attribute, empty where it has none.
  const attribute = (element, name) => {
    const value = element?.getAttribute(name);
    return value ? clean(value).trim() : "";
  };

  return { text: { escape, quote, visible, clean, shorten, attribute } };
}
