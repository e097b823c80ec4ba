"use strict";
// The search. Without scripts the page shows everything, and the search field stays hidden.
(() => {
  const bar = document.getElementById("search-bar");
  const field = document.getElementById("search");
  const said = document.getElementById("search-result");
  const items = Array.from(document.querySelectorAll("[data-item]"));
  const texts = items.map((item) => item.textContent.toLowerCase());
  // Rows of a card: where some of them match, the others are hidden; where none does, the card is there for other words.
  const cards = Array.from(document.querySelectorAll("details[data-item]"), (card) =>
    Array.from(card.querySelectorAll("tr[data-row]"), (row) => [row, row.textContent.toLowerCase()]));
  const wasOpen = new Map(Array.from(document.querySelectorAll("details"), (one) => [one, one.open]));
  const MOST_OPENED = 12;

  function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = {};
    let opened = 0;
    items.forEach((item, number) => {
      const matches = words.every((word) => texts[number].includes(word));
      const kind = item.dataset.item;
      shown[kind] = shown[kind] || [0, 0];
      shown[kind][0] += matches ? 1 : 0;
      shown[kind][1] += 1;
      item.hidden = !matches;
      if (item.tagName === "DETAILS") {
        item.open = words.length > 0 && matches ? ++opened <= MOST_OPENED : wasOpen.get(item);
      }
    });
    for (const rows of cards) {
      const found = rows.map(([, text]) => words.every((word) => text.includes(word)));
      const some = found.includes(true);
      rows.forEach(([row], number) => { row.hidden = some && !found[number]; });
    }
    const counts = Object.entries(shown).map(([kind, [some, all]]) => `${some} of ${all} ${kind}`);
    said.textContent = words.length > 0 ? counts.join(", ") : "";
    const hash = words.length > 0 ? "#search=" + encodeURIComponent(field.value) : " ";
    if (location.hash !== hash.trim()) {
      history.replaceState(null, "", hash.trim() || location.pathname + location.search);
    }
  }

  function fromAddress() {
    const found = /^#search=(.*)$/.exec(location.hash);
    if (found) {
      try {
        field.value = decodeURIComponent(found[1]);
      } catch {
        field.value = found[1];
      }
      search();
    }
  }

  bar.hidden = false;
  field.addEventListener("input", search);
  field.form.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", fromAddress);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== field && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && document.activeElement === field) {
      field.value = "";
      search();
    }
  });
  for (const [id, open] of [["open-all", true], ["close-all", false]]) {
    document.getElementById(id).addEventListener("click", () => {
      document.querySelectorAll("details[data-item]").forEach((one) => { one.open = open; wasOpen.set(one, open); });
    });
  }
  fromAddress();
})();
