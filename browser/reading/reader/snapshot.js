// Snapshot: the whole reading, as it is handed to the caller.
//
// Invariant: tables are JSON in batches, since the caller would take an object apart value by value on its event loop;
// what is empty is left out.
(reader) => {
  const { blocks, frames, links, lists, numbers, options, rows, text, walk } = reader;
  const BATCH = 200;
  const RAW_CHARACTERS = 8_192; // of one piece of a document that is no HTML
  const MAX_NOTES = 10;
  const SOURCE_CHARACTERS = 300; // of a frame's address

  // A document that is no HTML, as text: JSON, XML, plain text. Null for a page.
  const rawText = () => {
    if (/html|svg/.test(document.contentType)) return null;
    if (/[/+]xml$/.test(document.contentType)) {
      const source = document.getElementById("webkit-xml-viewer-source-xml");
      return source ? source.innerHTML : new XMLSerializer().serializeToString(document);
    }
    return document.querySelector("body > pre")?.textContent ?? document.body?.textContent ?? "";
  };

  const readRaw = (raw) => {
    if (raw.length > options.maxCharacters) blocks.full = "characters";
    const shown = text.visible(raw.slice(0, options.maxCharacters));
    for (let from = 0; from < shown.length; from += RAW_CHARACTERS) {
      blocks.chunks.push(shown.slice(from, from + RAW_CHARACTERS));
    }
  };

  const readPage = async (root) => {
    walk.visit(root);
    blocks.flush();
    blocks.cut();
    await rows.read();
    links.learnHidden();
  };

  const batches = (table) => {
    const texts = [];
    const filled = (key, value) => (key === "name" || (value && value.length !== 0) ? value : undefined);
    for (let from = 0; from < table.length; from += BATCH) {
      texts.push(JSON.stringify(table.slice(from, from + BATCH), filled));
    }
    return texts;
  };

  const noteCuts = () => {
    for (const { items } of lists.cuts) {
      numbers.notes.add(`A list goes on when it is scrolled further: ${items} of its items were read.`);
    }
    if (lists.isCutShort) {
      numbers.notes.add("Some parts of the page are filled only when they are scrolled to; not all of them were.");
    }
  };

  const take = async ({ url, readiness }) => {
    const raw = rawText();
    const root = document.body ?? document.documentElement;
    if (raw !== null) readRaw(raw);
    else if (root) await readPage(root);
    noteCuts();
    if (frames.foreign.length) window[Symbol.for("speccache.frames")] = frames.foreign;
    const watcher = window[Symbol.for("speccache.readiness")];
    return {
      url,
      title: text.clean(document.title).trim(),
      status: performance.getEntriesByType("navigation")[0]?.responseStatus || null,
      contentType: document.contentType,
      readiness: lists.cuts.some(({ ended }) => ended === "time") ? "cap" : readiness,
      raw: raw !== null,
      chunks: blocks.chunks,
      links: batches(numbers.links),
      controls: batches(numbers.controls),
      linkCount: numbers.links.length,
      controlCount: numbers.controls.length,
      characters: blocks.characters,
      frames: frames.foreign.map((element) => text.shorten(element.src || element.localName, SOURCE_CHARACTERS)),
      polls: watcher?.polls() ?? [],
      habit: watcher?.habit() ?? { characters: 0, lateMilliseconds: 0 },
      notes: [...numbers.notes].slice(0, MAX_NOTES),
      full: blocks.full,
      readMilliseconds: performance.now() - reader.began,
    };
  };

  return { snapshot: { take } };
}
