"use strict";
/* Brings the rows of a page up to date. What comes is put into the page as text. */
(() => {
  const page = document.body.dataset;
  const events = new EventSource(page.events);
  const write = (place, name, text) => {
    const found = place.querySelector(`[data-of="${name}"]`);
    if (found && found.textContent !== text) found.textContent = text;
    return found;
  };
  events.addEventListener("run", (event) => {
    const row = JSON.parse(event.data);
    const place = document.querySelector(`[data-run="${CSS.escape(row.id)}"]`);
    if (!place) return;
    if (page.reload && place.dataset.status === "playing" && row.status !== "playing") {
      events.close();
      location.reload();
      return;
    }
    place.dataset.status = row.status;
    write(place, "status", row.shown).className = `status ${row.status}`;
    write(place, "far", row.planned ? `${row.finished} / ${row.planned}` : String(row.finished));
    for (const name of ["failed", "requests", "tokens", "cost"]) write(place, name, String(row[name]));
    const bar = place.querySelector("progress");
    bar.max = row.planned || 1;
    bar.value = row.planned ? row.finished : 1;
  });
  events.addEventListener("count", (event) => {
    const link = document.getElementById("new");
    if (link && !page.filtered && JSON.parse(event.data) > Number(page.count)) link.hidden = false;
  });
  addEventListener("pagehide", () => events.close());
})();
