// The results of `products import` for the lines of a file.
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { importHarness, mug, someLine } from '../testing/importHarness.ts'
import { jsonLines, runOps } from '../testing/runOps.ts'

const { env, file, run, events, history, product } = await importHarness(t)

const counts = (added: number, changed: number, unchanged: number, rejected: number, empty = 0) => ({
  complete: true,
  lines: added + changed + unchanged + rejected + empty,
  added,
  changed,
  unchanged,
  rejected,
  empty,
})

const plan = {
  name: 'Backup',
  total_cents: undefined,
  product_type: 'subscription',
  currency: 'eur',
  subtotal_cents: 1000,
  tax_cents: 190,
  is_recurring: true,
  billing_interval: 'month',
  trial_days: 14,
  description: 'Every night',
}

t.test('products import creates every product of a file, and a second run creates nothing [10.3-import]', async (t) => {
  const id = randomUUID()
  const lines = [someLine(plan), JSON.stringify({ ...mug, name: 'Nameless mug' }), someLine({ id: id.toUpperCase() })]
  const before = (await events()).length
  const first = await run(lines)
  t.same(first, { code: 0, stdout: '3 lines: 3 added, 0 changed, 0 unchanged, 0 rejected.\n', stderr: first.stderr })
  t.match(first.stderr, /^Importing: 100 %, 3 lines, \d+\/s\n$/)
  const added = (await events()).slice(before)
  t.equal(added.length, 3)
  const [correlationId] = new Set(added.map(({ metadata }) => metadata.correlationId))
  for (const { type, metadata } of added) {
    t.equal(type, 'ProductAdded')
    t.same(metadata, { correlationId, causationId: correlationId, actor: 'operator', schema: 1 })
  }
  t.match(await product(id), { name: 'Mug', total_cents: 1250, is_active: true, request_fingerprint: null })

  t.match(await run(lines), { code: 0, stdout: '3 lines: 0 added, 0 changed, 3 unchanged, 0 rejected.\n' })
  t.equal((await events()).length, before + 3)
})

t.test('a line with an id updates that product', async (t) => {
  const id = randomUUID()
  const line = (wanted: object) => JSON.stringify({ ...plan, id, ...wanted })
  t.equal((await run([line({})])).code, 0)
  const changed = await run([line({ name: 'Backup XL', description: undefined, tax_cents: 200 }), someLine()], '--json')
  t.match(jsonLines(changed), [counts(1, 1, 0, 0)])
  t.match(await product(id), {
    name: 'Backup XL',
    description: null,
    tax_cents: 200,
    total_cents: 1200,
    trial_days: 14,
  })
  t.same(await history(id), ['ProductAdded', 'ProductChanged'])
})

t.test('is_active of a line deactivates and reactivates a product, and is otherwise unchanged', async (t) => {
  const id = randomUUID()
  const line = (wanted: object = {}) => JSON.stringify({ ...mug, id, ...wanted })
  const steps = [
    [{ is_active: false }, 'added', false],
    [{}, 'unchanged', false],
    [{ name: 'Cup' }, 'changed', false],
    [{ name: 'Cup', is_active: true }, 'changed', true],
    [{ is_active: false }, 'changed', false],
  ] as const
  for (const [wanted, outcome, is_active] of steps) {
    t.match(jsonLines(await run([line(wanted)], '--json')), [{ [outcome]: 1, lines: 1 }])
    t.equal((await product(id)).is_active, is_active)
  }
  t.same(await history(id), [
    'ProductAdded',
    'ProductChanged',
    'ProductReactivated',
    'ProductChanged',
    'ProductDeactivated',
  ])
})

t.test('equal lines without an id create one product and never change it', async (t) => {
  const cup = { ...mug, name: `Cup ${randomUUID()}` }
  const before = (await events()).length
  const lines = Array.from({ length: 20 }, () => JSON.stringify(cup))
  t.match(jsonLines(await run(lines, '--json')), [counts(1, 0, 19, 0)])
  const [added] = (await events()).slice(before)
  const id = added?.type === 'ProductAdded' ? added.data.product_id : ''
  t.equal((await events()).length, before + 1)

  await run([JSON.stringify({ ...cup, id, name: 'Another', is_active: false })])
  t.match(jsonLines(await run([JSON.stringify({ ...cup, is_active: true })], '--json')), [counts(0, 0, 1, 0)])
  t.match(await product(id), { name: 'Another', is_active: false })
})

t.test('lines with the same id apply in their order', async (t) => {
  const ids: string[] = [randomUUID(), randomUUID()]
  const lines = Array.from({ length: 100 }, (_, number) =>
    someLine({ id: number % 3 ? ids[0] : ids[1]?.toUpperCase(), name: `Mug ${number}` }),
  )
  t.match(jsonLines(await run(lines, '--json')).at(-1), counts(2, 98, 0, 0))
  const names = (await events()).flatMap((event) => {
    if (event.type === 'ProductAdded' && ids.includes(event.data.product_id)) return [event.data.name]
    return event.type === 'ProductChanged' && ids.includes(event.data.product_id) ? [event.data.changes.name] : []
  })
  const numbers = names.map((name) => Number(name?.slice(4)))
  for (const mine of [0, 1]) {
    const own = numbers.filter((number) => Math.sign(number % 3) === mine)
    t.same(
      own,
      own.toSorted((a, b) => a - b),
    )
    t.equal(own.length, mine ? 66 : 34)
  }
})

t.test('rejected lines are reported with their number, and the others are imported [10.3-import-errors]', async (t) => {
  const id = randomUUID()
  const lines = [
    someLine(),
    '',
    '{',
    someLine({ currency: 'XXX' }),
    someLine({ id }),
    someLine({ name: 7, tax_cents: 'x' }),
  ]
  const path = file(`\ufeff${lines.join('\r\n')}\r\n \r\n${someLine({ description: '4242424242424242' })}`)
  const ended = await runOps(['products', 'import', path], env)
  t.equal(ended.code, 2)
  t.same(ended.stdout.split('\n'), [
    'line 3: The line is not valid JSON',
    'line 4: currency is not an ISO 4217 currency code',
    'line 6: name must be string; tax_cents must be integer or null',
    'line 8: The line must not hold a card number',
    '8 lines: 2 added, 0 changed, 0 unchanged, 4 rejected, 2 empty.',
    '',
  ])
  t.match(ended.stderr, /\n4 lines were rejected\. Correct the file and import it again\.\n$/)
  t.notMatch(ended.stderr, 'Usage')
  t.same(await history(id), ['ProductAdded'])

  const again = await runOps(['products', 'import', path, '--json'], env)
  t.equal(again.code, 2)
  t.match(jsonLines(again).at(-1), { ...counts(0, 0, 2, 4, 2), last_line: 8 })
  t.match(jsonLines(again).slice(0, -1), [
    { line: 3, error: { code: 'invalid_request', message: 'The line is not valid JSON' } },
    { line: 4, error: { details: { fields: [{ field: 'currency', message: 'is not an ISO 4217 currency code' }] } } },
    { line: 6, error: { code: 'invalid_request', details: { fields: [{ field: 'name' }, { field: 'tax_cents' }] } } },
    { line: 8, error: { code: 'card_number_rejected' } },
  ])
})
