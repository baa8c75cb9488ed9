// The elements with text of their own, to be read or used, whose contrast is less than WCAG's level AA asks for (4.5).
root => {
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = (colour) => {
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillStyle = colour;
    pixel.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (upper, lower) => [0, 1, 2].map((i) => upper[i] * upper[3] + lower[i] * (1 - upper[3]));
  const part = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const found = new Set();
  for (const element of root.querySelectorAll("*")) {
    if (element.ownerSVGElement || element.closest(":disabled, .tw-hidden, .tw-compare-word")) continue;
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    const style = getComputedStyle(element);
    if (style.visibility === "hidden" || element.getBoundingClientRect().width < 2) continue;
    const around = [];
    for (let each = element; each; each = each.parentElement) around.unshift(parsed(getComputedStyle(each).backgroundColor));
    const below = around.reduce((lower, upper) => over(upper, lower), [255, 255, 255]);
    const [light, dark] = [luminance(over(parsed(style.color), below)), luminance(below)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) found.add(`${element.className}: ${ratio.toFixed(2)} (${element.textContent.trim().slice(0, 30)})`);
  }
  return [...found];
}
