// Init script: tells what of a page a person can see, for the reader.
//
// Invariant: where it cannot be told, it counts as seen. Of a style only what is needed is asked, and a box only where the
// style makes it suspicious: these questions are asked of every element.
(() => {
  const KEY = Symbol.for("speccache.sight");
  if (window[KEY]) return;

  // From here on a person sees nothing: opacity, size of letters and distances in pixels, difference of two colours.
  const FAINT = 0.05;
  const SOLID = 0.9; // what shines through less opaque colours cannot be told
  const TINY = 2;
  const AWAY = 500;
  const FAR_AWAY = 2000;
  const SHADE = 12;
  const WHITE = "rgb(255, 255, 255)";
  const BLACK = "rgb(18, 18, 18)"; // of dark pages

  const hasDialog = () =>
    [...document.querySelectorAll('[aria-modal="true"], [role="dialog"], dialog:modal')].some((dialog) =>
      dialog.checkVisibility({ visibilityProperty: true, opacityProperty: true }),
    );

  // Whether nothing of an element can be seen, nor of what is in it. Behind a modal dialog the page is `aria-hidden`, and
  // yet it is what the agent came for.
  const isHidden = (element, style, { behindDialog }) => {
    if (style.display === "none" || style.contentVisibility === "hidden") return true;
    if (!behindDialog && element.getAttribute("aria-hidden") === "true") return true;
    // What fades in when it is scrolled to is no secret.
    if (Number(style.opacity) < FAINT && style.animationName === "none" && /^(0s(, )?)+$/.test(style.transitionDuration)) return true;
    const loose = style.position === "absolute" || style.position === "fixed";
    if (style.display !== "inline" && isCutAway(style, loose)) return true;
    const clipped = style.overflowX !== "visible" && style.display !== "contents" && !/^(html|body)$/.test(element.localName);
    const moved = style.transform !== "none" && style.display !== "inline";
    return (clipped || loose || moved) && hasNoBox(element, clipped);
  };

  const isCutAway = (style, loose) =>
    /^(inset\(([5-9]\d|100)(\.\d+)?%|circle\(0(px|%)?[ )]|polygon\((?<point>[^,]+)(, \k<point>)+\))/.test(style.clipPath) ||
    (loose && /^rect\((\d+)px, \1px, \1px, \1px\)$/.test(style.clip)) ||
    style.transform.startsWith("matrix(0, 0, 0, 0,") ||
    /^0(?: 0)*$/.test(style.scale) ||
    (style.filter !== "none" && /opacity\(0(\.0\d*)?\)/.test(style.filter)) ||
    parseFloat(style.marginLeft) <= -FAR_AWAY;

  const hasNoBox = (element, clipped) => {
    const box = element.getBoundingClientRect();
    if (clipped && (box.width <= 1 || box.height <= 1)) return true;
    const view = element.ownerDocument.defaultView;
    const leftwards = element.ownerDocument.dir === "rtl"; // there one may scroll to the left
    return (!leftwards && box.right + view.scrollX < 0) || box.bottom + view.scrollY < 0;
  };

  // ---- colours -----------------------------------------------------------------------------------------------------

  let pen = null; // draws one pixel
  const parsed = new Map(); // colour as a style has it -> [red, green, blue, alpha]

  // Take a colour apart, in whichever of CSS's notations it is; alpha from 0 to 1.
  const parts = (color) => {
    if (parsed.has(color)) return parsed.get(color);
    let found = color.startsWith("rgb") ? color.match(/[\d.]+/g).map(Number) : null;
    if (!found) {
      pen ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = color;
      pen.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
      found = [red, green, blue, alpha / 255];
    }
    if (found.length === 3) found.push(1);
    parsed.set(color, found);
    return found;
  };

  const isTransparent = (color) => parts(color)[3] < FAINT;

  // Whether nobody can tell two colours apart.
  const isAlike = (color, other) => {
    if (color === other) return true;
    const [one, two] = [parts(color), parts(other)];
    return one[3] >= SOLID && two[3] >= SOLID && [0, 1, 2].every((part) => Math.abs(one[part] - two[part]) < SHADE);
  };

  // What a document is drawn on where it says nothing.
  const paper = (owner, rootStyle) => {
    const { colorScheme } = rootStyle;
    const schemes = colorScheme === "normal" ? owner.querySelector('meta[name="color-scheme" i]')?.content : colorScheme;
    const prefersDark = owner.defaultView.matchMedia("(prefers-color-scheme: dark)").matches;
    return /\bdark\b/.test(schemes) && (prefersDark || !/\blight\b/.test(schemes)) ? BLACK : WHITE;
  };

  // What is behind the text of a document's body.
  const backdrop = (owner) => {
    if (!owner.documentElement) return WHITE;
    const style = getComputedStyle(owner.documentElement);
    return behind(style, paper(owner, style));
  };

  // What is drawn at the middle of this element decides where its ancestors do not: they may be positioned over anything.
  const isDrawnOver = (element, color) => {
    const box = element.getBoundingClientRect();
    const stack = element.ownerDocument.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    for (const below of stack) {
      if (below.matches("img, picture, video, canvas, svg, svg *, iframe, object, embed")) return true;
      for (const part of [null, "::before", "::after"]) {
        const { backgroundImage, backgroundColor, content } = getComputedStyle(below, part);
        if (part && content === "none") continue;
        if (backgroundImage !== "none") return true;
        if (!isTransparent(backgroundColor)) return !isAlike(color, backgroundColor);
      }
    }
    return stack.length === 0; // outside the window nothing can be told
  };

  // Whether an element's own text can be seen.
  //
  // `background` is the colour behind it, null where that cannot be told; `canvas` is the last that could be.
  const isSeen = (element, style, background, canvas) => {
    if (style.visibility !== "visible") return false;
    if (parseFloat(style.fontSize) <= TINY && element.namespaceURI === document.documentElement.namespaceURI) return false;
    const color = style.webkitTextFillColor; // mostly the same as `color`; what the letters are filled with
    if (isTransparent(color)) return style.backgroundClip === "text";
    return !isAlike(color, background ?? canvas) || (!background && isDrawnOver(element, color));
  };

  // The background of what is in an element, given that of the element itself; null where it cannot be told.
  const behind = (style, background) => {
    if (style.backgroundImage !== "none") return null;
    const color = style.backgroundColor;
    if (isTransparent(color)) return style.position === "static" ? background : null;
    return parts(color)[3] >= SOLID ? color : null;
  };

  const isIndentedAway = (style) => parseFloat(style.textIndent) <= -AWAY;

  const sight = { hasDialog, isHidden, isSeen, isIndentedAway, behind, backdrop };
  Object.defineProperty(window, KEY, { value: Object.freeze(sight) });
})();
