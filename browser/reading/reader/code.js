// Code: preformatted text, with the language it is written in.
//
// Invariant: line breaks and indents are those of the page.
({ blocks, text: { attribute, quote }, walk }) => {
  const LEVELS = 4; // elements round the code whose classes may name its language
  const CLASS = /(?:^|\s)(?:lang(?:uage)?-|highlight-(?:source-|text-)?|sourceCode\s+|brush:\s*)([\w+#.-]+)/;
  const NO_LANGUAGE = /^(default|none|plaintext|text|notranslate|wrapper)$/i;
  const HLJS = /(?:^|\s)hljs\s+([\w+#-]+)/;
  const MONOSPACED = /mono|courier|consolas|menlo/i;
  const CONTROL = / ?<control [^>]*>.*?<\/control> ?/g;

  const named = (element) => {
    const classes = attribute(element, "class");
    const found = CLASS.exec(classes) ?? HLJS.exec(classes);
    return found?.[1] || attribute(element, "data-language") || attribute(element, "data-lang");
  };

  const language = (element) => {
    const levels = element.firstElementChild?.localName === "code" ? [element.firstElementChild] : [];
    for (let outer = element; outer && outer !== document.body && levels.length < LEVELS; outer = outer.parentElement) {
      levels.push(outer);
    }
    return levels.map(named).find((name) => name && !NO_LANGUAGE.test(name)) ?? "";
  };

  // Whether this is the column of line numbers beside the code.
  const isGutter = (element) => {
    const row = element.closest("tr");
    return row?.querySelectorAll("pre").length > 1 && /^\s*1(\s+\d+)*\s*$/.test(element.textContent);
  };

  // Whether an element is code although it is no <pre>.
  const looksLikeCode = (element, style) =>
    style.whiteSpace === "pre" && MONOSPACED.test(style.fontFamily) && element.textContent.trim().includes("\n");

  const read = (element) => {
    if (isGutter(element)) return;
    blocks.flush();
    if (blocks.flat) return walk.into(element);
    blocks.preformatted = true;
    const { html } = blocks.capture(() => walk.into(element));
    blocks.preformatted = false;
    // Buttons to copy it are none of it.
    const controls = html.match(CONTROL)?.join("");
    const code = html.replace(CONTROL, "").replace(/^([^\S\n]*\n)+/, "").trimEnd();
    if (controls) blocks.write(`<p>${controls}</p>`);
    if (code) blocks.write(`<pre lang="${quote(language(element))}">${code}</pre>`);
    blocks.bare = false;
  };

  return { code: { read, looksLikeCode } };
}
