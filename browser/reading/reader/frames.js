// Frames: documents within the document, and what else is embedded.
//
// Invariant: a frame of the same origin is read in place; for one of another origin room is left, and it is read through
// that frame. What cannot be read is noted.
({ blocks, numbers, text: { shorten }, walk }) => {
  const WIDE = 200; // an embedded thing smaller than this, in pixels, is no part of the text
  const HIGH = 100;
  const SOURCE_CHARACTERS = 300;
  const foreign = []; // elements, by their number

  const isSmaller = (element, width, height) => {
    const box = element.getBoundingClientRect();
    return box.width <= width || box.height <= height;
  };

  // Until its document comes, an empty one stands in its place.
  const isComing = (element, inner) => {
    const src = element.src && URL.canParse(element.src) ? new URL(element.src) : null;
    if (inner?.URL !== "about:blank" || !src) return false;
    return src.origin !== location.origin || (element.loading === "lazy" && src.protocol !== "about:");
  };

  // A frame that waits for being scrolled to is to come now.
  const hurry = (element) => {
    if (element.loading !== "lazy") return;
    element.loading = "eager"; // starts it
    element.loading = "lazy";
  };

  const read = (element) => {
    if (!walk.visible || element.clientWidth <= 1 || element.clientHeight <= 1) return;
    const inner = element.contentDocument;
    if (!inner || isComing(element, inner)) {
      hurry(element);
      return blocks.leaveRoom("frame", foreign.push(element) - 1);
    }
    blocks.flush();
    if (inner.body) walk.intoFrame(inner);
    blocks.flush();
  };

  // Read what is embedded in another way than as a frame, where there is a document; else what is shown in its stead.
  const readEmbedded = (element) => {
    if (element.contentDocument?.body) return read(element);
    const shown = document.createRange();
    shown.selectNodeContents(element);
    if (shown.getClientRects().length) return walk.into(element);
    if (!walk.visible || isSmaller(element, WIDE, HIGH)) return;
    const source = element.data || element.src;
    if (source) numbers.notes.add(`An embedded file was not read: ${shorten(source, SOURCE_CHARACTERS)}`);
    else numbers.notes.add("A drawing was not read: it is no text.");
  };

  return { frames: { foreign, read, readEmbedded } };
}
