// Numbers as the program writes them (src/base/units.cpp): three significant digits and a unit.
// Zeros at the end go where nothing was rounded, of a time only where it is whole. What lies
// exactly between two numbers may be rounded the other way: toFixed() rounds it up, C++ to even.

// With what stands before tenths in the page's language; between thousands is the other of the two.
const withDecimal = (text) =>
    say(".") === "," ? text.replace(/[.,]/g, (mark) => (mark === "." ? "," : ".")) : text;

// As "%.3g" writes what is below 0.01.
function smallDigits(value) {
  const [digits, exponent] = value.toExponential(2).split("e-");
  if (exponent <= 4) return withoutZeros(value.toFixed(2 + Number(exponent)));
  return `${withoutZeros(digits)}e-${exponent.padStart(2, "0")}`;
}

function threeDigits(value, onlyWhole) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.00995) return smallDigits(value);
  const text = value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
  const brief = withoutZeros(text);
  const isExact = Math.abs(Number(brief) - value) <= 1e-9 * size;
  return isExact && !(onlyWhole && brief.includes(".")) ? brief : text;
}

function scaled(value, units, onlyWhole = false) {
  let best = units[0];
  for (const unit of units)
    if (Math.abs(value) >= unit[1] * 0.9995) best = unit;
  return `${threeDigits(value / best[1], onlyWhole)} ${best[0]}`.trim();
}

const timeUnits = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];
const byteUnits =
    [["B", 1], ["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40]];
const rateUnits = [["B/s", 1], ["KB/s", 1e3], ["MB/s", 1e6], ["GB/s", 1e9], ["TB/s", 1e12]];
const flopUnits =
    [["FLOP/s", 1], ["kFLOP/s", 1e3], ["MFLOP/s", 1e6], ["GFLOP/s", 1e9], ["TFLOP/s", 1e12]];

const formatNanos = (nanos) => withDecimal(scaled(nanos, timeUnits, true));
const formatBytes = (bytes) => withDecimal(scaled(bytes, byteUnits));
const formatRate = (bytesPerSecond) => withDecimal(scaled(bytesPerSecond, rateUnits));

// "1,379 TFLOP/s": there is no larger unit.
function formatFlops(perSecond) {
  const text = scaled(perSecond, flopUnits);
  const [digits, unit] = text.split(" ");
  return withDecimal(
      `${digits.includes(".") ? digits : digits.replace(/\B(?=(\d{3})+$)/g, ",")} ${unit}`);
}

// The largest unit of time that is not longer than this.
function unitFor(longest) {
  return timeUnits.findLast(([, size]) => Math.abs(longest) >= size) ?? timeUnits[0];
}

function withoutZeros(text) {
  const brief = text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  return brief === "-0" ? "0" : brief;
}

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

// Counts as people write them (ui/app/views/exact_count.h): exact where they are short.
const countUnits = [["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12]];

function formatCount(value) {
  if (Number.isInteger(value) && Math.abs(value) < 10000) return String(value);
  return withDecimal(scaled(value, countUnits));
}

// What a lane of counters says of its scale: "1.43 GiB", "651 MiB, scale to 1.43 GiB", "78.9 of 100".
function counterWords({most, top, isShare}) {
  const format = !isShare && top >= 2 ** 16 ? formatBytes : formatCount;
  if (most >= top) return format(most);
  return isShare ? say("{} of {}", format(most), format(top))
                 : say("{}, scale to {}", format(most), format(top));
}
