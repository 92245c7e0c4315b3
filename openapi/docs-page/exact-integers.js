// Swagger UI reads and formats JSON with JSON.parse and JSON.stringify, which round integers beyond 2^53. A raw JSON value
// keeps the digits (https://developer.mozilla.org/docs/Web/JavaScript/Reference/Global_Objects/JSON/rawJSON).
const { parse, rawJSON } = JSON;

function exact(_name, value, { source }) {
  const rounded = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source);
  return rounded ? rawJSON(source) : value;
}

// Older browsers do not have rawJSON, and round.
if (rawJSON) JSON.parse = (text, reviver) => parse(text, reviver ?? exact);
