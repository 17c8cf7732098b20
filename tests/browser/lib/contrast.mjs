// Whether text can be told from its ground: WCAG 2.1 AA wants a contrast of 4.5, of 3 for large text. What is switched
// off, or drawn on a canvas, is not looked at.

/** Texts of the page that are too faint, as "3.9 rgb(…) on rgb(…): text". */
export function faintTexts(page) {
  return page.evaluate(() => {
    const AA = 4.5;
    const AA_LARGE = 3;
    const parse = (text) => {
      const numbers = text.match(/-?[\d.]+(e-?\d+)?/g)?.map(Number) ?? [0, 0, 0, 0];
      const scale = text.startsWith("color(") ? 255 : 1;
      const [r, g, b, a = 1] = numbers;
      return { r: r * scale, g: g * scale, b: b * scale, a };
    };
    const over = (top, below) => ({
      r: top.r * top.a + below.r * (1 - top.a),
      g: top.g * top.a + below.g * (1 - top.a),
      b: top.b * top.a + below.b * (1 - top.a),
      a: 1,
    });
    const groundOf = (element) => {
      const layers = [];
      for (let at = element; at !== null; at = at.parentElement) {
        const layer = parse(getComputedStyle(at).backgroundColor);
        if (layer.a > 0) layers.push(layer);
        if (layer.a === 1) break;
      }
      return layers.reverse().reduce((below, top) => over(top, below), { r: 255, g: 255, b: 255, a: 1 });
    };
    const channel = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    const light = ({ r, g, b }) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const contrast = (a, b) => {
      const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
      return (high + 0.05) / (low + 0.05);
    };
    const isOff = (element) => element.closest(":disabled, [aria-disabled=true], [aria-hidden=true], option, noscript, script, style") !== null;
    const faint = new Map();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node.parentElement;
      const text = node.textContent.trim();
      if (text === "" || isOff(element) || !element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true })) continue;
      const style = getComputedStyle(element);
      const ground = groundOf(element);
      let opacity = 1;
      for (let at = element; at !== null; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
      const colour = parse(style.color);
      const found = contrast(over({ ...colour, a: colour.a * opacity }, ground), ground);
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (found < (isLarge ? AA_LARGE : AA) - 0.005) faint.set(`${found.toFixed(2)} ${style.color} on rgb(${[ground.r, ground.g, ground.b].map(Math.round)})`, text.slice(0, 40));
    }
    return [...faint].map(([colours, text]) => `${colours}: ${text}`);
  });
}
