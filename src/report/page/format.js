// Numbers as the program writes them: three significant digits and a unit.

function threeDigits(value) {
  const size = Math.abs(value);
  const text = value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

function scaled(value, units) {
  let best = units[0];
  for (const unit of units) if (Math.abs(value) >= unit[1] * 0.9995) best = unit;
  return `${threeDigits(value / best[1])} ${best[0]}`.trim();
}

const timeUnits = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];
const byteUnits = [["B", 1], ["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40]];
const prefixes = [["", 1], ["K", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12], ["P", 1e15]];

const formatNanos = (nanos) => scaled(nanos, timeUnits);
const formatBytes = (bytes) => scaled(bytes, byteUnits);
const formatRate = (perSecond, unit) => scaled(perSecond, prefixes.map(([name, factor]) => [name + unit, factor]));

// A time with as many digits as tell its neighbours apart at this scale.
function formatTime(nanos, nanosPerPixel, longest) {
  const [name, factor] = timeUnits.findLast(([, size]) => longest >= size) ?? timeUnits[0];
  const digits = Math.max(0, Math.ceil(Math.log10(factor / Math.max(nanosPerPixel, 1))));
  return `${(nanos / factor).toFixed(Math.min(digits, Math.log10(factor)))} ${name}`;
}

// To the nanosecond, in the unit that fits.
function exactTime(nanos) {
  const [name, factor] = timeUnits.findLast(([, size]) => Math.abs(nanos) >= size) ?? timeUnits[0];
  const text = (nanos / factor).toFixed(Math.round(Math.log10(factor)));
  return `${text.includes(".") ? text.replace(/\.?0+$/, "") : text} ${name}`;
}
