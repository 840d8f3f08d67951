import { Nullable } from '@paylog/domain/fields'
import t from 'tap'
import { type TProperties, Type } from 'typebox'
import { timeZone } from '../timeZones.ts'
import { csvTable } from './csvTable.ts'

const Cents = Nullable(Type.Integer())
const Time = Nullable(Type.String({ format: 'date-time' }))

/** The lines of a table, without their ends. */
function linesOf(fields: TProperties, items: readonly object[], zone = 'UTC') {
  const table = csvTable(Type.Object(fields), timeZone(zone))
  const lines = [table.header, ...items.map(table.lineOf)]
  for (const line of lines) t.match(line, /[^\r\n]*\r\n$/)
  return lines.map((line) => line.slice(0, -2))
}

t.test('an amount stands in minor units and in decimals of its currency', (t) => {
  const fields = { amount_cents: Cents, currency: Type.String() }
  const amounts = [
    [123456789, 'EUR', '1234567.89'],
    [22, 'JPY', '22'],
    [22000, 'KWD', '22.000'],
    [-5, 'EUR', '-0.05'],
    [0, 'EUR', '0.00'],
    [9007199254740993n, 'EUR', '90071992547409.93'],
  ] as const
  t.same(
    linesOf(
      fields,
      amounts.map(([amount_cents, currency]) => ({ amount_cents, currency })),
    ),
    ['amount_cents,amount,currency', ...amounts.map(([cents, currency, text]) => `${cents},${text},${currency}`)],
  )
  t.same(linesOf(fields, [{ amount_cents: null, currency: 'EUR' }]).slice(1), [',,EUR'], 'unknown')
  const others = { tax_cents: Cents, currency: Type.String() }
  t.same(linesOf(others, [{ tax_cents: 19, currency: 'EUR' }]), ['tax_cents,tax,currency', '19,0.19,EUR'])
  t.end()
})

t.test('an amount that was reported in another currency has the decimals of that one', (t) => {
  const fields = { reported_amount_cents: Cents, reported_currency: Nullable(Type.String()), currency: Type.String() }
  const items = [
    { reported_amount_cents: 500, reported_currency: 'JPY', currency: 'EUR' },
    { reported_amount_cents: null, reported_currency: null, currency: 'EUR' },
  ]
  t.same(linesOf(fields, items), [
    'reported_amount_cents,reported_amount,reported_currency,currency',
    '500,500,JPY,EUR',
    ',,,EUR',
  ])
  t.end()
})

t.test('amounts in objects have the decimals of the currency of the item', (t) => {
  const fields = { currency: Type.String(), gross_cents: Type.Object({ ours: Cents, provider: Cents }) }
  t.same(linesOf(fields, [{ currency: 'EUR', gross_cents: { ours: 1, provider: null } }]), [
    'currency,gross_cents.ours,gross.ours,gross_cents.provider,gross.provider',
    'EUR,1,0.01,,',
  ])
  t.end()
})

t.test('times have the offset of the zone that their column names', (t) => {
  const fields = { created_at: Time, ended_at: Time }
  const items = [{ created_at: '2026-02-28T23:30:00.000Z', ended_at: null }]
  t.same(linesOf(fields, items, 'Europe/Berlin'), [
    'created_at (Europe/Berlin),ended_at (Europe/Berlin)',
    '2026-03-01T00:30:00.000+01:00,',
  ])
  t.same(linesOf(fields, items), ['created_at (UTC),ended_at (UTC)', '2026-02-28T23:30:00.000Z,'])
  t.end()
})

t.test('objects with known fields are columns, and everything else that is no plain value is JSON', (t) => {
  const Target = Nullable(Type.Object({ kind: Type.String(), id: Type.String() }))
  const fields = { target: Target, events: Type.Array(Type.String()), details: Type.Unsafe({ type: 'object' }) }
  const items = [
    { target: { kind: 'payment', id: '1' }, events: ['a', 'b'], details: { amount_cents: 500 } },
    { target: null, events: [], details: { note: '=1' } },
  ]
  t.same(linesOf(fields, items), [
    'target.kind,target.id,events,details',
    'payment,1,"[""a"",""b""]","{""amount_cents"":500}"',
    ',,[],"{""note"":""=1""}"',
  ])
  t.end()
})

t.test('texts are no formulas, and numbers and truth values stay as they are', (t) => {
  const fields = { text: Type.String(), count: Type.Number(), is_active: Type.Boolean() }
  t.same(linesOf(fields, [{ text: '=1', count: -1.5, is_active: true }]), ['text,count,is_active', "'=1,-1.5,true"])
  t.end()
})
