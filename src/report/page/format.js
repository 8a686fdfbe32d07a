// Numbers as the program writes them (src/base/units.cpp): three significant digits and a unit.
// Zeros at the end go where nothing was rounded, of a time only where it is whole.

// With what stands before tenths in the page's language.
const withDecimal = (text) => text.replace(".", say("."));

function threeDigits(value, onlyWhole) {
  const size = Math.abs(value);
  const text = value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  const brief = withoutZeros(text);
  const isExact = Math.abs(Number(brief) - value) <= 1e-9 * size;
  return isExact && !(onlyWhole && brief.includes(".")) ? brief : text;
}

function scaled(value, units, onlyWhole = false) {
  let best = units[0];
  for (const unit of units)
    if (Math.abs(value) >= unit[1] * 0.9995) best = unit;
  return withDecimal(`${threeDigits(value / best[1], onlyWhole)} ${best[0]}`.trim());
}

const timeUnits = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];
const byteUnits =
    [["B", 1], ["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40]];
const prefixes = [["", 1], ["K", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12], ["P", 1e15]];

const formatNanos = (nanos) => scaled(nanos, timeUnits, true);
const formatBytes = (bytes) => scaled(bytes, byteUnits);

function formatRate(perSecond, unit) {
  return scaled(perSecond, prefixes.map(([name, factor]) => [name + unit, factor]));
}

// The largest unit of time that is not longer than this.
function unitFor(longest) {
  return timeUnits.findLast(([, size]) => Math.abs(longest) >= size) ?? timeUnits[0];
}

const withoutZeros = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

// A time with as many digits as tell its neighbours apart at this scale.
function formatTime(nanos, nanosPerPixel, longest) {
  const [name, factor] = unitFor(longest);
  const most = Math.round(Math.log10(factor));
  const digits = Math.ceil(Math.log10(factor / Math.max(nanosPerPixel, 1)));
  return withDecimal(
      `${(nanos / factor).toFixed(Math.min(Math.max(digits, 0), most))} ${name}`);
}

// To the nanosecond, in the unit that fits.
function exactTime(nanos) {
  const [name, factor] = unitFor(nanos);
  return withDecimal(
      `${withoutZeros((nanos / factor).toFixed(Math.round(Math.log10(factor))))} ${name}`);
}
