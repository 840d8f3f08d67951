import t from 'tap'
import { parseStrictJson } from './body.ts'

const invalidRequest = { code: 'invalid_request' }
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

t.test('parseStrictJson accepts valid JSON like JSON.parse', async (t) => {
  const texts = [
    '{}',
    '[]',
    'null',
    '"text"',
    '-1.5e-3',
    '{"a":{"b":[1,2,{"c":"\\"}]{[,"}]},"d":true}',
    ' { "a" : "\\u00e9\\ud83d\\ude00" , "b" : [ ] } ',
    '{"a":{"x":1},"b":{"x":2},"c":[{"x":3},{"x":4}]}',
    '["a","a"]',
    nested(32),
  ]
  for (const text of texts) t.strictSame(parseStrictJson(text), JSON.parse(text), text)
  t.equal(JSON.stringify(parseStrictJson('{"constructor":{"prototype":1}}')), '{"constructor":{"prototype":1}}')
})

t.test('parseStrictJson rejects text that is not JSON', async (t) => {
  const texts = ['', ' ', '{', '{"a":1,}', "{'a':1}", '{"a":undefined}', '[1 2]', 'NaN', '{"a":1}{"a":1}', '"\u0000"']
  for (const text of texts) t.throws(() => parseStrictJson(text), invalidRequest, JSON.stringify(text))
})

t.test('parseStrictJson rejects duplicate keys, also with escapes [10.1-duplicate-key]', async (t) => {
  for (const text of ['{"a":1,"a":2}', '{"a":1,"b":{},"a":1}', '{"a":1,"\\u0061":2}', '[{"x":{"y":1,"y":1}}]']) {
    t.throws(() => parseStrictJson(text), invalidRequest, text)
  }
})

t.test('parseStrictJson rejects __proto__ as a key at any depth, and accepts it as a value [10.1-proto]', async (t) => {
  for (const text of ['{"__proto__":{}}', '{"a":[{"__proto__":1}]}', '{"\\u005f_proto__":1}']) {
    t.throws(() => parseStrictJson(text), invalidRequest, text)
  }
  t.strictSame(parseStrictJson('{"a":"__proto__"}'), { a: '__proto__' })
})

t.test('parseStrictJson rejects more than 32 levels of objects and arrays [10.1-nesting]', async (t) => {
  t.throws(() => parseStrictJson(nested(33)), invalidRequest)
  t.throws(() => parseStrictJson(nested(100_000)), invalidRequest)
  t.throws(() => parseStrictJson(`${'{"a":['.repeat(16)}{}${']}'.repeat(16)}`), invalidRequest)
})

t.test('parseStrictJson rejects NUL and unpaired surrogates, in keys and in values [10.1-characters]', async (t) => {
  const texts = ['{"a":"\\u0000"}', '{"\\u0000":1}', '["x\\ud800"]', '["\\udc00\\ud800"]', '{"\\ud800":1}', '"\ud800"']
  for (const text of texts) t.throws(() => parseStrictJson(text), invalidRequest, JSON.stringify(text))
  t.strictSame(parseStrictJson('"\\\\u0000"'), '\\u0000', 'an escaped backslash before u0000')
})

t.test('parseStrictJson rejects numbers out of range and inexact integers', async (t) => {
  for (const text of ['1e999', '[-1e400]', '{"a":1e309}']) t.throws(() => parseStrictJson(text), invalidRequest, text)
  for (const text of ['9007199254740993', '[-9007199254740992]'])
    t.throws(() => parseStrictJson(text), invalidRequest, text)
  for (const text of ['9007199254740991', '1e15', '0.1', '-0']) t.equal(parseStrictJson(text), Number(text), text)
  t.equal(parseStrictJson('1e308'), 1e308)
})

t.test('parseStrictJson errors never quote the text', async (t) => {
  for (const text of ['{"secret":1,"secret":2}', '{"secret"', '{"secret":"\\u0000"}']) {
    try {
      parseStrictJson(text)
      t.fail('no error')
    } catch (error) {
      t.notMatch(error instanceof Error ? error.message : '', /secret/)
    }
  }
})
