// Resources: elements whose scripts, styles and frames are still being loaded.
//
// Invariant: only what can change the text counts; images, fonts and media never hold a page.
({ activity: { begin, end, pending } }) => {
  const RESOURCES = "script[src], link[href], iframe, frame";
  const { WeakSet } = window;

  const settled = new WeakSet(); // elements that loaded or failed

  // Whether the browser runs what is in a <script>.
  const runs = (script) => /^(|module|(text|application)\/(x-)?(java|ecma)script)$/i.test(script.type.trim());

  const isForeign = (url) => {
    const site = (host) => host.split(".").slice(-2).join(".");
    return site(new URL(url, document.baseURI).hostname) !== site(location.hostname);
  };

  // What kind of thing this element still loads, or null.
  const loads = (element) => {
    switch (element.localName) {
      case "script":
        if (!element.src || !runs(element) || (element.noModule && element.type !== "module")) return null;
        return isForeign(element.src) ? "foreign" : "script";
      case "link":
        if (!element.href || element.disabled || (element.media && !matchMedia(element.media).matches)) return null;
        if (element.relList.contains("modulepreload")) return "script";
        return element.relList.contains("stylesheet") && !element.sheet ? "style" : null;
      case "iframe":
      case "frame":
        if (element.loading === "lazy" || (element.src && new URL(element.src, location).origin !== location.origin)) return null;
        return element.contentDocument?.readyState === "complete" ? null : "frame";
      default:
        return null;
    }
  };

  // Wait for what is loading in a part of the document.
  const watch = (root) => {
    const found = [...root.querySelectorAll(RESOURCES)];
    if (root.matches?.(RESOURCES)) found.push(root);
    for (const element of found) {
      const kind = settled.has(element) ? null : loads(element);
      if (kind) begin(kind, { element });
    }
  };

  // `load` and `error` of resources do not bubble, but they are captured.
  const onResource = ({ target }) => {
    if (!(target instanceof Element)) return;
    settled.add(target);
    for (const item of pending.keys()) if (item.element === target) end(item);
  };
  document.addEventListener("load", onResource, true);
  document.addEventListener("error", onResource, true);

  return { resources: { runs, watch } };
}
