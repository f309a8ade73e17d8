// Reads the rendered page in one pass: waits until it is ready, lets its lists grow, and hands over small clean HTML for
// the renderer, with every link and control numbered. What it is made of stands in the folder `reader`; each part is a
// function that takes the parts before it and returns itself under its name.
//
// Invariant: the document is as it was before.
async (options, parts) => {
  const watcher = window[Symbol.for("speccache.readiness")];
  const readiness = (await watcher?.ready(options.capMilliseconds, options)) ?? "cap";
  const url = location.href; // scrolling may change it
  const { open, reveal, sweep } = window[Symbol.for("speccache.lists")];
  const limits = { deadline: watcher?.deadline() ?? 0, maxItems: options.maxListItems };
  const lists = readiness === "settled" ? await open(limits) : { dropping: new Map(), cuts: [] };
  lists.isCutShort = readiness === "settled" && (await reveal(limits));
  lists.sweep = async (scroller, take) => {
    const cut = await sweep(scroller, limits, take);
    if (cut) lists.cuts.push(cut);
  };
  const reader = { options, lists, began: performance.now() };
  for (const part of parts) Object.assign(reader, part(reader));
  return await reader.snapshot.take({ url, readiness });
}
