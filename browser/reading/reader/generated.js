// Generated text: what style sheets put before and after elements, such as a currency or the label of a note.
//
// Invariant: signs that only decorate (icons, bullets, arrows) are none.
({ text: { clean } }) => {
  const TELLING = /[\p{L}\p{N}\p{Sc}]/u;
  const PSEUDO = /::?(before|after)$/i;
  const STRING = /"((?:[^"\\]|\\.)*)"/g;
  const MAX_RULES = 20_000;

  const places = new Map(); // element -> "before", "after" or both words
  let rules = 0;

  const note = (rule) => {
    const { content } = rule.style;
    if (!content.includes("attr(") && ![...content.matchAll(STRING)].some(([string]) => TELLING.test(string))) return;
    for (const selector of rule.selectorText.split(/,(?![^(]*\))/)) {
      const where = PSEUDO.exec(selector.trim())?.[1].toLowerCase();
      const owners = selector.trim().replace(PSEUDO, "");
      if (!where || !owners || !CSS.supports(`selector(${owners})`)) continue;
      for (const element of document.querySelectorAll(owners)) places.set(element, `${places.get(element) ?? ""} ${where}`);
    }
  };

  const collect = (list) => {
    for (const rule of list) {
      rules += 1;
      if (rules > MAX_RULES) return;
      if (rule instanceof CSSStyleRule && /:(before|after)/i.test(rule.selectorText)) note(rule);
      if (rule instanceof CSSMediaRule && !matchMedia(rule.conditionText).matches) continue;
      if (rule.cssRules?.length) collect(rule.cssRules);
    }
  };

  for (const sheet of document.styleSheets) {
    if (sheet.disabled || !matchMedia(sheet.media.mediaText).matches) continue;
    try {
      collect(sheet.cssRules);
    } catch {
      // Of another origin: it may not be looked into.
    }
  }

  // The text put before or after an element; empty where there is none.
  const text = (element, where) => {
    if (!places.get(element)?.includes(where)) return "";
    const { content, display, visibility } = getComputedStyle(element, `::${where}`);
    if (display === "none" || visibility !== "visible") return "";
    const strings = [...content.matchAll(STRING)].map(([, string]) => string.replace(/\\(.)/g, "$1"));
    const shown = clean(strings.join(""));
    return TELLING.test(shown) ? shown : "";
  };

  return { generated: { text } };
}
