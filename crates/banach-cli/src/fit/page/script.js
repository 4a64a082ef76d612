// Tables are sorted by a click on the head of a column, and saved as CSV. Without scripts they are as they were printed.
(() => {
  const number = cell => {
    const told = cell.querySelector("data");
    const text = (told ? told.value : cell.textContent).trim().replace(/\s*%$/, "");
    return text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
  };
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (x !== null && y !== null) return x - y;
    return a.textContent.trim().localeCompare(b.textContent.trim(), undefined, { numeric: true });
  };
  const sort = (table, column, head) => {
    const down = head.getAttribute("aria-sort") === "ascending";
    const body = table.tBodies[0];
    const blank = row => row.cells[column].textContent.trim() === "";
    const rows = [...body.rows].sort((a, b) => {
      if (blank(a) || blank(b)) return blank(a) - blank(b);
      return (down ? -1 : 1) * compare(a.cells[column], b.cells[column]);
    });
    body.append(...rows);
    table.querySelectorAll("[aria-sort]").forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
  };
  const csv = table => {
    const told = [...table.tHead.rows[0].cells].map(cell => cell.tagName === "TH");
    const field = cell => {
      const values = cell.querySelectorAll("data");
      const text = values.length === 1 ? values[0].value : cell.textContent.trim();
      return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
    };
    const line = row => [...row.cells].filter((_, column) => told[column]).map(field).join(",");
    return [...table.rows].map(line).join("\r\n") + "\r\n";
  };
  const save = (table, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  document.querySelectorAll("main table").forEach((table, place) => {
    if (!table.tHead || table.tBodies[0].rows.length < 2) return;
    if (!table.classList.contains("heat")) {
      [...table.tHead.rows[0].cells].forEach((head, column) => {
        if (head.tagName !== "TH" || head.textContent.trim() === "") return;
        const button = document.createElement("button");
        button.type = "button";
        button.className = "sort";
        button.append(...head.childNodes);
        button.addEventListener("click", () => sort(table, column, head));
        head.append(button);
      });
    }
    const section = table.closest("section");
    const name = `${document.querySelector("h1").textContent}-${section ? section.id : "table"}-${place + 1}.csv`;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "save";
    button.textContent = "Save this table as CSV";
    button.addEventListener("click", () => save(table, name.replace(/[^\w.-]+/g, "_")));
    table.after(button);
  });
})();
