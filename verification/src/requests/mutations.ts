// Mutations: texts and JSON that a parser, a check or a database may stumble over.
import type { Random } from '../campaign/random.ts'

/** Any item of a list that is not empty. */
export const oneOf = <Item>(random: Random, items: readonly Item[]): Item => random.pick(items as [Item, ...Item[]])

/** JSON texts, not values, because JSON.stringify writes none of the odd ones. */
const hostile = String.raw`
null ¦ true ¦ "" ¦ " " ¦ [] ¦ {} ¦ [[[[]]]] ¦ [null] ¦ {"":""} ¦ "null" ¦ "true" ¦ "1" ¦ 0 ¦ -0 ¦ -1 ¦ 0.5 ¦ 1e2 ¦ 1e400 ¦ -1e400
1e-400 ¦ 9007199254740993 ¦ 1000000000000 ¦ 2147483648 ¦ 9223372036854775808 ¦ 18446744073709551616 ¦ 99999999999999999999
123456789012345678901234567890 ¦ 1.0000000000000000001
"\u0000" ¦ "a\u0000b" ¦ "\ud800" ¦ "\udc00\ud800" ¦ "\ufeff" ¦ "\u202e" ¦ "😀" ¦ "e\u0301" ¦ "\u001b[31m" ¦ "\r\nset-cookie: a=b"
"<script>alert(1)</script>" ¦ "'; drop table payments; --" ¦ "%00" ¦ "../../etc/passwd" ¦ "$where" ¦ "{{7*7}}" ¦ "=1+1" ¦ "4242 4242 4242 4242"
"__proto__" ¦ "constructor" ¦ "toString" ¦ {"__proto__":{"a":1}} ¦ {"constructor":{"prototype":{}}} ¦ {"toString":1} ¦ {"toJSON":1}
{"length":-1} ¦ {"then":1} ¦ {"$ref":"#"} ¦ {"a":1,"a":2} ¦ "2026-02-30T00:00:00Z" ¦ "0000-00-00T00:00:00Z" ¦ "+275760-09-13T00:00:00Z"
"9999-12-31T23:59:59.999999999Z" ¦ "2026-01-01T00:00:60Z" ¦ "2026-01-01" ¦ "0001-01-01T00:00:00+23:59" ¦ "-271821-04-20T00:00:00Z"
"EURO" ¦ "ſſſ" ¦ "İİİ" ¦ "a@" ¦ "a@b.c\n" ¦ "@" ¦ "javascript:alert(1)" ¦ "http://[::1]:0/" ¦ "https://a@b" ¦ "application/xml"
"text/plain" ¦ "application/json; charset=utf-16" ¦ "multipart/form-data" ¦ "gzip" ¦ "*" ¦ "W/\"1\"" ¦ "Basic YTpi" ¦ "Bearer" ¦ "Token a b"
"018f0000-0000-7000-8000-00000000000G" ¦ "{018f0000-0000-7000-8000-000000000000}"`
  .trim()
  .split(/ ¦ |\n/)
const sized: readonly ((size: number) => string)[] = [
  (size) => `"${'x'.repeat(size)}"`,
  (size) => `"${'😀'.repeat(size / 4)}"`,
  (size) => '['.repeat(size) + ']'.repeat(size),
  (size) => `[${'0,'.repeat(size)}0]`,
  (size) => `{${Array.from({ length: size / 10 }, (_, index) => `"k${index}":${index}`).join()}}`,
  (size) => `1${'0'.repeat(size)}`,
]
const sizes = [60, 256, 501, 2_001, 8_001, 70_000, 300_000]
const badKeys = ['__proto__', 'constructor', 'toString', '', 'a.b', '$set', '\0', 'x'.repeat(3_000), '0']

/** A JSON text that a schema probably does not accept at this place. */
export const hostileJson = (random: Random): string =>
  random.isIn(0.95) ? oneOf(random, hostile) : oneOf(random, sized)(oneOf(random, sizes))

/** For a parameter, a header or a part of the path. */
export function hostileText(random: Random): string {
  const json = hostileJson(random)
  return (json.startsWith('"') ? String(JSON.parse(json)) : json).slice(0, 20_000)
}

/** @returns the text with another character at one place */
export function mutatedText(text: string, random: Random): string {
  const at = random.between(0, text.length)
  return text.slice(0, at) + oneOf(random, ['', ' ', '-', 'A', 'é', '\0', '0', '/', '%']) + text.slice(at + 1)
}

/** @returns the JSON text of a value in which one place is changed */
export function mutatedJson(value: unknown, random: Random): string {
  const copy: unknown = structuredClone(value)
  const places = placesIn(copy)
  if (places.length === 0) return hostileJson(random)
  const [holder, key] = oneOf(random, places)
  const old = JSON.stringify(Reflect.get(holder, key))
  const how = random.weighted({ replace: 70, remove: 8, rename: 6, duplicate: 6, add: 10 })
  if (how === 'remove' || how === 'rename') Reflect.deleteProperty(holder, key)
  if (how === 'remove') return JSON.stringify(copy)
  const marker = '@@mutated@@'
  const name = JSON.stringify(how === 'duplicate' ? key : oneOf(random, badKeys))
  const content = how === 'rename' ? old : hostileJson(random)
  const isMember = how !== 'replace' && !Array.isArray(holder)
  Reflect.set(holder, isMember ? 'added' : key, marker)
  return JSON.stringify(copy).replace(`"${marker}"`, () => (isMember ? `0,${name}:${content}` : content))
}

function placesIn(value: unknown): (readonly [holder: object, key: string])[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [[value, key] as const, ...placesIn(inner)])
}

const notUtf8 = [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]
const otherBodies = [
  '',
  ' \n\t\r',
  '[]',
  'null',
  '0',
  '"a"',
  '{a:1}',
  "{'a':1}",
  '{"a":1,}',
  '{}{}',
  '// a\n{}',
  'a=1&b=2',
]

/** Changes the bytes of a body, mostly so that it is no JSON any more. */
export function mutatedBytes(text: string, random: Random): Buffer {
  const bytes = Buffer.from(text)
  const at = random.between(0, bytes.length)
  const withBytes = (...inserted: number[]) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(inserted), bytes.subarray(at)])
  switch (random.weighted({ cut: 4, byte: 4, utf8: 3, mark: 1, other: 4, large: 1 })) {
    case 'cut':
      return bytes.subarray(0, at)
    case 'byte':
      return withBytes(random.between(0, 255))
    case 'utf8':
      return withBytes(...oneOf(random, notUtf8))
    case 'mark':
      return Buffer.concat([Buffer.from('\ufeff'), bytes])
    case 'other':
      return Buffer.from(oneOf(random, otherBodies))
    case 'large':
      return Buffer.concat([bytes, Buffer.alloc(oneOf(random, [262_144, 1_100_000]), ' ')])
  }
}
