// Blocks: the HTML that is handed to the renderer, written paragraph by paragraph and cut into pieces.
//
// Invariant: the paragraph under way is kept twice, as HTML and as plain text, and every link in it with the place of its
// name in the plain text; so its context is known when the paragraph ends.
({ options, text: { clean, escape, shorten, visible } }) => {
  const CHUNK_CHARACTERS = 8_192; // the renderer takes the page in pieces of about this size
  const CONTEXT_CHARACTERS = 200;
  const HEADING_CHARACTERS = 60; // of a heading in a context
  const LABEL_CHARACTERS = 40; // of a label in a context

  const blocks = {
    chunks: [],
    characters: 0,
    full: "", // the limit that ended the reading
    heading: "", // above the text that is being read
    label: "", // what it is the value of: the term it describes
    nesting: 0, // open lists, items, quotes
    flat: 0, // inside a link, a cell or a heading: blocks are only spaces
    bare: false, // the next block is the first of its item and needs no <p>
    preformatted: false,
    lines: false, // line breaks in the text are shown as such
    plain: "", // of the paragraph, for names and contexts
    ended: "", // the paragraph before
  };
  let chunk = "";
  let paragraph = "";
  let mentions = []; // {link, from, to} in `plain`

  // Write HTML behind all that ended.
  blocks.write = (html) => {
    chunk += html;
    if (blocks.nesting === 0 && chunk.length > CHUNK_CHARACTERS) blocks.cut();
  };

  // End the piece; the next one begins with this, where it is given.
  blocks.cut = (next) => {
    blocks.chunks.push(chunk);
    if (next) blocks.chunks.push(next);
    chunk = "";
  };

  // Write with `write`, and hand back what it wrote instead of leaving it there.
  blocks.taken = (write) => {
    blocks.nesting += 1;
    write();
    blocks.flush();
    blocks.nesting -= 1;
    const html = chunk;
    chunk = "";
    return html;
  };

  // Where in the HTML and in the paragraph the writing is.
  blocks.place = () => ({ chunk, from: paragraph.length, start: blocks.plain.length });

  // Put tags round what came behind a place, unless a block ended in between: then no one piece of text is left.
  blocks.wrap = ({ chunk: before, from, start }, tag) => {
    if (chunk !== before || blocks.plain.length <= start || blocks.preformatted) return;
    paragraph = `${paragraph.slice(0, from)}<${tag}>${paragraph.slice(from)}</${tag}>`;
  };

  const context = ({ from, to }) => {
    const { plain } = blocks;
    const heading = shorten(blocks.heading, HEADING_CHARACTERS);
    const label = blocks.label && `${shorten(blocks.label, LABEL_CHARACTERS)}: `;
    const room = CONTEXT_CHARACTERS - heading.length - label.length - 3;
    const spare = Math.max(0, room - (to - from)) >> 1;
    let start = from <= spare || plain.length <= room ? 0 : plain.indexOf(" ", from - spare) + 1;
    if (start > from) start = from;
    const around = shorten(plain.slice(start).trim(), room);
    return [heading, label + (start > 0 ? `…${around}` : around)].filter(Boolean).join(" › ");
  };

  // Drop the paragraph, once its links have their contexts.
  blocks.forget = () => {
    for (const mention of mentions) mention.link.context ||= context(mention);
    blocks.ended = blocks.plain.trim();
    paragraph = blocks.plain = "";
    mentions = [];
  };

  // End the paragraph.
  blocks.flush = () => {
    if (blocks.flat) return void blocks.space();
    if (blocks.plain.trim()) {
      const html = paragraph.trim();
      blocks.forget();
      blocks.write(blocks.bare ? html : `<p>${html}</p>`);
      blocks.bare = false;
    }
    paragraph = blocks.plain = "";
    mentions = [];
  };

  blocks.space = () => {
    if (blocks.plain && !blocks.plain.endsWith(" ")) {
      paragraph += " ";
      blocks.plain += " ";
    }
  };

  blocks.append = (html, plain) => {
    paragraph += html;
    blocks.plain += plain;
    blocks.characters += plain.length;
    if (blocks.characters > options.maxCharacters) blocks.full = "characters";
  };

  // Add the page's text.
  blocks.say = (data) => {
    if (blocks.preformatted) {
      const code = visible(data.replace(/\u00A0/g, " "));
      return void blocks.append(escape(code), code);
    }
    if (blocks.lines && data.includes("\n")) return sayLines(data);
    let words = clean(data);
    if (words.startsWith(" ") && (!blocks.plain || blocks.plain.endsWith(" "))) words = words.slice(1);
    if (words) blocks.append(escape(words), words);
  };

  // Text whose line breaks are shown.
  const sayLines = (data) => {
    blocks.lines = false;
    for (const [index, line] of data.split("\n").entries()) {
      if (index > 0) blocks.breakLine();
      blocks.say(line);
    }
    blocks.lines = true;
  };

  blocks.breakLine = () => {
    if (blocks.preformatted) blocks.append("\n", "\n");
    else if (blocks.flat) blocks.space();
    else if (blocks.plain.trim()) {
      paragraph = `${paragraph.trimEnd()}<br>`;
      blocks.plain = `${blocks.plain.trimEnd()} `;
    }
  };

  blocks.mark = (link, html, plain) => {
    const from = blocks.plain.length;
    blocks.append(`<a n=${link.number}>${html}</a>`, plain);
    mentions.push({ link, from, to: from + plain.length });
  };

  // Read with `read`, and hand back what it added to the paragraph instead of leaving it there.
  blocks.capture = (read) => {
    const outer = [paragraph, blocks.plain, mentions];
    paragraph = blocks.plain = "";
    mentions = [];
    blocks.flat += 1;
    read();
    blocks.flat -= 1;
    const html = blocks.preformatted ? paragraph : paragraph.trim();
    const captured = { html, plain: blocks.plain.trim(), mentions };
    [paragraph, blocks.plain, mentions] = outer;
    return captured;
  };

  // Put what was captured behind what the paragraph has already.
  blocks.release = (captured) => {
    const shift = blocks.plain.length;
    for (const { link, from, to } of captured.mentions) mentions.push({ link, from: from + shift, to: to + shift });
    paragraph += captured.html;
    blocks.plain += captured.plain;
  };

  // Mark where something belongs that is read later.
  blocks.leaveRoom = (tag, number) => {
    const room = `<${tag} n=${number}></${tag}>`;
    blocks.flush();
    if (blocks.flat) paragraph += room;
    else if (blocks.nesting > 0) blocks.write(room);
    else blocks.cut(room); // a piece of its own
  };

  // Put pieces where room was left for them.
  blocks.fill = (tag, number, pieces) => {
    const room = `<${tag} n=${number}></${tag}>`;
    const at = blocks.chunks.findIndex((piece) => piece.includes(room));
    const piece = blocks.chunks[at] ?? "";
    blocks.chunks.splice(at, 1, ...(piece === room ? pieces : [piece.replace(room, () => pieces.join(""))]));
  };

  return { blocks };
}
