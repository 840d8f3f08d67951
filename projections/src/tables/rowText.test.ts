import t from 'tap'
import { rowJson, rowText } from './rowText.ts'

const different = (...columns: { column: string; found: unknown; expected: unknown }[]) =>
  ({ id: 'row-1', kind: 'different', columns }) as const

t.test('a differing row shows the found and expected values of its columns', (t) => {
  const row = different(
    { column: 'status', found: 'pending', expected: 'succeeded' },
    { column: 'metadata', found: { a: 1 }, expected: null },
    { column: 'total_cents', found: 1, expected: undefined },
  )
  t.equal(
    rowText(row),
    [
      '  row-1  different',
      '      status: "pending" instead of "succeeded"',
      '      metadata: {"a":1} instead of null',
      '      total_cents: 1 instead of null',
    ].join('\n'),
  )
  t.strictSame(rowJson(row), different(...row.columns.slice(0, 2), { column: 'total_cents', found: 1, expected: null }))
  t.end()
})

t.test('long values are cut, and control characters are replaced in text', (t) => {
  const row = different({ column: 'name', found: `\u009b31m${'x'.repeat(600)}`, expected: 'y'.repeat(498) })
  const lines = rowText(row).split('\n')
  t.match(lines[1], /^ {6}name: "\?31mx{75}… instead of "y{79}…$/)
  t.match(rowJson(row), { columns: [{ found: /^"\u009b31mx{495}…$/, expected: 'y'.repeat(498) }] })
  t.end()
})

t.test('rows that are missing, extra, or differ only in formatting have their own text', (t) => {
  t.equal(rowText({ id: 'row-1', kind: 'missing' }), '  row-1  missing: it is in the log but not in the table')
  t.equal(rowText({ id: 'row-1', kind: 'extra' }), '  row-1  extra: it is in the table but not in the log')
  t.same(rowJson({ id: 'row-1', kind: 'extra' }), { id: 'row-1', kind: 'extra' })
  t.equal(rowText(different()), '  row-1  different\n      only in the formatting of its JSON')
  t.end()
})
