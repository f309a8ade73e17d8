// Math: formulas, written in one line as one would type them, or in TeX where the page gives that.
//
// Invariant: no two different formulas become the same text because a fraction, a power or a root was flattened.
({ blocks, text: { clean }, walk }) => {
  const TEX = 'annotation[encoding="application/x-tex"]';

  const joined = (nodes) => [...nodes].map(linear).join("");
  const grouped = (node) => {
    const inner = node ? linear(node) : "";
    return [...inner].length > 1 && !/^(\d+|\(.*\))$/.test(inner) ? `(${inner})` : inner;
  };

  const linear = (node) => {
    const [first, second, third] = node.children;
    switch (node.localName) {
      case "msup":
      case "mover":
        return `${grouped(first)}^${grouped(second)}`;
      case "msub":
      case "munder":
        return `${grouped(first)}_${grouped(second)}`;
      case "msubsup":
      case "munderover":
        return `${grouped(first)}_${grouped(second)}^${grouped(third)}`;
      case "mfrac":
        return `${grouped(first)}/${grouped(second)}`;
      case "msqrt":
        return `√(${joined(node.children)})`;
      case "mroot":
        return `${grouped(first)}^(1/${linear(second)})`;
      case "mtr":
        return [...node.children].map(linear).join(", ");
      case "mtable":
        return [...node.children].map(linear).join("; ");
      case "semantics":
        return first ? linear(first) : "";
      case "annotation":
      case "annotation-xml":
        return "";
      case "mspace":
        return " ";
      default:
        return node.childElementCount ? joined(node.children) : clean(node.textContent).trim();
    }
  };

  const read = (element) => {
    if (!walk.visible) return;
    const tex = clean(element.querySelector(TEX)?.textContent ?? "").trim();
    const formula = tex ? `$${tex}$` : linear(element);
    const isBlock = element.getAttribute("display") === "block";
    if (isBlock) blocks.flush();
    blocks.say(formula);
    if (isBlock) blocks.flush();
  };

  // The formula in an element that is hidden because the same is drawn beside it for the eye; null where there is none.
  const spoken = (element) => {
    const formula = element.firstElementChild;
    if (formula?.localName !== "math" || element.childElementCount > 1) return null;
    const drawn = element.nextElementSibling ?? element.previousElementSibling;
    return drawn?.matches('[aria-hidden="true"], img') ? formula : null;
  };

  return { math: { read, spoken } };
}
