// Init script: tells what of a page a person can see, for the reader.
//
// Invariant: where it cannot be told, it counts as seen. Of a style only what is needed is asked, and a box only where the
// style makes it suspicious: these questions are asked of every element.
(() => {
  const KEY = Symbol.for("speccache.sight");
  if (window[KEY]) return;

  // From here on a person sees nothing: opacity, size of letters and indent in pixels, difference of two colours.
  const FAINT = 0.05;
  const TINY = 2;
  const AWAY = 500;
  const SHADE = 12;

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
    const clipped = style.overflowX !== "visible" && style.display !== "contents" && element.localName !== "html" && element.localName !== "body";
    return (clipped || loose) && hasNoBox(element, clipped);
  };

  const isCutAway = (style, loose) =>
    /^(inset\(([5-9]\d|100)(\.\d+)?%|circle\(0(px|%)?[ )])/.test(style.clipPath) ||
    (loose && /^rect\((\d+)px, \1px, \1px, \1px\)$/.test(style.clip)) ||
    style.transform.startsWith("matrix(0, 0, 0, 0,");

  const hasNoBox = (element, clipped) => {
    const box = element.getBoundingClientRect();
    if (clipped && (box.width <= 1 || box.height <= 1)) return true;
    const view = element.ownerDocument.defaultView;
    const leftwards = element.ownerDocument.dir === "rtl"; // there one may scroll to the left
    return (!leftwards && box.right + view.scrollX < 0) || box.bottom + view.scrollY < 0;
  };

  const isTransparent = (color) => color.startsWith("rgba") && color.endsWith(", 0)");

  // Whether nobody can tell two colours apart.
  let compared = {}; // mostly it is the same two again
  const isAlike = (color, other) => {
    if (color === other) return true;
    if (compared.color === color && compared.other === other) return compared.alike;
    const [one, two] = [color, other].map((text) => (text.startsWith("rgb(") ? text.match(/\d+/g) : []));
    const alike = one.length === 3 && two.length === 3 && one.every((part, index) => Math.abs(part - two[index]) < SHADE);
    compared = { color, other, alike };
    return alike;
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
  const isSeen = (element, style, background, canvas) =>
    style.visibility === "visible" &&
    (parseFloat(style.fontSize) > TINY || element.namespaceURI !== document.documentElement.namespaceURI) &&
    !(isAlike(style.color, background ?? canvas) && (background || !isDrawnOver(element, style.color))) &&
    (!isTransparent(style.color) || style.backgroundClip === "text");

  // The background of what is in an element, given that of the element itself; null where it cannot be told.
  const behind = (style, background) => {
    if (style.backgroundImage !== "none") return null;
    const color = style.backgroundColor;
    if (color.startsWith("rgb(")) return color;
    return isTransparent(color) && style.position === "static" ? background : null;
  };

  const isIndentedAway = (style) => parseFloat(style.textIndent) <= -AWAY;

  Object.defineProperty(window, KEY, { value: Object.freeze({ hasDialog, isHidden, isSeen, isIndentedAway, behind }) });
})();
