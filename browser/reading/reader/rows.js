// Rows: lists that hold only the rows in sight, read row by row while each is there.
//
// Invariant: such a list stands in the document where it stands on the page, with each of its rows once.
(reader) => {
  const { blocks, lists, numbers, walk } = reader;
  const ROW = "tr, [role=row]";
  const rooms = []; // {element, heading, sight}

  const isDropping = (element) => lists.dropping.has(element);
  const holdsDropping = (element) => [...lists.dropping.keys()].some((list) => element.contains(list));

  const leaveRoom = (element) => {
    blocks.leaveRoom("list", rooms.push({ element, heading: blocks.heading, sight: walk.sight() }) - 1);
  };

  // A row as HTML that can stand by itself.
  const html = (row) => blocks.taken(() => (row.matches(ROW) ? reader.tables.readRow(row) : walk.visit(row)));

  // Read what room was left for. The last thing to be read: it scrolls the page.
  const read = async () => {
    for (const [index, { element, heading, sight }] of rooms.entries()) {
      const isTable = element.querySelector(`:scope > :is(${ROW})`) !== null;
      const scroller = lists.dropping.get(element);
      const pieces = [];
      lists.dropping.delete(element);
      await lists.sweep(scroller, (row, screen) => {
        blocks.heading = heading;
        walk.resume(sight);
        numbers.fleeting = screen > 0;
        pieces.push(html(row));
      });
      numbers.fleeting = false;
      blocks.fill("list", index, isTable ? [`<table>${pieces.join("")}</table>`] : pieces);
    }
  };

  return { rows: { isDropping, holdsDropping, leaveRoom, read } };
}
