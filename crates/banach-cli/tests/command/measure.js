// Run beside a frame with a page: what leaves the window or a picture, and what the buttons of the first table with numbers do. What may
// scroll may be wide, but for what is read there.
const doc = frame.contentDocument, view = frame.contentWindow;
const outside = [];
const leaves = (inner, outer) => inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1;
for (const element of doc.body.querySelectorAll("*")) {
  const box = element.getBoundingClientRect();
  const picture = element.parentElement.closest("svg");
  const scrolls = element.parentElement.closest(".wide, pre, .equation");
  if (picture) {
    if (element.tagName !== "title" && leaves(box, picture.getBoundingClientRect())) outside.push(element.outerHTML.slice(0, 200));
  } else if (!scrolls && !element.matches(".skip") && (box.left < -1 || box.right > doc.documentElement.clientWidth + 1)) {
    outside.push(element.outerHTML.slice(0, 200));
  }
  if (scrolls && element.matches("caption, button.save") && box.right > doc.documentElement.clientWidth + 1) outside.push(element.outerHTML.slice(0, 200));
  const style = view.getComputedStyle(element);
  if (!picture && /hidden|clip/.test(style.overflowX) && element.scrollWidth > element.clientWidth + 1 && !element.matches("svg")) outside.push("clipped: " + element.outerHTML.slice(0, 200));
}
const result = { outside, width: doc.documentElement.scrollWidth, room: doc.documentElement.clientWidth };
const head = [...doc.querySelectorAll("main thead th.number button.sort")].find(head => head.closest("table").tBodies[0].rows.length > 2);
const table = head.closest("table"), column = head.closest("th").cellIndex;
const values = () => [...table.tBodies[0].rows].map(row => row.cells[column]).filter(cell => cell.textContent.trim() !== "")
  .map(cell => Number(cell.querySelector("data") ? cell.querySelector("data").value : cell.textContent.replace("%", "")));
const ordered = (list, sign) => list.every((value, at) => at === 0 || sign * (value - list[at - 1]) >= 0);
head.click();
const up = ordered(values(), 1) && head.closest("th").getAttribute("aria-sort") === "ascending";
head.click();
const down = ordered(values(), -1) && head.closest("th").getAttribute("aria-sort") === "descending";
result.sorted = up && down;
let blob;
view.URL.createObjectURL = made => { blob = made; return "blob:"; };
table.parentElement.querySelector("button.save").click();
blob.text().then(text => {
  result.saved = text;
  results.push(result);
  if (results.length === 2) document.getElementById("result").textContent = JSON.stringify(results);
});
