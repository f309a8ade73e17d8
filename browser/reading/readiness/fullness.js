// Fullness: how much text a person sees by now, and whether that can be all.
//
// Invariant: it only counts as far as it must; a text that was there once is not counted again.
({ address }) => {
  const THIN = 200; // characters; a page that has fewer hardly has any
  const LOADING = /\bloading\b|please wait|加载中|載入中|読み込み中|chargement|wird geladen|cargando|загрузка/i;
  const BARREN = new Set(["script", "style", "template", "noscript"]);

  const countText = (node, enough, options) => {
    let count = 0;
    for (let child = node.firstChild; child && count < enough; child = child.nextSibling) {
      if (child.nodeType === Node.TEXT_NODE) count += child.data.replace(/\s+/g, " ").trim().length;
      else if (child.nodeType === Node.ELEMENT_NODE && !BARREN.has(child.localName) && child.checkVisibility(options)) {
        count += countText(child, enough - count, options);
        if (child.shadowRoot) count += countText(child.shadowRoot, enough - count, options);
      }
    }
    return count;
  };

  let seen = 0;

  // Visible characters, counted as far as `enough`.
  const count = (enough = THIN) => {
    if (window !== window.top) return enough; // a frame owes nothing: it may well be meant to be empty
    if (seen < enough && document.body) seen = countText(document.body, enough);
    return document.querySelector('[aria-busy="true"]') ? 0 : Math.min(seen, enough);
  };
  const isThin = () => count() < THIN;

  // Whether the page owes the text of its address.
  const owes = () => address.owesText || isThin();

  // Whether it says that its text is still to come.
  const saysLoading = () => isThin() && LOADING.test(document.body?.innerText ?? "");

  // What would differ if something that is read were shown, hidden or led elsewhere without a change of the document's text.
  const sight = () => {
    const look = { opacityProperty: true, visibilityProperty: true };
    const text = document.body ? countText(document.body, Infinity, look) : 0;
    const links = [...document.links].reduce((sum, link) => sum + link.href.length + 1, 0);
    return `${text} ${links} ${document.querySelectorAll(":disabled, [aria-busy=true]").length}`;
  };

  return { fullness: { THIN, count, sight, isThin, owes, saysLoading } };
}
